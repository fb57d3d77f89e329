package secret

func platformMachineDir() string { return "/Library/Application Support/Wiebelt/secrets" }

package secret

func platformMachineDir() string { return "/etc/wiebelt/secrets" }

package settings

// platformPolicy is a file like that of Linux; what a device management writes
// comes as managed preferences.
func platformPolicy() string { return "/Library/Application Support/Wiebelt/" + PolicyFile }

func managed() map[string]any { return nil }

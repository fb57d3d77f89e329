package settings

func platformPolicy() string { return "/etc/wiebelt/" + PolicyFile }

func managedSettings() map[string]any { return nil }

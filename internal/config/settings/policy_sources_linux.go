package settings

func platformPolicy() string { return "/etc/wiebelt/" + PolicyFile }

// managedPlace is unused here.
const managedPlace = ""

func managedSettings() map[string]any { return nil }

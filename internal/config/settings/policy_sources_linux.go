package settings

func platformPolicy() string { return "/etc/wiebelt/" + PolicyFile }

// managedPlace is of nothing here.
const managedPlace = ""

func managed() map[string]any { return nil }

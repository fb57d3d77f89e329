package settings

func managedSettings() map[string]any { return nil }

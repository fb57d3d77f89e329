package fromsettings

// systemLocales has nothing to add to the environment.
func systemLocales() []string { return nil }

package text

// FailureDo says what helps against a failure of package contact, and who can do it, in
// whole sentences for the settings, the command line and the doctor.
func FailureDo(code string) Key { return Key("failure." + code + ".do") }

package text

// Trust says what is wrong with a file or folder that others could have changed (by the
// codes of package filetrust), and names the command that fixes it, if there is one.
func Trust(why string) Key { return Key("trust.why." + why) }

// TrustAbove says the same about one of its parent folders.
const TrustAbove Key = "trust.above"

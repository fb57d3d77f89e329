package text

// Trust says what is wrong with a file or folder that others could have changed (by the
// codes of package filetrust), and names the command that fixes it, if there is one.
func Trust(why string) Key { return Key("trust." + why) }

// TrustAbove says so about a folder on the way to it.
const TrustAbove Key = "trust.above"

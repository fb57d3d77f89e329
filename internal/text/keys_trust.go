package text

// Trust says what is wrong with a file or folder that others could have changed
// (codes of package filetrust), and names the command that mends it where there is one.
func Trust(why string) Key { return Key("trust." + why) }

// TrustAbove says so of a folder on the way to it.
const TrustAbove Key = "trust.above"

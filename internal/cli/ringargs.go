package cli

import (
	"slices"
	"strings"
)

// filledIn are the flags of "ring" whose values phones fill in.
var filledIn = []string{"--state", "--id", "--name", "--line", "--via", "--direction"}

// ringArgs ties what a phone filled in to its flag: a name may look like a flag,
// and where the phone had nothing to fill in the value may be missing altogether.
// What a caller calls himself must not make the call fail, nor be obeyed
// (corrections.md 37). args are those behind "ring".
func ringArgs(args []string) []string {
	var tied []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--", !strings.HasPrefix(a, "-"): // from here on it is the number and words
			return append(tied, args[i:]...)
		case slices.Contains(filledIn, a) && (i+1 == len(args) || args[i+1] == "--"):
			tied = append(tied, a+"=")
		case slices.Contains(filledIn, a):
			i++
			tied = append(tied, a+"="+args[i])
		case a == "--profile" && i+1 < len(args):
			i++
			tied = append(tied, a, args[i])
		default:
			tied = append(tied, a)
		}
	}
	return tied
}

// ringFirst puts a profile that stands before "ring" behind it, so that both are
// read alike.
func ringFirst(args []string) []string {
	switch {
	case len(args) > 2 && args[0] == "--profile" && args[2] == "ring":
		return append([]string{"ring", "--profile", args[1]}, args[3:]...)
	case len(args) > 1 && strings.HasPrefix(args[0], "--profile=") && args[1] == "ring":
		return append([]string{"ring", args[0]}, args[2:]...)
	}
	return args
}

// elsewhere tells whether a folder lies on another computer. A command line that
// a phone puts together is not asked to go there: whoever names himself so that
// he breaks out of it could have it visit a computer of his.
func elsewhere(dir string) bool {
	return strings.HasPrefix(dir, `\\`) || strings.HasPrefix(dir, "//")
}

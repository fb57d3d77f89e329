package simulate

import (
	"io/fs"
	"slices"
	"strings"

	"wiebelt/assets/scenarios"
)

// Builtin returns the scenarios that come with the program, sorted by name.
func Builtin() []*Scenario {
	names, err := fs.Glob(scenarios.Files, "*.txt")
	if err != nil {
		panic(err) // a wrong pattern
	}
	slices.Sort(names)
	var all []*Scenario
	for _, name := range names {
		b, err := scenarios.Files.ReadFile(name)
		if err != nil {
			panic(err) // embedded: only a broken build gets here
		}
		s, err := Parse(b)
		if err != nil {
			panic(name + ": " + err.Error())
		}
		s.ID = strings.TrimSuffix(name, ".txt")
		all = append(all, s)
	}
	return all
}

// Find returns the built-in scenario with the given name.
func Find(id string) (*Scenario, bool) {
	for _, s := range Builtin() {
		if s.ID == id {
			return s, true
		}
	}
	return nil, false
}

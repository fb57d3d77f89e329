package register

import (
	"strings"

	"wiebelt/internal/instance/installed"
)

const (
	classPath  = `Software\Classes\wiebelt`
	suffixPath = `Software\Classes\.wiebelt` // of set-up files; a double click shows them in the settings window
	setupClass = "Wiebelt.Setup"
	setupPath  = `Software\Classes\` + setupClass
	open       = `\shell\open\command`
	runPath    = `Software\Microsoft\Windows\CurrentVersion\Run`
	runName    = "Wiebelt"
)

// Value is one string in Windows' registry; a Name of "" is the key's default value.
type Value struct{ Path, Name, Data string }

// Values returns the values of a registration on Windows, below the user's or the computer's
// part of the registry. Installers have the same values in their tables.
func Values(o Options) []Value {
	icon := registryCommand(o.Exe) + ",0"
	return []Value{
		{classPath, "", "URL:Wiebelt"},
		{classPath, "URL Protocol", ""},
		{classPath + `\DefaultIcon`, "", icon},
		{classPath + open, "", linkCommand(o)},
		{setupPath, "", "Wiebelt"},
		{setupPath + `\DefaultIcon`, "", icon},
		{setupPath + open, "", o.registryCommand("open-file", "--", "%1")},
		{suffixPath, "", setupClass},
		{runPath, runName, o.registryCommand("run", "--background")},
	}
}

// registryCommand formats a command line for the registry. Paths contain no quotes, and
// Windows replaces %1 by the link.
func registryCommand(argv ...string) string {
	var all []string
	for _, a := range argv {
		if strings.ContainsAny(a, " \t&()[]{}^=;!'+,`~%") || a == "" {
			if strings.HasSuffix(a, `\`) {
				a += `\` // or it would take the quote along
			}
			a = `"` + a + `"`
		}
		all = append(all, a)
	}
	return strings.Join(all, " ")
}

func (o Options) registryCommand(arguments ...string) string {
	return registryCommand(append([]string{o.Exe}, o.arguments(arguments...)...)...)
}

func linkCommand(o Options) string { return registryCommand(o.link("%1")...) }

// matchesCommand reports whether a registry string is the one that o writes there, for any version
// next to o's program, and whether that version is older, so that its folder will go.
func (o Options) matchesCommand(have, text string) (ours, older bool) {
	path := strings.Split(o.Exe, `\`)
	if strings.EqualFold(have, text) || len(path) < 2 {
		return strings.EqualFold(have, text), false
	}
	version, name := path[len(path)-2], path[len(path)-1]
	before, after, _ := strings.Cut(text, version+`\`+name)
	start, end := len(before), len(have)-len(`\`+name+after)
	if end < start || !strings.EqualFold(have[:start]+have[end:], before+`\`+name+after) {
		return false, false
	}
	order, ok := installed.Compare(have[start:end], version)
	return ok, ok && order < 0
}

// Package templates generates what administrators use to distribute settings: a group
// policy template (ADMX with ADML in Dutch and English), a sample policy.toml, the texts
// for Intune and a table of all settings. All of it is generated from the table of keys and
// the settings' texts, so it is always up to date.
package templates

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/text"
)

// Number of [[line]] and [[softphone]] entries in the group policy editor. The
// registry may contain more.
const (
	lines      = 10
	softphones = 4
)

// File is a generated file, with its slash-separated path below the folder.
type File struct {
	Path string
	Body []byte
}

var languages = []struct {
	code string // name of the folder with its ADML
	text.Language
}{{"nl-NL", text.Dutch}, {"en-US", text.English}}

// Files returns all files.
func Files() []File {
	all := []File{{"wiebelt.admx", admx()}, {"intune.txt", intune()}}
	for _, l := range languages {
		all = append(all, File{l.code + "/wiebelt.adml", adml(l.Language)},
			File{"policy-sample." + string(l.Language) + ".toml", sample(l.Language)},
			File{"settings." + string(l.Language) + ".md", table(l.Language)})
	}
	return all
}

// Write writes all files to a folder, creating it if needed. Existing files of
// these names are replaced.
func Write(dir string) error {
	for _, f := range Files() {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := profile.WriteFile(path, f.Body, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// section is one group of settings, or one array.
type section struct {
	Name string // "" for the keys without a group
	keys []settings.Entry
}

// sections returns all keys in the order of the table, each array after its related group.
func sections() []section {
	var all []section
	for _, e := range settings.Keys() {
		if n := len(all); n == 0 || all[n-1].Name != e.Group() {
			if n > 0 {
				all = append(all, relatedLists(all[n-1].Name)...)
			}
			all = append(all, section{Name: e.Group()})
		}
		last := &all[len(all)-1]
		last.keys = append(last.keys, e)
	}
	return all
}

// relatedLists returns the list related to a group.
func relatedLists(group string) []section {
	name := map[string]string{"phone": "line", "listener": "softphone"}[group]
	if name == "" {
		return nil
	}
	return []section{{name, settings.Fields(name)}}
}

// isArray reports whether a section is a list of tables.
func (s section) isArray() bool { return settings.Fields(s.Name) != nil }

// rule is what the group policy editor sets in one step: a key, or an element of a list.
type rule struct {
	Section       section
	Name          string // valid in the schema
	elementNumber string // number of the element, "" for a key
	Keys          []settings.Entry
}

// Rules returns the rules of a section.
func (s section) Rules() (all []rule) {
	if !s.isArray() {
		for _, e := range s.keys {
			all = append(all, rule{s, id(e.Key), "", []settings.Entry{e}})
		}
		return all
	}
	for i := range map[string]int{"line": lines, "softphone": softphones}[s.Name] {
		n := strconv.Itoa(i + 1)
		all = append(all, rule{s, id(s.Name, n), n, s.keys})
	}
	return all
}

// RegistryKey returns the key below which the rule's values are.
func (r rule) RegistryKey() string {
	return strings.TrimRight(strings.Join([]string{settings.PolicyRegistryKey, r.Section.Name, r.elementNumber}, `\`), `\`)
}

// Help returns the name of the text that explains the rule, the same for all elements.
func (r rule) Help() string {
	if r.elementNumber == "" {
		return id(r.Name, "help")
	}
	return id(r.Section.Name, "help")
}

// Control returns the name of a key's control in the rule.
func (r rule) Control(e settings.Entry) string {
	if r.elementNumber == "" {
		return r.Name
	}
	return id(r.Name, e.Name())
}

// IsFlag reports whether the rule only turns something on or off.
func (r rule) IsFlag() bool { return r.elementNumber == "" && r.Keys[0].Type == settings.Flag }

// explain returns everything known about a key, as one text.
func explain(l text.Language, e settings.Entry) string {
	b := fmt.Sprintf("%s\n%s: %s", l.T(text.SettingHelp(e.Key)), l.T(text.SettingAllowed), Allowed(l, e))
	if def := e.Default(); def != "" {
		b += fmt.Sprintf("\n%s: %s", l.T(text.SettingDefault), def)
	}
	return b + "\n" + e.Key
}

// Allowed returns the values allowed for a setting.
func Allowed(l text.Language, e settings.Entry) string {
	switch {
	case len(e.Choices) > 0:
		return strings.Join(e.Choices, ", ")
	case e.Type == settings.Number:
		return fmt.Sprintf("%d – %d", e.Min, e.Max)
	case e.Type == settings.Flag:
		return "true, false"
	case e.Type == settings.Duration:
		return l.T(text.SettingFromTo, settings.FormatDuration(e.MinDuration), settings.FormatDuration(e.MaxDuration))
	}
	return settings.AllowedText(l, e.Key)
}

// DescribeProblem describes a problem on one line, in a language. Like the problem it
// never contains the value.
func DescribeProblem(l text.Language, p settings.Problem) string {
	file := settings.FileName
	switch {
	case p.Managed:
		file = settings.ManagedPlace
	case p.Source == settings.Policy:
		file = settings.PolicyFile
	}
	at := file
	if p.Line > 0 {
		at = l.T(text.SettingProblemLine, file, p.Line)
	}
	if p.Key != "" {
		at += ": " + p.Key
	}
	why := l.T(text.Problem(string(p.Kind)))
	if p.Kind == settings.UnknownKey && p.Expected != "" {
		why = l.T(text.SettingProblemSecret)
	}
	if p.Kind == settings.WrongType || p.Kind == settings.NotAllowed {
		allowed := p.Expected
		if e, known := settings.EntryOf(p.Key); known {
			allowed = Allowed(l, e)
		}
		why = l.T(text.Problem(string(settings.NotAllowed)), allowed)
	}
	if p.StrictestApplies {
		why += " " + l.T(text.SettingProblemClosed)
	}
	return at + ": " + why
}

// example holds initial values for settings without a default.
var example = map[string]string{
	"hub.base_url": "https://api.hub.example", "hub.hub_url": "https://hub.example", "hub.client_id": "wiebelt-1", "hub.organisation_code": "1234",
	"hub.relation_number_field": "relatienummer", "hub.intermediary": "1234", "hub.secret_expires": "2027-01-31", "hub.extra_ca_file": "/etc/ssl/office.pem",
	"support.contact": "Jan (IT), toestel 140", "phone.internal_prefixes": "*8", "phone.never_lookup": "0201234567", "listener.allowed_origins": "https://phone.example",
	"line.number": "0201234567", "line.name": "Schade", "softphone.kind": "baresip", "softphone.name": "baresip", "softphone.address": "127.0.0.1:4444",
	"softphone.extension": "101", "softphone.user": "wiebelt",
	"relay.url": "https://relay.office.example:8443", "relay.fingerprint": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
}

func valueOf(e settings.Entry) string {
	if def := e.Default(); def != "" {
		return def
	}
	return example[e.Key]
}

// toml formats the value for a settings file.
func toml(e settings.Entry) string {
	v, err := settings.ParseText(e.Key, valueOf(e))
	if err != nil { // an array's field is a text
		v = valueOf(e)
	}
	return e.TOML(v)
}

// sample returns a policy file with every key commented out.
func sample(l text.Language) []byte {
	var b strings.Builder
	b.WriteString(map[text.Language]string{
		text.Dutch:   "# Beleid van Wiebelt voor deze computer: /etc/wiebelt/policy.toml of %ProgramData%\\Wiebelt\\policy.toml.\n# Alleen een beheerder mag in dit bestand en zijn map kunnen schrijven. Haal het # weg voor wat u wilt vastleggen.\n",
		text.English: "# Wiebelt's policy for this computer: /etc/wiebelt/policy.toml or %ProgramData%\\Wiebelt\\policy.toml.\n# Only an administrator may be able to write to this file and its folder. Remove the # from what you want to set.\n",
	}[l])
	// Keys without a group come before the first table.
	all := sections()
	for _, group := range []bool{false, true} {
		for _, s := range all {
			if (s.Name != "") != group {
				continue
			}
			b.WriteString("\n")
			switch {
			case s.isArray():
				fmt.Fprintf(&b, "# %s\n#[[%s]]\n", l.T(text.SettingGroup(s.Name)), s.Name)
			case group:
				fmt.Fprintf(&b, "# %s\n[%s]\n", l.T(text.SettingGroup(s.Name)), s.Name)
			}
			for _, e := range s.keys {
				fmt.Fprintf(&b, "# %s\n#%s = %s\n", l.T(text.SettingHelp(e.Key)), e.Name(), toml(e))
			}
		}
	}
	return []byte(b.String())
}

// table returns all settings for a guide, as one Markdown table per group.
func table(l text.Language) []byte {
	var b strings.Builder
	cell := strings.NewReplacer("|", `\|`, "<", `\<`, "\n", " ").Replace
	for _, s := range sections() {
		title := l.T(text.SettingGroup(s.Name))
		if s.isArray() {
			title += " `[[" + s.Name + "]]`"
		}
		fmt.Fprintf(&b, "## %s\n\n| %s | %s | %s | %s | |\n|---|---|---|---|---|\n", title,
			l.T(text.SetupSetting), l.T(text.SettingDefault), l.T(text.SettingAllowed), l.T(text.SettingSetBy))
		for _, e := range s.keys {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", e.Key, cell(e.Default()), cell(Allowed(l, e)),
				l.T(text.SettingWho(string(e.Audience))), cell(l.T(text.SettingHelp(e.Key))))
		}
		b.WriteString("\n")
	}
	return []byte(b.String())
}

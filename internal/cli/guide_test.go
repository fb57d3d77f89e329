package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/guide"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

var inline = regexp.MustCompile("`([^`]+)`")

// typed are the command lines of a page for a program: those of its blocks, with their
// continuations, and those within sentences.
func typed(p guide.HelpPage, program string) (blocks, inText []string) {
	for _, part := range strings.Split(p.Text, "\n\n") {
		if !strings.HasPrefix(part, "    ") {
			for _, m := range inline.FindAllStringSubmatch(part, -1) {
				if strings.HasPrefix(m[1], program+" ") {
					inText = append(inText, m[1])
				}
			}
			continue
		}
		for _, line := range strings.Split(strings.ReplaceAll(part, "\\\n", " "), "\n") {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, program+" ") {
				blocks = append(blocks, line)
			}
		}
	}
	return blocks, inText
}

// arguments are the words behind a program's name, as a shell would give them.
func arguments(line string) []string {
	line, _, _ = strings.Cut(line, " < ")
	line, _, _ = strings.Cut(line, " > ")
	return strings.Fields(line)[1:]
}

// TestGuideCommands: every command that the guide has people type is one that
// its program understands, with these very arguments.
func TestGuideCommands(t *testing.T) {
	for program, least := range map[string]int{"wiebelt": 60, "wiebelt-relay": 20} {
		n := 0
		for _, l := range []text.Language{text.Dutch, text.English} {
			for _, p := range guide.Help(l) {
				blocks, inText := typed(p, program)
				for i, line := range slices.Concat(blocks, inText) {
					args := arguments(line)
					k := must.Get(kong.New(programs[program].commands(), kong.Name(program), kong.Exit(func(int) {})))(t)
					n++
					if i >= len(blocks) && named(k.Model.Node, args) {
						continue // a command by its name
					}
					if _, err := k.Parse(args); err != nil {
						t.Errorf("%s, %s: %s: %v", l, p.ID, line, err)
					}
				}
			}
		}
		if n < least {
			t.Errorf("%d command lines of %s", n, program)
		}
	}
	for _, wrong := range []string{"provison", "provision --secret x", "forget --user", "doctor --jsn"} {
		k, _ := kong.New(&commands{}, kong.Name("wiebelt"), kong.Exit(func(int) {}))
		if _, err := k.Parse(strings.Fields(wrong)); err == nil && !named(k.Model.Node, strings.Fields(wrong)) {
			t.Errorf("%q is understood", wrong)
		}
	}
}

// named reports whether the words are the name of a command and nothing else.
func named(at *kong.Node, words []string) bool {
	for _, w := range words {
		i := slices.IndexFunc(at.Children, func(c *kong.Node) bool { return c.Name == w })
		if i < 0 {
			return false
		}
		at = at.Children[i]
	}
	return len(words) > 0
}

// TestGuideSettings: every key that the guide names is one, and what it shows of
// a settings file is right.
func TestGuideSettings(t *testing.T) {
	keyLike := regexp.MustCompile(`^[a-z]+\.[a-z_]+$`)
	file := regexp.MustCompile(`\.(admx|cfg|db|json|pem|toml|txt)$`)
	known := map[string]bool{}
	for _, k := range settings.Keys() {
		known[k.Key] = true
	}
	keys, blocks := map[string]bool{}, 0
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, p := range guide.Help(l) {
			for _, m := range inline.FindAllStringSubmatch(p.Text, -1) {
				key, _, _ := strings.Cut(m[1], " = ")
				if !keyLike.MatchString(key) || file.MatchString(key) {
					continue
				}
				if keys[key] = true; !known[key] {
					t.Errorf("%s, %s: there is no setting %s", l, p.ID, key)
				}
			}
			toml, ofRelay := "", false
			for _, part := range append(strings.Split(p.Text, "\n\n"), "") {
				if strings.HasPrefix(part, "    [") && !ofRelay {
					toml += part + "\n"
					continue
				}
				ofRelay = strings.Contains(part, "`relay.toml`") // what follows is no setting of Wiebelt's
				if toml == "" {
					continue
				}
				blocks++
				d := must.Get(profile.Find(t.TempDir()))(t)
				must.Do(t, os.MkdirAll(filepath.Dir(settings.Path(d)), 0o700))
				must.Do(t, os.WriteFile(settings.Path(d), []byte(toml), 0o600))
				if _, problems := settings.Load(d); len(problems) > 0 {
					t.Errorf("%s, %s: %v in\n%s", l, p.ID, problems, toml)
				}
				toml = ""
			}
		}
	}
	if len(keys) < 20 || blocks < 4 {
		t.Errorf("%d keys, %d pieces of settings", len(keys), blocks)
	}
	for _, wanted := range []string{"card.fields", "lookup.manual", "hub.secret_expires", "hub.secret_store", "history.keep"} {
		if !keys[wanted] {
			t.Errorf("the guide says nothing of %s", wanted)
		}
	}
}

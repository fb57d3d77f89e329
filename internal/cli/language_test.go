package cli

import (
	"encoding/json"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"wiebelt/assets"
	"wiebelt/internal/commandline"
	"wiebelt/internal/relay/command"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

var wordLike = regexp.MustCompile(`\pL{3,}`)

func wordsOf(s string) []string { return wordLike.FindAllString(strings.ToLower(s), -1) }

// onlyIn returns the words of the catalogue that occur in no text of the other language,
// excluding names, keys and codes, which are the same in both.
func onlyIn(t *testing.T) map[text.Language]map[string]bool {
	t.Helper()
	words := map[string]map[string]bool{"nl": {}, "en": {}}
	files, _ := fs.Glob(assets.Text, "text/*.json")
	for _, f := range files {
		b := must.Get(assets.Text.ReadFile(f))(t)
		var all map[string]map[string]json.RawMessage
		must.Do(t, json.Unmarshal(b, &all))
		for _, e := range all {
			for l, s := range e {
				plain := regexp.MustCompile(`\\n|\\t`).ReplaceAllString(string(s), " ")
				for _, w := range wordsOf(plain) {
					words[l][w] = true
				}
			}
		}
	}
	only := map[text.Language]map[string]bool{text.Dutch: {}, text.English: {}}
	for l, other := range map[string]string{"nl": "en", "en": "nl"} {
		for w := range words[l] {
			if !words[other][w] {
				only[text.Language(l)][w] = true
			}
		}
	}
	return only
}

// codes matches what is the same in every language: flags, keys, the doctor's ids and
// states, file names, and quoted or braced text to be typed.
var codes = regexp.MustCompile(`(?m)--[\w-]+|\w+(?:\.\w+)+|\{[^{}]*\}|"[^"\n]*"|^(?:ok|warn|fail|off) +[a-z.]+ |^ {2}[a-z.-]+(?: {2,}|$)|wiebelt(?:-relay)?(?: [a-z-]+)+`)

// speaks fails if an output has words of the other language.
func speaks(t *testing.T, only map[text.Language]map[string]bool, l text.Language, what []string, out string) {
	t.Helper()
	other := text.Dutch
	if l == text.Dutch {
		other = text.English
	}
	var strange []string
	for _, w := range wordsOf(codes.ReplaceAllString(out, " ")) {
		if only[other][w] && !slices.Contains(strange, w) {
			strange = append(strange, w)
		}
	}
	if strange != nil {
		t.Errorf("%s: %v says %v: %s", l, what, strange, out)
	}
}

var programs = map[string]struct {
	commands func() any
	main     func(args []string, in io.Reader, out, errOut io.Writer) int
}{
	"wiebelt": {Commands, func(args []string, in io.Reader, out, errOut io.Writer) int {
		return Main(Build{Version: "test"}, args, in, out, errOut)
	}},
	"wiebelt-relay": {command.Commands, func(args []string, in io.Reader, out, errOut io.Writer) int {
		return command.Main(command.Build{Version: "test"}, args, in, out, errOut)
	}},
}

// commandsOf returns the paths of all commands of a program, each of which has help.
func commandsOf(t *testing.T, program string) (paths [][]string) {
	t.Helper()
	model := must.Get(commandline.Model(programs[program].commands(), program))(t)
	has := func(path, part string) {
		for _, l := range []text.Language{text.Dutch, text.English} {
			if commandline.HelpOf(l, path, part) == "" {
				t.Errorf("%s: no text command.help.%s", l, strings.TrimSpace(path+" "+part))
			}
		}
	}
	var walk func(*kong.Node)
	walk = func(n *kong.Node) {
		path := commandline.PathOf(n)
		if n.Help != "" || n.Detail != "" {
			t.Errorf("%s: its help stands in the code and belongs into assets/text/command.json", path)
		}
		if path != "" {
			has(path, "")
			paths = append(paths, strings.Fields(n.FullPath())[1:])
		}
		for _, f := range n.Flags {
			has(path, "--"+f.Name)
			if f.Help != "" && f.Name != "help" {
				t.Errorf("%s --%s: its help stands in the code and belongs into assets/text/command.json", path, f.Name)
			}
		}
		for _, a := range n.Positional {
			has(path, "<"+a.Name+">")
		}
		for _, c := range n.Children {
			if !c.Hidden {
				walk(c)
			}
		}
	}
	walk(model)
	return paths
}

// TestEveryHelpIsInOneLanguage checks that each command's help is entirely in the
// language of the run, with no line broken.
func TestEveryHelpIsInOneLanguage(t *testing.T) {
	only := onlyIn(t)
	for program, p := range programs {
		for _, path := range append(commandsOf(t, program), nil) {
			for _, l := range []text.Language{text.Dutch, text.English} {
				if len(path) > 0 && strings.HasPrefix(path[0], "open-") {
					continue // takes no flags
				}
				var shown, errOut strings.Builder
				code := p.main(slices.Concat([]string{program}, path, []string{"--help", "--language", string(l)}), nil, &shown, &errOut)
				out := shown.String()
				if code != 0 || errOut.Len() > 0 || !strings.HasPrefix(out, l.T(text.CommandUsage, program)) {
					t.Errorf("%s %v: exit %d: %s%s", program, path, code, out, errOut.String())
				}
				speaks(t, only, l, path, out)
				for line := range strings.Lines(out) {
					if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 && !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, l.T(text.CommandUsage, "")) {
						t.Errorf("%v: %d characters: %s", path, n, line)
					}
				}
			}
		}
	}
}

// TestErrorsAreInOneLanguage checks that user errors and failures
// are reported in the language of the run.
func TestErrorsAreInOneLanguage(t *testing.T) {
	only := onlyIn(t)
	ready, _ := setUp(t)
	missing := filepath.Join(t.TempDir(), "x")
	hub := emptyHub(t)
	badCSV := writeFile(t, "x.csv", "id,achternaam,telefoon,landIso,email\na/b,A,\"6,1E+08\",1,x\nb,,,\n,A\nc,\"")
	badJSON := writeFile(t, "x.json", `[{"achternaam":7.5},3,{"achternaam":[]},{"achternaam":"A","x":1},{`)
	noHeader := writeFile(t, "y.csv", "x\n")
	badStory := writeFile(t, "x.txt", "0 ring a number=x\n")
	for _, args := range [][]string{
		{"nonsense"}, {"lookpu"}, {"--nonsense"}, {"lookup"}, {"lookup", "1", "2"}, {"lookup", "--jsn", "1"}, {"forget"}, {"forget", "--all", "--number", "1"},
		{"simulate", "--speed", "x"}, {"simulate", "--for", "x"}, {"simulate", "--port"}, {"simulate", "--port", "1", "--token-stdin", "1"}, {"simulate", "--over", "x"}, {"simulate", "--scenario", missing},
		{"doctor", "--format", "x"}, {"doctor", "--json=x"}, {"hub", "client"}, {"hub", "client", "list"}, {"ring", "--state", "x", "--", "1"},
		{"lookup", "hello"}, {"lookup", "0612345678"}, {"lookup", "101"}, {"lookup", "anonymous"},
		{"forget", "--older-than", "x"}, {"forget", "--user", "nobody-there"}, {"forget", "--all"},
		{"provision"}, {"provision", "--base-url", "http://x"}, {"provision", "--export", filepath.Join(missing, "x")}, {"provision", "--test-number", "1"},
		{"provision", "--softphone", "x", "--secret-stdin"}, {"provision", "--import", missing, "--passphrase-stdin"},
		{"recipe", "x"}, {"settings", "x"}, {"settings", "set", "listener.port", "x"}, {"settings", "check", missing},
		{"simulate", "--scenario", badStory}, {"simulate", "--over", "bria", "--listen", "0.0.0.0:1", "1"},
		{"hub", "import", badCSV, "--data", hub}, {"hub", "import", badJSON, "--data", hub}, {"hub", "import", noHeader, "--data", hub},
		{"hub", "--fault", "x"}, {"hub", "--fault", "token"}, {"hub", "--fault", "token:x"}, {"hub", "--fault", "token:status=1000"}, {"hub", "--fault", "token:drop,body=html"},
		{"hub", "--listen", "x"}, {"hub", "--listen", "127.0.0.1:0", "--public-host", "a"}, {"hub", "--tls-cert", missing, "--tls-key", missing},
		{"hub", "--tls-cert", badCSV, "--tls-key", badCSV}, {"hub", "--synthetic", "-1"}, {"hub", "--token-lifetime", "48h"}, {"hub", "--back-office-url", "x"},
		{"hub", "client", "add", "a:b", "--data", hub}, {"hub", "client", "add", "a", "--organisation-code", " ", "--data", hub}, {"hub", "client", "remove", "a", "--data", hub},
		{"hub", "user", "remove", "a", "--data", hub}, {"hub", "user", "add", "a", "--password-stdin", "--data", hub}, {"hub", "messages", "show", "a", "--data", hub},
		{"settings", "listener.port"},
		{"hub", "client", "list", "--data", missing}, {"hub", "import", missing, "--data", missing}, {"hub", "--listen", "0.0.0.0:0"}, {"hub", "--tls-cert", missing},
		{"hub", "messages", "export", "--data", missing, "--to", missing},
		{"deliver"}, {"deliver", missing}, {"deliver", "list"}, {"deliver", "retry", "x"}, {"deliver", "resolve", "x"}, {"deliver", "receipt", "x"}, {"deliver", "service", "x"},
		{"register", "--repair", "--all-users"}, {"register", "--check"}, {"teams-page", filepath.Join(missing, "x")}, {"doctor"},
	} {
		for _, dir := range []string{ready, t.TempDir()} {
			for _, l := range []text.Language{text.Dutch, text.English} {
				_, out, errOut := run(t, "", append(slices.Clone(args), "--profile", dir, "--language", string(l))...)
				said := out + errOut
				for _, s := range []string{ready, dir, missing, hub, badCSV, badJSON, noHeader, badStory, "nobody-there"} {
					said = strings.ReplaceAll(said, s, "")
				}
				speaks(t, only, l, args, said)
			}
		}
	}
	for _, args := range [][]string{{"open-url"}, {"open-url", "--", "x"}, {"open-file", "--", missing}} {
		for l, locale := range map[text.Language]string{text.Dutch: "nl_NL.UTF-8", text.English: "C"} {
			t.Setenv("LC_ALL", locale)
			_, out, errOut := run(t, "", args...)
			speaks(t, only, l, args, strings.ReplaceAll(out+errOut, missing, ""))
		}
	}
}

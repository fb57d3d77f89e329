package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/filetrust"
)

// FileName is the user's settings file, in the profile's Config folder.
const FileName = "settings.toml"

// Path returns the path of the user's settings file.
func Path(dirs profile.Dirs) string { return filepath.Join(dirs.Config, FileName) }

// Limits of a settings file. The number of brackets limits the nesting of values, the
// length of a line that of keys.
const (
	maxFile     = 1 << 20
	maxBrackets = 20_000
	maxLine     = 32 << 10
	maxBadLines = 20 // after which the rest of the file is ignored
	maxProblems = 200
)

// Load reads the settings of a profile. It always returns settings: without a file the user
// has set nothing, and where something is wrong the default applies and a Problem describes
// it. The problems are those of Settings.Problems.
func Load(dirs profile.Dirs) (*Settings, []Problem) {
	s := fromLayers(userLayer(dirs))
	return s, s.Problems()
}

// Reload reads the settings of a profile again. What the user's file said before stays in
// force while it cannot be read. If that file or the policy is missing or empty, as it is
// while a program replaces it, absent is true and nothing changes, unless gone says that it
// has been so for longer than that takes.
func (s *Settings) Reload(dirs profile.Dirs, gone bool) (next *Settings, absent bool) {
	user := userLayer(dirs)
	userGone := user.problems == nil && len(user.tree) == 0 && len(s.user) > 0
	if !gone && (userGone || s.policyGone()) {
		return s, true
	}
	if user.tree == nil {
		user.tree = s.user
		user.problems = slices.DeleteFunc(user.problems, func(p Problem) bool { return p.Kind != Unreadable })
	}
	return fromLayers(user), false
}

// userLayer reads the user's file; its tree is nil if that is impossible.
func userLayer(dirs profile.Dirs) layer {
	l := layer{source: User}
	l.load(readFile(Path(dirs)))
	return l
}

// fromLayers returns the settings of a user, and of the policy.
func fromLayers(user layer) *Settings {
	s := Defaults()
	s.user = user.tree
	for _, l := range append([]layer{user}, policies()...) { // weakest first
		s.apply(l)
	}
	s.lockHub()
	return s
}

// Parse reads settings from text, as if it were the user's file and the only source.
func Parse(src string) (*Settings, []Problem) {
	l := layer{source: User}
	l.load([]byte(src), nil)
	s := Defaults()
	s.apply(l)
	return s, s.Problems()
}

// CheckPolicy reads a file as if it were this computer's policy and the only source. Its
// owner does not matter here.
func CheckPolicy(path string) (*Settings, []Problem) {
	s := Defaults()
	l := layer{source: Policy}
	l.load(readFile(path))
	s.apply(l)
	return s, s.Problems()
}

// Compose formats settings as text for Parse. Values are those of Set.
func Compose(values map[string]any) (string, error) {
	wanted, err := normaliseValues(values)
	if err != nil {
		return "", err
	}
	return edit("", wanted)
}

// Fingerprint changes when the files that Load reads change, or those that
// settings name. It compares their size, time and rights, and whether the
// policy counts, without reading them, so that it is cheap to call often.
func Fingerprint(dirs profile.Dirs, named ...string) string {
	print := fmt.Sprint(managedSettings())
	policy, err := filetrust.OpenFile(policyPath(), os.O_RDONLY, filetrust.AdminOwned)
	if err == nil {
		_ = policy.Close()
	}
	print += fmt.Sprint(" ", err)
	for _, path := range append([]string{Path(dirs), policyPath()}, named...) {
		if info, err := os.Stat(path); err == nil {
			print += fmt.Sprint(" ", info.ModTime().UnixNano(), info.Size(), info.Mode())
		}
	}
	return print
}

// Touch makes Fingerprint change, so that a running Wiebelt reloads what is not in the
// settings, such as a secret. Without a settings file it creates an empty one.
func Touch(dirs profile.Dirs) error {
	now := time.Now()
	err := os.Chtimes(Path(dirs), now, now)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(Path(dirs), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

type layer struct {
	source     Source
	place      string         // of a policy: its location, as administrators call it
	tree       map[string]any // from the TOML library
	statements []statement
	problems   []Problem
}

// load parses a file's text, or reports why there is none. A missing file is empty.
func (l *layer) load(b []byte, err error) {
	if err == nil {
		err = checkPlainText(b)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.tree = map[string]any{}
	case err != nil:
		l.setFileProblem(Unreadable, err)
	default:
		l.parse(string(b))
	}
}

// setFileProblem replaces all problems with one about the file as a whole.
func (l *layer) setFileProblem(kind ProblemKind, why error) {
	l.problems = []Problem{{Kind: kind, Source: l.source, Expected: why.Error()}}
}

var errTooLarge = errors.New("it is larger than 1 MiB")

// checkPlainText returns why bytes cannot be a settings file.
func checkPlainText(b []byte) error {
	switch {
	case len(b) > maxFile:
		return errTooLarge
	case slices.Contains(b, 0):
		return errors.New("it is not UTF-8 text (is it UTF-16?)")
	case !utf8.Valid(b):
		return errors.New("it is not UTF-8 text")
	}
	return nil
}

// readFile reads a settings file. Its errors contain no path beyond the file's own name.
func readFile(path string) ([]byte, error) {
	b, err := filetrust.ReadPlain(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return nil, errors.New("it is a link to nowhere")
		}
		return nil, fs.ErrNotExist
	case errors.Is(err, filetrust.ErrUntrusted):
		return nil, errors.New("it is not a file")
	case errors.Is(err, filetrust.ErrTooLarge):
		return nil, errTooLarge
	case err != nil:
		return nil, filetrust.WithoutPath(err)
	}
	return b, checkPlainText(b)
}

// byteOrderMark is the byte order mark that some editors put at the beginning.
const byteOrderMark = "\ufeff"

// errSyntax replaces the TOML library's message, which may contain the value.
var errSyntax = errors.New("not TOML")

// decode parses TOML. line is the place of an error, if known.
func decode(src string) (tree map[string]any, line int, err error) {
	if n := strings.Count(src, "[") + strings.Count(src, "{"); n > maxBrackets {
		return nil, 0, errors.New("too many brackets")
	}
	for i, line := range strings.Split(src, "\n") {
		if len(line) > maxLine {
			return nil, i + 1, errors.New("too long")
		}
	}
	_, err = toml.Decode(strings.TrimPrefix(src, byteOrderMark), &tree)
	if p, ok := errors.AsType[toml.ParseError](err); ok {
		return nil, p.Position.Line, errSyntax
	}
	return tree, 0, err
}

// parse parses a file leniently: a line that is not TOML is reported and skipped,
// and the others count.
func (l *layer) parse(src string) {
	l.statements = scan(strings.TrimPrefix(src, byteOrderMark))
	lines := strings.SplitAfter(src, "\n")
	for range maxBadLines {
		tree, line, err := decode(strings.Join(lines, ""))
		if err == nil {
			l.tree = tree
			return
		}
		first, last := badLines(lines, line)
		p := Problem{Kind: BadSyntax, Source: l.source, Line: first}
		if err != errSyntax {
			p.Expected = err.Error()
		}
		for _, st := range l.statements {
			if st.line == first && !st.header {
				p.Key = showKey(st.path)
			}
		}
		l.problems = append(l.problems, p)
		if last == 0 {
			break // the end of an unclosed construct
		}
		for i := first - 1; i < last; i++ {
			lines[i] = "\n"
		}
	}
	l.problems = append(l.problems, Problem{Kind: Unreadable, Source: l.source, Expected: "too much of it is wrong"})
}

// badLines returns which lines to skip for an error on a line: that one, or, if it is a
// table's header or the header before it was not closed, the whole table, whose keys would
// otherwise belong to the table above. last is 0 if there is nothing to skip.
func badLines(lines []string, line int) (first, last int) {
	if line < 1 || line > len(lines) {
		return line, 0
	}
	at := func(n int) string { return strings.TrimSpace(lines[n-1]) }
	if line > 1 && strings.HasPrefix(at(line-1), "[") && !strings.Contains(at(line-1), "]") {
		line--
	}
	if at(line) == "" {
		return line, 0
	}
	last = line
	if strings.HasPrefix(at(line), "[") {
		for last < len(lines) && !strings.HasPrefix(at(last+1), "[") {
			last++
		}
	}
	return line, last
}

// apply applies a layer, key by key.
func (s *Settings) apply(l layer) {
	report := func(key string, kind ProblemKind, want string) {
		l.problems = append(l.problems, Problem{Kind: kind, Source: l.source, Managed: l.place == ManagedPlace, Key: showKey(key),
			Line: lineOf(l.statements, key), Expected: want})
	}
	for key, raw := range flatten(l.tree) {
		if e := find(key); e != nil {
			if v, ok := e.parse(raw, report); ok {
				e.set(s, v)
				s.recordSource(key, l)
				delete(s.unsure, key)
			}
			continue
		}
		if isGroup(key) {
			report(key, WrongType, "a table, with its keys below ["+key+"]")
		} else {
			report(key, UnknownKey, unknownKeyAdvice(key))
		}
	}
	s.applyStrictest(&l)
	slices.SortFunc(l.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.Key, b.Key))
	})
	s.problems = append(s.problems, l.problems[:min(len(l.problems), maxProblems)]...)
}

// recordSource records which layer a key's value comes from.
func (s *Settings) recordSource(key string, l layer) {
	s.sources[key], s.places[key] = l.source, l.place
}

// flatten converts the groups of a file into dotted keys. Anything but a
// group keeps its name.
func flatten(tree map[string]any) map[string]any {
	flat := map[string]any{}
	for name, v := range tree {
		group, isTable := v.(map[string]any)
		if !isTable || !isGroup(name) {
			flat[name] = v
			continue
		}
		for k, v := range group {
			flat[name+"."+k] = v
		}
	}
	return flat
}

func isGroup(name string) bool {
	return slices.ContainsFunc(table, func(e Entry) bool { return strings.HasPrefix(e.Key, name+".") })
}

// unknownKeyAdvice returns advice for an unknown key.
func unknownKeyAdvice(key string) string {
	key = strings.ToLower(key)
	for _, word := range []string{"secret", "password", "token"} {
		if strings.Contains(key, word) {
			return "a secret never stands in this file; take it out and use wiebelt provision"
		}
	}
	return ""
}

// showKey makes a key from a file safe to print on a terminal.
func showKey(key string) string {
	key = strings.Map(func(r rune) rune {
		if displaytext.IsHidden(r) {
			return '?'
		}
		return r
	}, key)
	if len(key) > 80 {
		key = strings.ToValidUTF8(key[:80], "") + "…"
	}
	return key
}

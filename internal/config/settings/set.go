package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/config/profile"
)

// ErrNotEditable reports that the file defines the key in a form that cannot be changed in
// place, such as hub = { … }, or that there are mistakes in a list. The file is unchanged.
var ErrNotEditable = errors.New("this key can only be changed by hand in " + FileName)

// lockName is the lock file in the state folder that serialises Set across programs.
const lockName = "settings.lock"

// Set writes keys to the user's settings file. Values have the types of the Settings
// fields (string, int, bool, time.Duration, time.Time, []string; for "line" and "softphone"
// []Line and []Softphone, which replace all existing ones, or a func([]Line) []Line or
// func([]Softphone) []Softphone, which changes those that the file then holds); nil removes
// a key, so that its default applies. Everything is checked first: either all changes are
// written or the file stays unchanged. Comments, order and everything else a person wrote
// are kept. A file that cannot be read, or is not TOML, is never overwritten. The error is a
// Problem if a key or value is wrong.
func Set(dirs profile.Dirs, changes map[string]any) error {
	if err := os.MkdirAll(dirs.State, 0o700); err != nil {
		return err
	}
	release, err := profile.Lock(filepath.Join(dirs.State, lockName))
	if err != nil {
		return err
	}
	defer release()
	p, err := prepare(dirs, changes)
	if err != nil || p.edited == p.src {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	return profile.WriteFile(p.path, []byte(p.edited), p.mode)
}

// Check returns the error that Set would return before writing.
func Check(dirs profile.Dirs, changes map[string]any) error {
	_, err := prepare(dirs, changes)
	return err
}

// With returns the settings with changes as for Set; s is unchanged. Errors are those of
// Check that do not concern the file.
func (s *Settings) With(changes map[string]any) (*Settings, error) {
	wanted, err := normaliseValues(s.edited(changes))
	if err != nil {
		return nil, err
	}
	next := *s
	next.sources, next.places, next.unsure = maps.Clone(s.sources), maps.Clone(s.places), maps.Clone(s.unsure)
	for key, v := range wanted {
		e, source := find(key), User
		if v == nil {
			v, source = e.def, Default
		}
		e.set(&next, v)
		next.sources[key] = source
		delete(next.unsure, key)
	}
	return &next, nil
}

// prepared is a settings file before and after changes.
type prepared struct {
	path        string
	mode        fs.FileMode
	src, edited string
}

func prepare(dirs profile.Dirs, changes map[string]any) (prepared, error) {
	p := prepared{path: Path(dirs), mode: 0o600}
	if real, err := filepath.EvalSymlinks(p.path); err == nil {
		p.path = real // a link of the user's own is kept
	}
	b, err := readFile(p.path)
	p.src = string(b)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return p, Problem{Kind: Unreadable, Source: User, Expected: err.Error()}
	default:
		if info, err := os.Stat(p.path); err == nil {
			p.mode = info.Mode().Perm()
		}
	}
	file, problems := Parse(p.src)
	for key, change := range changes {
		// A function gets only the elements without a mistake; the others would be lost.
		if reflect.ValueOf(change).Kind() == reflect.Func && slices.ContainsFunc(problems, func(p Problem) bool { return strings.HasPrefix(p.Key+"[", key+"[") }) {
			return p, fmt.Errorf("%s: %w", key, ErrNotEditable)
		}
	}
	wanted, err := normaliseValues(file.edited(changes))
	if err != nil {
		return p, err
	}
	p.edited, err = edit(p.src, wanted)
	return p, err
}

// edited returns changes with the lists that their functions make of those of s.
func (s *Settings) edited(changes map[string]any) map[string]any {
	all := maps.Clone(changes)
	for key, v := range changes {
		if e := find(key); e != nil && e.edited != nil {
			all[key] = e.edited(v, s)
		}
	}
	return all
}

func normaliseValues(changes map[string]any) (map[string]any, error) {
	wanted := map[string]any{}
	for key, raw := range changes {
		var wrong error
		report := func(_ string, kind ProblemKind, want string) {
			wrong = cmp.Or(wrong, error(Problem{Kind: kind, Source: User, Key: showKey(key), Expected: want}))
		}
		wanted[key] = nil
		switch e := find(key); {
		case e == nil:
			report(key, UnknownKey, "")
		case raw != nil:
			wanted[key], _ = e.parse(raw, report)
		}
		if wrong != nil {
			return nil, wrong
		}
	}
	return wanted, nil
}

// edit returns src with the wanted keys, and verifies that nothing else
// changed its meaning.
func edit(src string, wanted map[string]any) (string, error) {
	bom := ""
	if strings.HasPrefix(src, byteOrderMark) {
		bom, src = byteOrderMark, src[len(byteOrderMark):]
	}
	before, line, err := decode(src)
	if err != nil {
		return "", Problem{Kind: BadSyntax, Source: User, Line: line, Expected: "mend it before anything is changed"}
	}
	newline := "\n"
	if strings.Contains(src, "\r\n") {
		newline = "\r\n"
	}
	out := src
	if strings.TrimSpace(out) == "" {
		out += "# Wiebelt. The command \"wiebelt settings\" lists every key and its value." + newline
	}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		switch e, v := find(key), wanted[key]; {
		case e.Type == Tables:
			out = replaceArray(out, e, e.rows(v), newline)
		case v == nil:
			out = removeKey(out, key)
		default:
			out = writeKey(out, key, tomlLiteral(v), newline)
		}
	}
	if err := verify(before, out, wanted); err != nil {
		return "", err
	}
	return bom + out, nil
}

// verify compares the meaning of a file before and after.
func verify(before map[string]any, out string, wanted map[string]any) error {
	after, _, err := decode(out)
	if err != nil {
		return ErrNotEditable
	}
	was, is := flatten(before), flatten(after)
	for key, want := range wanted {
		got, there := is[key]
		delete(was, key)
		delete(is, key)
		if !there && (want == nil || reflect.ValueOf(want).Kind() == reflect.Slice && reflect.ValueOf(want).Len() == 0) {
			continue
		}
		clean := true
		v, ok := find(key).parse(got, func(string, ProblemKind, string) { clean = false })
		if !there || want == nil || !ok || !clean || !reflect.DeepEqual(v, want) {
			return fmt.Errorf("%s: %w", key, ErrNotEditable)
		}
	}
	// Empty groups that were added or removed do not matter.
	for _, m := range []map[string]any{was, is} {
		maps.DeleteFunc(m, func(_ string, v any) bool {
			t, isTable := v.(map[string]any)
			return isTable && len(t) == 0
		})
	}
	if !reflect.DeepEqual(was, is) {
		return ErrNotEditable
	}
	return nil
}

// writeKey writes key = value: in place of the existing key, else after the last key of its
// group, else below the group's header, else in a new group at the end.
func writeKey(src, key, value, newline string) string {
	found := scan(src)
	for _, st := range found {
		if st.path == key && !st.header {
			return src[:st.valueStart] + value + src[st.valueEnd:]
		}
	}
	group, _, inGroup := strings.Cut(key, ".")
	at, name := placeAtTop(src, found), key
	if inGroup {
		at, name = placeInGroup(found, key)
	}
	line := name + " = " + value + newline
	switch {
	case at >= 0:
		return withNewline(src[:at], newline) + line + src[at:]
	case !inGroup:
		return withNewline(src, newline) + line
	}
	return withNewline(src, newline) + newline + "[" + group + "]" + newline + line
}

// placeAtTop returns the position after the last key without a group, else before the first
// header; -1 if neither exists.
func placeAtTop(src string, found []statement) int {
	at := -1
	for _, st := range found {
		switch {
		case st.header && at < 0:
			at = aboveComments(src, st.start)
		case !st.header && st.table == "" && !strings.Contains(st.path, "."):
			at = st.end
		}
	}
	return at
}

// placeInGroup returns the position for a key in its group, -1 if there is no group, and
// the key's name at that position.
func placeInGroup(found []statement, key string) (at int, name string) {
	group, name, _ := strings.Cut(key, ".")
	at = -1
	for _, st := range found {
		switch {
		case st.header:
			if st.path == group && !st.array {
				at, name = st.end, strings.TrimPrefix(key, group+".")
			}
		case strings.HasPrefix(st.path, group+".") && (st.table == group || st.table == ""):
			at, name = st.end, strings.TrimPrefix(key, st.table+".")
		}
	}
	return at, name
}

// aboveComments moves up from the start of a line over the adjacent comment
// lines, which belong to it.
func aboveComments(src string, at int) int {
	for at > 0 {
		start := strings.LastIndexByte(src[:at-1], '\n') + 1
		if !strings.HasPrefix(strings.TrimSpace(src[start:at]), "#") {
			return at
		}
		at = start
	}
	return at
}

func removeKey(src, key string) string {
	for _, st := range scan(src) {
		if st.path == key && !st.header {
			return src[:st.start] + src[st.end:]
		}
	}
	return src
}

// replaceArray replaces all elements of an array by rows. Comments between
// the old elements stay.
func replaceArray(src string, e *Entry, rows [][]string, newline string) string {
	name := e.Key
	src = removeKey(src, name) // name = [ … ]
	at := -1
	for {
		found := scan(src)
		i := slices.IndexFunc(found, func(st statement) bool { return st.header && st.array && strings.HasPrefix(st.path, name+"[") })
		if i < 0 {
			break
		}
		end := found[i].end
		for _, st := range found[i+1:] {
			if st.header {
				break
			}
			end = st.end
		}
		if at < 0 {
			at = found[i].start
		}
		src = src[:found[i].start] + src[end:]
	}
	var b strings.Builder
	for i, row := range rows {
		if i > 0 {
			b.WriteString(newline)
		}
		b.WriteString("[[" + name + "]]" + newline)
		for k, v := range row {
			if v != "" {
				b.WriteString(e.fields[k].Name() + " = " + tomlLiteral(v) + newline)
			}
		}
	}
	if at >= 0 {
		return withNewline(src[:at], newline) + b.String() + src[at:]
	}
	if len(rows) == 0 {
		return src
	}
	return withNewline(src, newline) + newline + b.String()
}

// withNewline adds a line end if missing.
func withNewline(s, newline string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + newline
}

func tomlLiteral(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case time.Duration:
		return quote(FormatDuration(v))
	case time.Time:
		if v.IsZero() {
			return `""`
		}
		return quote(v.Format(time.DateOnly))
	case []string:
		parts := make([]string, len(v))
		for i, s := range v {
			parts[i] = quote(s)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(v) // numbers and flags
}

// quote quotes a text; one with backslashes, such as a Windows path, literally.
func quote(s string) string {
	if strings.Contains(s, `\`) && !strings.ContainsAny(s, "'") && !hasControlChars(s) {
		return "'" + s + "'"
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

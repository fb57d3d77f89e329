// Package phonefile reads and changes softphone settings files with lines of key=value:
// MicroSIP's ini (UTF-16 with a BOM, groups in brackets) and Twinkle's profiles. Everything
// else in the file stays as it is, byte for byte, including encoding, line ends and order.
//
// The package has no state and no goroutines.
package phonefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/filetrust"
)

// maxFile is the size limit of such a file.
const maxFile = 1 << 20

// ErrFormat reports a file that does not have this form.
var ErrFormat = errors.New("not a settings file of a softphone")

// Pair is a key with its value.
type Pair struct{ Key, Value string }

// Pairs parses lines of key=value, as recipes contain them.
func Pairs(text string) []Pair {
	var all []Pair
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "="); ok {
			all = append(all, Pair{k, v})
		}
	}
	return all
}

// File is a settings file as it was read. It is not safe for concurrent use.
type File struct {
	path     string
	mode     fs.FileMode
	encoding encoding.Encoding
	end      string
	lines    []string // without line ends; the last is empty if the file ends in a line end
}

// Read reads the file at path, following links.
func Read(path string) (*File, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	b, err := filetrust.ReadPlain(path, maxFile)
	if err != nil {
		return nil, err
	}
	file := &File{path: path, mode: info.Mode().Perm(), encoding: encoding.Nop, end: "\n"}
	return file, file.decode(b)
}

func (f *File) decode(b []byte) error {
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		f.encoding = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		f.encoding = unicode.UTF8BOM
	}
	read, _ := f.encoding.NewDecoder().Bytes(b)
	text := string(read)
	back, _ := f.encode(text)
	if !bytes.Equal(back, b) || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return ErrFormat // a file that cannot be written back unchanged is left alone
	}
	if strings.Contains(text, "\r\n") {
		f.end = "\r\n"
	}
	f.lines = strings.Split(text, "\n")
	for i, l := range f.lines {
		if f.end == "\r\n" {
			f.lines[i] = strings.TrimSuffix(l, "\r")
		}
	}
	return nil
}

func (f *File) encode(text string) ([]byte, error) {
	return f.encoding.NewEncoder().Bytes([]byte(text))
}

// Get returns the value of a key in a group, "" for the lines before any group. An unknown
// key has no value. Keys and groups are not case-sensitive.
func (f *File) Get(group, key string) string {
	if i := f.find(group, key); i >= 0 {
		_, v, _ := strings.Cut(f.lines[i], "=")
		return strings.TrimSpace(v)
	}
	return ""
}

// Set sets keys of a group; missing ones are added at its beginning, or at the end of a
// file without groups. It fails if the group is missing.
func (f *File) Set(group string, pairs ...Pair) error {
	for _, p := range pairs {
		if strings.ContainsAny(p.Key+p.Value, "\r\n\x00") {
			return ErrFormat
		}
		line := p.Key + "=" + p.Value
		if i := f.find(group, p.Key); i >= 0 {
			f.lines[i] = line
			continue
		}
		at := len(f.lines)
		if f.lines[at-1] == "" {
			at--
		}
		if group != "" {
			if at = f.findGroup(group); at < 0 {
				return fmt.Errorf("%w: no [%s]", ErrFormat, group)
			}
			at++
		}
		f.lines = slices.Insert(f.lines, at, line)
		if f.lines[len(f.lines)-1] != "" {
			f.lines = append(f.lines, "")
		}
	}
	return nil
}

// Write replaces the file atomically.
func (f *File) Write() error {
	b, err := f.encode(strings.Join(f.lines, f.end))
	if err != nil {
		return err
	}
	return profile.WriteFile(f.path, b, f.mode)
}

func (f *File) findGroup(group string) int {
	for i, l := range f.lines {
		if strings.EqualFold(strings.TrimSpace(l), "["+group+"]") {
			return i
		}
	}
	return -1
}

// find returns the line of a key, -1 if there is none.
func (f *File) find(group, key string) int {
	in := group == ""
	for i, l := range f.lines {
		t := strings.TrimSpace(l)
		if strings.HasPrefix(t, "[") {
			in = strings.EqualFold(t, "["+group+"]")
			continue
		}
		if k, _, ok := strings.Cut(t, "="); in && ok && strings.EqualFold(strings.TrimSpace(k), key) {
			return i
		}
	}
	return -1
}

// SplitProgram splits a command line as these phones do: into
// the program, optionally in quotes, and the rest.
func SplitProgram(line string) (program, rest string) {
	line = strings.TrimSpace(line)
	if quoted, after, ok := strings.Cut(strings.TrimPrefix(line, `"`), `"`); ok && strings.HasPrefix(line, `"`) {
		return quoted, strings.TrimSpace(after)
	}
	program, rest, _ = strings.Cut(line, " ")
	return program, strings.TrimSpace(rest)
}

// RunsWiebelt reports whether a command line hands calls to Wiebelt.
func RunsWiebelt(line string) bool {
	program, rest := SplitProgram(line)
	base := strings.TrimSuffix(strings.ToLower(program[strings.LastIndexAny(program, `\/`)+1:]), ".exe")
	switch base {
	case "wiebelt-ring", "wiebelt-ringw": // they do nothing else
		return true
	}
	return strings.HasPrefix(base, "wiebelt") && strings.Contains(" "+rest+" ", " ring ")
}

// Lines returns the current lines, which must not be modified.
func (f *File) Lines() []string { return f.lines }

// Package phonefile reads and changes the settings files of softphones that are
// lines of key=value: MicroSIP's ini (UTF-16 with its mark, groups in brackets)
// and Twinkle's profiles. What is not asked for stays as it is, byte for byte:
// encoding, line ends, order and everything else in the file.
//
// The package has no state and no goroutines.
package phonefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"wiebelt/internal/config/profile"
)

// maxFile is how large such a file may be.
const maxFile = 1 << 20

// ErrFormat is a file that is not of this form.
var ErrFormat = errors.New("not a settings file of a softphone")

// Pair is a key with its value.
type Pair struct{ Key, Value string }

// Pairs reads lines of key=value, as recipes give them.
func Pairs(text string) []Pair {
	var all []Pair
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "="); ok {
			all = append(all, Pair{k, v})
		}
	}
	return all
}

// File is such a file as it was read. Not safe for concurrent use.
type File struct {
	path     string
	mode     fs.FileMode
	encoding encoding.Encoding
	end      string
	lines    []string // without their ends; the last is empty if the file ends in a line end
}

// Read reads the file at path. A link is followed.
func Read(path string) (*File, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrFormat
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	file := &File{path: path, mode: info.Mode().Perm(), encoding: encoding.Nop, end: "\n"}
	return file, file.decode(b)
}

func (f *File) decode(b []byte) error {
	switch {
	case len(b) > maxFile:
		return ErrFormat
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		f.encoding = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		f.encoding = unicode.UTF8BOM
	}
	read, _ := f.encoding.NewDecoder().Bytes(b)
	text := string(read)
	back, _ := f.encode(text)
	if !bytes.Equal(back, b) || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return ErrFormat // what cannot be written back as it was is left alone
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

// Get gives the value of a key in a group, "" for the lines before any group. An
// unknown key has no value. Case does not matter.
func (f *File) Get(group, key string) string {
	if i := f.find(group, key); i >= 0 {
		_, v, _ := strings.Cut(f.lines[i], "=")
		return strings.TrimSpace(v)
	}
	return ""
}

// Set gives keys of a group another value; those that are not there go to its
// beginning, or to the end of a file without groups. It fails where the group is
// missing.
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
			if at = f.header(group); at < 0 {
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

// Write puts the file in place whole.
func (f *File) Write() error {
	b, err := f.encode(strings.Join(f.lines, f.end))
	if err != nil {
		return err
	}
	return profile.WriteFile(f.path, b, f.mode)
}

func (f *File) header(group string) int {
	for i, l := range f.lines {
		if strings.EqualFold(strings.TrimSpace(l), "["+group+"]") {
			return i
		}
	}
	return -1
}

// find gives the line of a key, -1 for none.
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

// Program takes a command line as these phones write them apart: the program,
// which may stand in quotes, and the rest.
func Program(line string) (program, rest string) {
	line = strings.TrimSpace(line)
	if quoted, after, ok := strings.Cut(strings.TrimPrefix(line, `"`), `"`); ok && strings.HasPrefix(line, `"`) {
		return quoted, strings.TrimSpace(after)
	}
	program, rest, _ = strings.Cut(line, " ")
	return program, strings.TrimSpace(rest)
}

// Ours reports whether a command line hands calls to Wiebelt.
func Ours(line string) bool {
	program, rest := Program(line)
	base := strings.TrimSuffix(strings.ToLower(program[strings.LastIndexAny(program, `\/`)+1:]), ".exe")
	switch base {
	case "wiebelt-ring", "wiebelt-ringw": // which does nothing else
		return true
	}
	return strings.HasPrefix(base, "wiebelt") && strings.Contains(" "+rest+" ", " ring ")
}

// Lines gives the lines as they are now. They are not to be changed.
func (f *File) Lines() []string { return f.lines }

// Package register tells the desktop about Wiebelt: that links of its URL scheme
// and set-up files are opened with it, and that it starts at log-on. It writes for the user, or
// for everybody on the computer, and takes back what it wrote. Links of other
// schemes, tel: above all, are never taken.
//
// The package has no state and no goroutines.
package register

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Options say for whom and with which program.
type Options struct {
	Exe      string // the program's absolute path
	Links    string // that of the program for links, the small one; "" is Exe
	Profile  string // "" is the user's own; else an absolute folder
	AllUsers bool   // everybody on this computer, which takes an administrator
	Only     Part   // what Register writes; all of it unless given
}

// Part is a part of a registration.
type Part uint8

// The parts.
const (
	Everything Part = iota
	OnlyScheme
	OnlyAutostart
)

// Status is how things stand, as far as the desktop tells.
type Status struct {
	// Scheme is the command that links are opened with, "" if there is none.
	// Ours reports whether that is this program, Older that the user's own
	// registration is as an older version wrote it: without a program for links, or
	// with its own folder.
	Scheme      string
	Ours, Older bool
	// Autostart reports whether Wiebelt starts at log-on, OlderAutostart that the user's
	// own registration starts an older version. SwitchedOff reports that
	// it does not start because somebody said so in the desktop's own way.
	Autostart, OlderAutostart, SwitchedOff bool
}

func (o Options) check() error {
	for what, path := range map[string]string{"program": o.Exe, "program for links": o.Links, "profile": o.Profile} {
		if path == "" && what != "program" {
			continue
		}
		if !filepath.IsAbs(path) || !utf8.ValidString(path) || strings.ContainsFunc(path, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '"' }) {
			return fmt.Errorf("register: the path of the %s cannot be written into a command", what)
		}
	}
	return nil
}

// link is the command line that opens a link: the program, and what stands behind it
// with a place for the link.
func (o Options) link(place string) []string {
	return append([]string{cmp.Or(o.Links, o.Exe)}, o.arguments("open-url", "--", place)...)
}

// older is o as versions without a program for links had it.
func (o Options) older() Options {
	o.Links = ""
	return o
}

// arguments are what stands behind the program.
func (o Options) arguments(rest ...string) []string {
	if o.Profile == "" {
		return rest
	}
	if rest[0] == "open-url" || rest[0] == "open-file" { // which take their flag in this one place
		return append([]string{rest[0], "--profile", o.Profile}, rest[1:]...)
	}
	return append([]string{"--profile", o.Profile}, rest...)
}

// Package register registers Wiebelt with the desktop, which then opens links of our
// URL scheme and set-up files with it and starts it at log-on. It registers for the
// user, or for everybody on the computer, and can remove what it wrote. It never
// claims other schemes, in particular tel:.
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

// Options say which program is registered, and for whom.
type Options struct {
	Exe      string // the program's absolute path
	LinkExe  string // that of the program for links, the small one; "" is Exe
	Profile  string // "" is the user's own; else an absolute folder
	AllUsers bool   // for everybody on this computer, which requires an administrator
	Only     Part   // what Register writes; everything by default
}

// Part is a part of a registration.
type Part uint8

// The parts.
const (
	Everything Part = iota
	OnlyScheme
	OnlyAutostart
)

// Status is the current registration, as far as the desktop reports it.
type Status struct {
	// Scheme is the command that opens links, "" if there is none. Ours reports whether that
	// is this program. Older reports whether the user's own registration was written by an
	// older version: without a program for links, or with its own folder.
	Scheme      string
	Ours, Older bool
	// Autostart reports whether Wiebelt starts at log-on. OlderAutostart reports whether the
	// user's own registration starts an older version. SwitchedOff reports that Wiebelt does
	// not start because it was disabled through the desktop.
	Autostart, OlderAutostart, SwitchedOff bool
}

func (o Options) check() error {
	for what, path := range map[string]string{"program": o.Exe, "program for links": o.LinkExe, "profile": o.Profile} {
		if path == "" && what != "program" {
			continue
		}
		if !filepath.IsAbs(path) || !utf8.ValidString(path) || strings.ContainsFunc(path, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '"' }) {
			return fmt.Errorf("register: the path of the %s cannot be written into a command", what)
		}
	}
	return nil
}

// link returns the command line that opens a link: the program and its arguments, with a
// placeholder for the link.
func (o Options) link(place string) []string {
	return append([]string{cmp.Or(o.LinkExe, o.Exe)}, o.arguments("open-url", "--", place)...)
}

// older returns o as written by versions without a program for links.
func (o Options) older() Options {
	o.LinkExe = ""
	return o
}

func (o Options) arguments(rest ...string) []string {
	if o.Profile == "" {
		return rest
	}
	if rest[0] == "open-url" || rest[0] == "open-file" { // these accept the flag only here
		return append([]string{rest[0], "--profile", o.Profile}, rest[1:]...)
	}
	return append([]string{"--profile", o.Profile}, rest...)
}

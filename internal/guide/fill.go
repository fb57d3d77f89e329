package guide

import (
	"errors"
	"strconv"
	"strings"

	"wiebelt/internal/core/lazyregexp"
	"wiebelt/internal/core/private"
)

// Values is what is filled in on this computer. It holds tokens: show it to the
// user alone and write it nowhere.
type Values struct {
	private.Data
	Exe         string // our program
	Ring        string // the program that phones start at a call
	Profile     string // the folder given with --profile; "" as a rule
	Settings    string // the user's settings file
	Port        int    // of the listener
	PathToken   string // the last element of /v1/call/<token>
	SocketToken string // opens the WebSocket
}

// hidden stands where a token is not shown.
const hidden = "••••••••••••"

// Masked is v without its tokens, to look at.
func (v Values) Masked() Values {
	v.PathToken, v.SocketToken = hidden, hidden
	return v
}

// What can keep a block from working on this computer.
var (
	// ErrSpace: a path has a space, and this phone divides there.
	ErrSpace = errors.New("a path holds a space, which this phone cannot take")
	// ErrLong: a value is longer than this phone keeps.
	ErrLong = errors.New("a line is longer than this phone keeps")
	// ErrPath: a path has a character that no command line can hold in quotes.
	ErrPath = errors.New("a path holds a character that cannot stand in a command line")
)

// maxMicroSIP is the longest value that MicroSIP reads from its file, in
// characters.
const maxMicroSIP = 255

// places are what can be filled in.
var places = map[string]func(Values) string{
	"exe":          func(v Values) string { return v.Exe },
	"ring":         func(v Values) string { return v.Ring },
	"settings":     func(v Values) string { return v.Settings },
	"port":         func(v Values) string { return strconv.Itoa(v.Port) },
	"path_token":   func(v Values) string { return v.PathToken },
	"socket_token": func(v Values) string { return v.SocketToken },
	"profile":      func(v Values) string { return v.profile(`"`) },
	"profile_bare": func(v Values) string { return v.profile("") }, // for phones that know no quotes
}

// profile is an argument with a space in front of it, only where there is a profile.
func (v Values) profile(quote string) string {
	if v.Profile == "" {
		return ""
	}
	return " --profile " + quote + v.Profile + quote
}

// path is the one in a place that a phone could misread, "" for none.
func (v Values) path(place string) string {
	switch place {
	case "exe":
		return v.Exe
	case "ring":
		return v.Ring
	case "profile", "profile_bare":
		return v.Profile
	}
	return ""
}

var placeForm = lazyregexp.New(`\{\{([^{}]*)\}\}`)

// placesIn gives the names of the places of a text, anything in double braces.
func placesIn(s string) []string {
	var all []string
	for _, m := range placeForm().FindAllStringSubmatch(s, -1) {
		all = append(all, m[1])
	}
	return all
}

// Secret reports whether the block shows a token.
func (b Block) Secret() bool { return strings.Contains(b.Text, "_token}}") }

// Needs tells what must be on for the block to work: the listener, and its plain
// HTTP.
func (b Block) Needs() (listener, http bool) {
	http = strings.Contains(b.Text, "{{path_token}}")
	return http || strings.Contains(b.Text, "{{port}}") || b.Secret(), http
}

// In fills the places of a step or a caption.
func (v Values) In(s string) string {
	return placeForm().ReplaceAllStringFunc(s, func(p string) string { return places[p[2:len(p)-2]](v) })
}

// Fill gives the text to paste. The error is one of ErrSpace, ErrLong and
// ErrPath; it holds nothing of v.
func (b Block) Fill(v Values) (string, error) {
	for _, name := range placesIn(b.Text) {
		switch path := v.path(name); {
		case strings.ContainsFunc(path, func(r rune) bool { return r == '"' || r < ' ' || r == 0x7f }):
			return "", ErrPath
		case (b.Kind == Twinkle || name == "profile_bare") && strings.ContainsAny(path, " \u00a0"):
			return "", ErrSpace
		}
	}
	s := v.In(b.Text)
	if b.Kind == MicroSIP {
		for line := range strings.SplitSeq(s, "\n") {
			if _, value, _ := strings.Cut(line, "="); len([]rune(value)) > maxMicroSIP {
				return "", ErrLong
			}
		}
	}
	return s, nil
}

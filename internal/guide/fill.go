package guide

import (
	"errors"
	"strconv"
	"strings"

	"wiebelt/internal/core/lazyregexp"
	"wiebelt/internal/core/private"
)

// Values are the values of this computer to fill in. They include tokens: show them only to
// the user and write them nowhere.
type Values struct {
	private.Data
	Exe         string // our program
	Ring        string // the program that phones run for a call
	Profile     string // the folder given with --profile; "" as a rule
	Settings    string // the user's settings file
	Port        int    // of the listener
	PathToken   string // the last element of /v1/call/<token>
	SocketToken string // opens the WebSocket
}

// maskedToken replaces a token that is not shown.
const maskedToken = "••••••••••••"

// Masked returns v without its tokens, for display.
func (v Values) Masked() Values {
	v.PathToken, v.SocketToken = maskedToken, maskedToken
	return v
}

// Why a block cannot work on this computer.
var (
	// ErrSpace: a path contains a space, at which this phone splits.
	ErrSpace = errors.New("a path holds a space, which this phone cannot take")
	// ErrLong: a value is longer than this phone stores.
	ErrLong = errors.New("a line is longer than this phone keeps")
	// ErrPath: a path contains a character that cannot be quoted in a command line.
	ErrPath = errors.New("a path holds a character that cannot stand in a command line")
)

// maxMicroSIP is the longest value that MicroSIP reads from its file, in characters.
const maxMicroSIP = 255

// placeholders has every place that can be filled in.
var placeholders = map[string]func(Values) string{
	"exe":          func(v Values) string { return v.Exe },
	"ring":         func(v Values) string { return v.Ring },
	"settings":     func(v Values) string { return v.Settings },
	"port":         func(v Values) string { return strconv.Itoa(v.Port) },
	"path_token":   func(v Values) string { return v.PathToken },
	"socket_token": func(v Values) string { return v.SocketToken },
	"profile":      func(v Values) string { return v.profile(`"`) },
	"profile_bare": func(v Values) string { return v.profile("") }, // for phones that know no quotes
}

// profile returns the argument with a leading space; "" without a profile.
func (v Values) profile(quote string) string {
	if v.Profile == "" {
		return ""
	}
	return " --profile " + quote + v.Profile + quote
}

// path returns the path in a place that a phone could misread; "" if there is none.
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

var placeholderForm = lazyregexp.New(`\{\{([^{}]*)\}\}`)

// placeholdersIn returns the names of all places in a text: anything in double braces.
func placeholdersIn(s string) []string {
	var all []string
	for _, m := range placeholderForm().FindAllStringSubmatch(s, -1) {
		all = append(all, m[1])
	}
	return all
}

// HasToken reports whether the block contains a token.
func (b Block) HasToken() bool { return strings.Contains(b.Text, "_token}}") }

// Needs reports what must be enabled for the block to work: the listener,
// and its plain HTTP.
func (b Block) Needs() (listener, http bool) {
	http = strings.Contains(b.Text, "{{path_token}}")
	return http || strings.Contains(b.Text, "{{port}}") || b.HasToken(), http
}

// FillText fills in the places of a step or a caption.
func (v Values) FillText(s string) string {
	return placeholderForm().ReplaceAllStringFunc(s, func(p string) string { return placeholders[p[2:len(p)-2]](v) })
}

// Fill returns the text to paste. The error is ErrSpace, ErrLong or ErrPath, and
// contains nothing of v.
func (b Block) Fill(v Values) (string, error) {
	for _, name := range placeholdersIn(b.Text) {
		switch path := v.path(name); {
		case strings.ContainsFunc(path, func(r rune) bool { return r == '"' || r < ' ' || r == 0x7f }):
			return "", ErrPath
		case (b.Kind == Twinkle || name == "profile_bare") && strings.ContainsAny(path, " \u00a0"):
			return "", ErrSpace
		}
	}
	s := v.FillText(b.Text)
	if b.Kind == MicroSIP {
		for line := range strings.SplitSeq(s, "\n") {
			if _, value, _ := strings.Cut(line, "="); len([]rune(value)) > maxMicroSIP {
				return "", ErrLong
			}
		}
	}
	return s, nil
}

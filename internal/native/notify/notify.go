// Package notify shows notifications of the desktop, for where a card cannot be
// shown: a Wayland session with neither an X server nor layer-shell. They may stay in
// lists and on locked screens, so they carry neither number nor name.
package notify

import (
	"errors"
	"strings"
	"unicode"

	"wiebelt/internal/text"
)

// ErrUnsupported is returned by Open where there are no notifications of this
// kind.
var ErrUnsupported = errors.New("no notifications on this desktop")

// ErrClosed is returned after Close or when the desktop has gone.
var ErrClosed = errors.New("notifications closed")

// Notice is what is shown: plain text.
type Notice struct {
	Summary string
	Body    string
	// Category is one of the desktop's own kinds, "" for none of them.
	Category string
	// Actions are the buttons. The one whose Key is Default is a click on the
	// notification itself. Desktops that know no buttons show none.
	Actions []Action
}

// Action is a button.
type Action struct{ Key, Label string }

// The keys of IncomingCall's buttons.
const (
	Default = "default"
	Dismiss = "dismiss"
)

// IncomingCall says that there is a call, on the named line of ours if line is
// not empty, and nothing of who calls.
func IncomingCall(lang text.Language, line string) Notice {
	n := Notice{Summary: lang.T(text.NotifyIncoming), Category: "call.incoming", Actions: []Action{
		{Default, lang.T(text.NotifyOpen)}, {Dismiss, lang.T(text.NotifyClose)},
	}}
	if line = clean(line, maxText); line != "" {
		n.Summary = lang.T(text.NotifyIncomingLine, line)
	}
	return n
}

// How much of a text is shown, in characters: of a summary or a button, which a
// caller's line is part of, and of what stands below.
const (
	maxText = 120
	maxBody = 1000
)

// clean makes one line of a text, of at most so many characters, without what changes
// the direction or the place of what follows.
func clean(s string, most int) string {
	graphic := strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}, s)
	line := []rune(strings.Join(strings.Fields(graphic), " "))
	return string(line[:min(len(line), most)])
}

// Package notify shows desktop notifications where cards cannot be shown: in a Wayland
// session with neither an X server nor layer-shell. Notifications may stay in lists and on
// lock screens, so they contain neither number nor name.
package notify

import (
	"errors"
	"strings"

	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/text"
)

// ErrUnsupported is returned by Open if there are no notifications of this kind.
var ErrUnsupported = errors.New("no notifications on this desktop")

// ErrClosed is returned after Close or when the desktop is gone.
var ErrClosed = errors.New("notifications closed")

// Notice is the plain text of a notification.
type Notice struct {
	Summary string
	Body    string
	// Category is one of the desktop's standard categories, "" for none.
	Category string
	// Actions are the buttons. The one with the key Default stands for a click on the
	// notification itself. Desktops without button support show none.
	Actions []Action
}

// Action is a button.
type Action struct{ Key, Label string }

// The keys of IncomingCall's buttons.
const (
	Default = "default"
	Dismiss = "dismiss"
)

// IncomingCall returns a notice of a call without anything about the caller. It names the
// line, which is ours, unless line is empty.
func IncomingCall(lang text.Language, line string) Notice {
	n := Notice{Summary: lang.T(text.NotifyIncoming), Category: "call.incoming", Actions: []Action{
		{Default, lang.T(text.NotifyOpen)}, {Dismiss, lang.T(text.NotifyClose)},
	}}
	if line = clean(line, maxText); line != "" {
		n.Summary = lang.T(text.NotifyIncomingLine, line)
	}
	return n
}

// Maximum length in characters of a summary or button, which may
// include the name of a line, and of a body.
const (
	maxText = 120
	maxBody = 1000
)

// clean reduces a text to one line of at most most characters, without characters that change
// the direction or position of the text after them.
func clean(s string, most int) string {
	line := []rune(strings.Join(strings.Fields(displaytext.StripHidden(s)), " "))
	return string(line[:min(len(line), most)])
}

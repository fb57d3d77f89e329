// Package widgets is what the windows have in common: the Host, through which each
// reaches the program and the other windows, and the widgets, layouts and measures
// that they are made of. A window is a package of its own beside this one; it imports
// widgets and no other window, and asks for another by its name in windowapi.
//
// The Host owns which windows are open, the language, and what the resident last
// said of its status and of the sources of calls. Each window owns what it shows. All of it
// belongs to Fyne's thread; what runs on another goroutine hands over by Post.
package widgets

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"fyne.io/fyne/v2"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
)

// Params are what the windows need from outside.
type Params struct {
	App     fyne.App
	Dirs    profile.Dirs // of the profile whose windows these are
	Program Program
	// Go runs work off the UI thread, on a goroutine whose context ends with the
	// windows; what it finds out it hands over by Post.
	Go          func(work func(context.Context))
	Post        func(func())             // to the UI thread, without waiting
	Send        func(kind string, m any) // to the resident, without waiting, from any goroutine
	ReadHistory func()                   // the history should be read again, without waiting, from any goroutine
	Now         func() time.Time
	After       func(time.Duration, func()) // runs it later, on any goroutine
	Log         *slog.Logger
}

// Program is ourselves.
type Program struct {
	Version, Commit string
	ProfileDir      string // as given on the command line
}

// Host holds the open windows by their names in windowapi, and what each needs of the
// program and of the others. Only for the UI thread.
type Host struct {
	Params
	Lang    text.Language
	Welcome windowapi.Welcome  // the resident's last one, with its last status
	Sources *windowapi.Sources // how the sources of calls are doing, nil until the resident said so
	Openers map[string]Opener  // all windows that there are; set once, before the first is shown

	pages map[string]Page
	reuse fyne.Window // to be built anew instead of a new one, nil mostly
}

// NewHost has no windows yet and looks as the welcome says; Openers is still to be
// set.
func NewHost(p Params, w windowapi.Welcome) *Host {
	return &Host{Params: p, Lang: text.Language(w.Language), Welcome: w, pages: map[string]Page{}}
}

// Copy puts a text on the clipboard. On X11 what a program has copied goes with it,
// so the resident, which stays, copies it too.
func (h *Host) Copy(s string) {
	h.App.Clipboard().SetContent(s)
	h.Send(windowapi.KindCopy, windowapi.Copy{Text: s})
}

// Window makes a window of ours with a content.
func (h *Host) Window(title text.Key, content fyne.CanvasObject, size fyne.Size) fyne.Window {
	name := h.Lang.T(title) + " – Wiebelt"
	if w := h.reuse; w != nil { // stays where it is, and as large as it was made
		w.SetTitle(name)
		w.SetContent(fitting(content, size, h.Welcome.WorkArea))
		return w
	}
	w := h.App.NewWindow(name)
	w.SetPadded(false)
	w.SetContent(fitting(content, size, h.Welcome.WorkArea))
	h.place(w, size)
	w.Canvas().SetOnTypedKey(OnEscape(w.Close))
	return w
}

// Handle does what a message of the resident asks. Kinds of a newer resident
// are passed over.
func (h *Host) Handle(kind string, raw json.RawMessage) {
	switch kind {
	case windowapi.KindWelcome:
		var m windowapi.Welcome
		if h.Decode(kind, raw, &m) {
			h.follow(m)
			h.pass(kind, raw)
		}
	case windowapi.KindStatus:
		var m windowapi.Status
		if h.Decode(kind, raw, &m) {
			h.Welcome.Status = m
			tell(h, statusKeeper.StatusChanged)
		}
	case windowapi.KindChanged:
		var m windowapi.Changed
		if h.Decode(kind, raw, &m) {
			h.pass(kind, raw)
			h.ReadHistory()
		}
	case windowapi.KindShow:
		var m windowapi.Show
		if h.Decode(kind, raw, &m) {
			h.Welcome.WorkArea = m.WorkArea
			h.ShowAt(m.Window, m.Place)
		}
	case windowapi.KindSources:
		var m windowapi.Sources
		if h.Decode(kind, raw, &m) {
			h.Sources = &m
			tell(h, sourcesKeeper.SourcesChanged)
		}
	case windowapi.KindQuit:
		h.App.Quit()
	default:
		h.pass(kind, raw)
	}
}

// pass hands a message to the windows that may want it.
func (h *Host) pass(kind string, raw json.RawMessage) {
	tell(h, func(t taker) { t.Take(kind, raw) })
}

// Later does something on the UI thread when a time has passed.
func (h *Host) Later(d time.Duration, do func()) { h.After(d, func() { h.Post(do) }) }

// Shortly shows a value until a time has passed or another one takes its place.
func Shortly[T comparable](h *Host, d time.Duration, at *T, value T, show func()) {
	*at = value
	show()
	h.Later(d, func() {
		if *at == value {
			*at = *new(T)
			show()
		}
	})
}

// Work does something for a window off the UI thread until it is done, end is
// called or the windows end. What it hands over by post runs on the UI thread, but
// not after end.
func (h *Host) Work(do func(ctx context.Context, post func(func()))) (end context.CancelFunc) {
	ended, end := context.WithCancel(context.Background())
	h.Go(func(ctx context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(ended, cancel)()
		do(ctx, func(f func()) {
			h.Post(func() {
				if ended.Err() == nil {
					f()
				}
			})
		})
	})
	return end
}

// Settings are what holds for the profile now, as its file and the policy say. It waits
// for the disk: it belongs into Go.
func (h *Host) Settings() *settings.Settings {
	s, _ := settings.Load(h.Dirs) // what is wrong in it the settings window says
	return s
}

// Changed has the resident follow what a window has just changed on disk.
func (h *Host) Changed(what string) { h.Send(windowapi.KindChanged, windowapi.Changed{What: what}) }

// Decode reads a message, and logs the kind of one that cannot be read.
func (h *Host) Decode(kind string, raw json.RawMessage, into any) bool {
	if err := json.Unmarshal(raw, into); err != nil {
		h.Log.Warn("message cannot be read", "kind", kind) // the error would quote it
		return false
	}
	return true
}

// OpenWords are those of the button that opens a customer file.
func (h *Host) OpenWords() string { return h.Lang.OpenFile(h.Welcome.FileWord) }

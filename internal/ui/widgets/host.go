// Package widgets is what the windows share: the Host, which connects each to the program
// and the other windows, and their widgets, layouts and measures. Each window is its own
// package, which imports widgets and no other window, and opens others by their names in
// windowapi.
//
// The Host owns the open windows, the language, and the resident's last report on its
// status and the sources of calls. Each window owns what it shows. Everything belongs to
// Fyne's thread; other goroutines return results with Post.
package widgets

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
)

// Params are the windows' dependencies.
type Params struct {
	App     fyne.App
	Dirs    profile.Dirs // of the windows' profile
	Program Program
	// Go runs work off the UI thread, on a goroutine whose context ends with the windows;
	// results are returned with Post.
	Go          func(work func(context.Context))
	Post        func(func())             // to the UI thread, without blocking
	Send        func(kind string, m any) // to the resident, without blocking, from any goroutine
	ReadHistory func()                   // has the history read again, without blocking, from any goroutine
	Now         func() time.Time
	After       func(time.Duration, func()) // runs it later, on any goroutine
	Log         *slog.Logger
}

// Program describes this program.
type Program struct {
	Version, Commit string
	ProfileDir      string // as given on the command line
}

// Host holds the open windows by their names in windowapi, and what each needs from the
// program and the others. Only for the UI thread.
type Host struct {
	Params
	Lang    text.Language
	Welcome windowapi.Welcome  // the resident's last one, with its last status
	Sources *windowapi.Sources // state of the sources of calls, nil until reported by the resident
	Openers map[string]Opener  // all windows that there are; set once, before the first is shown

	pages map[string]Page
	reuse fyne.Window // to be rebuilt instead of opening a new one, usually nil
	shown map[any]int // how often each variable of ShowFor was set, while it is
	asked int         // lookups that windows have asked for
	read  atomic.Pointer[settings.Settings]
}

// NewHost returns a Host without windows that follows the welcome; Openers
// must still be set.
func NewHost(p Params, w windowapi.Welcome) *Host {
	return &Host{Params: p, Lang: text.Language(w.Language), Welcome: w, pages: map[string]Page{}, shown: map[any]int{}}
}

// Window creates one of our windows.
func (h *Host) Window(title text.Key, content fyne.CanvasObject, size fyne.Size) fyne.Window {
	name := h.Lang.T(title) + " – Wiebelt"
	if w := h.reuse; w != nil { // keeps its position and size
		w.SetTitle(name)
		w.SetContent(limitMinSize(content, size, h.Welcome.WorkArea))
		return w
	}
	w := h.App.NewWindow(name)
	w.SetPadded(false)
	w.SetContent(limitMinSize(content, size, h.Welcome.WorkArea))
	h.place(w, size)
	w.Canvas().SetOnTypedKey(OnEscape(w.Close))
	return w
}

// Handle processes a message of the resident. Kinds of a newer resident are ignored.
func (h *Host) Handle(kind string, raw json.RawMessage) {
	switch kind {
	case windowapi.KindWelcome:
		var m windowapi.Welcome
		if h.Decode(kind, raw, &m) {
			h.applyWelcome(m)
			h.broadcast(kind, raw)
		}
	case windowapi.KindStatus:
		var m windowapi.Status
		if h.Decode(kind, raw, &m) {
			h.Welcome.Status = m
			forEachPage(h, statusListener.StatusChanged)
		}
	case windowapi.KindChanged:
		var m windowapi.Changed
		if h.Decode(kind, raw, &m) {
			h.broadcast(kind, raw)
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
			forEachPage(h, sourcesListener.SourcesChanged)
		}
	case windowapi.KindQuit:
		h.App.Quit()
	default:
		h.broadcast(kind, raw)
	}
}

// broadcast hands a message to the windows that may want it.
func (h *Host) broadcast(kind string, raw json.RawMessage) {
	forEachPage(h, func(t messageHandler) { t.HandleMessage(kind, raw) })
}

// Later calls do on the UI thread after a delay.
func (h *Host) Later(d time.Duration, do func()) { h.After(d, func() { h.Post(do) }) }

// ShowFor shows a value for a while, or until it is replaced, even by the same value.
func ShowFor[T any](h *Host, d time.Duration, at *T, value T, show func()) {
	*at = value
	h.shown[at]++
	n := h.shown[at]
	show()
	h.Later(d, func() {
		if h.shown[at] == n {
			delete(h.shown, at)
			*at = *new(T)
			show()
		}
	})
}

// Work runs do for a window off the UI thread until it returns, end is called or the
// windows end. Functions passed to post run on the UI thread, but not after end.
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

// NextLookup numbers a window's next lookup. The numbers outlive the windows: a late answer
// to a closed one must not fit the question of the next.
func (h *Host) NextLookup() int {
	h.asked++
	return h.asked
}

// Settings returns the profile's effective settings, from its file and the policy; as in the
// resident, a file that cannot be read leaves the last ones in force. It waits for the disk:
// run it in Go.
func (h *Host) Settings() *settings.Settings {
	s := h.read.Load()
	if s == nil {
		s, _ = settings.Load(h.Dirs) // the settings window reports errors in it
	} else {
		s, _ = s.Reload(h.Dirs, true)
	}
	h.read.Store(s)
	return s
}

// NotifyChanged tells the resident what a window has just changed on disk.
func (h *Host) NotifyChanged(what string) {
	h.Send(windowapi.KindChanged, windowapi.Changed{What: what})
}

// Decode decodes a message; if it is invalid, only its kind is logged.
func (h *Host) Decode(kind string, raw json.RawMessage, into any) bool {
	if err := json.Unmarshal(raw, into); err != nil {
		h.Log.Warn("message cannot be read", "kind", kind) // the error would quote it
		return false
	}
	return true
}

// OpenWords returns the label of the button that opens a customer file.
func (h *Host) OpenWords() string { return h.Lang.OpenFileLabel(h.Welcome.FileWord) }

package widgets

import (
	"encoding/json"
	"reflect"

	"fyne.io/fyne/v2"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
)

// Page is an open window. It may also implement any of the interfaces below.
type Page interface{ Window() fyne.Window }

type (
	// messageHandler receives the resident's messages and ignores kinds it does not handle.
	messageHandler interface {
		HandleMessage(kind string, raw json.RawMessage)
	}
	// closer is notified when its window has closed.
	closer interface{ Closed() }
	// placeShower can show a place in its window: a page, a number.
	placeShower interface{ ShowAt(place string) }
	// statusListener shows the status of the welcome.
	statusListener interface{ StatusChanged() }
	// sourcesListener shows the sources of calls.
	sourcesListener interface{ SourcesChanged() }
)

// Opener creates a page with its window. It is called when a window opens, and again to
// rebuild an open one in place: the registry then still has the old page.
type Opener func(*Host) Page

// Page returns the open window of that name, nil if it is closed.
func (h *Host) Page(name string) Page { return h.pages[name] }

// Has reports whether a window of that name exists.
func (h *Host) Has(name string) bool { return h.Openers[name] != nil }

// Show opens a window, or brings it to the front. Unknown names of a newer
// resident open the calls.
func (h *Host) Show(name string) {
	if !h.Has(name) {
		name = windowapi.WindowCalls
	}
	if h.pages[name] == nil {
		p := h.Openers[name](h)
		h.pages[name] = p
		p.Window().SetOnClosed(func() {
			if c, ok := h.pages[name].(closer); ok {
				c.Closed()
			}
			delete(h.pages, name)
		})
	}
	w := h.pages[name].Window()
	w.Show()
	w.RequestFocus()
}

// ShowAt shows a window at a place in it, "" for its start, and reports whether
// any window is visible. The resident is notified, because it ends a process whose
// windows are never shown.
func (h *Host) ShowAt(name, place string) bool {
	h.Show(name)
	if len(h.App.Driver().AllWindows()) == 0 {
		return false
	}
	h.Send(windowapi.KindPainted, nil)
	if p, ok := h.pages[name].(placeShower); ok && place != "" {
		p.ShowAt(place)
	}
	return true
}

// applyWelcome applies the welcome's language and appearance. Windows are rebuilt in place;
// unsent input is lost, but only when the user has just changed language or appearance.
func (h *Host) applyWelcome(m windowapi.Welcome) {
	was := h.Welcome
	m.Window = was.Window
	h.Welcome, h.Lang = m, text.Language(m.Language)
	if was.Theme != m.Theme {
		h.App.Settings().SetTheme(theme.New(m.Theme))
	}
	if was.Language != m.Language {
		if err := TranslateBuiltin(h.Lang); err != nil {
			h.Log.Warn("the toolkit's own words stay untranslated", "error", err)
		}
	}
	was.Theme, was.Status, was.WorkArea = m.Theme, m.Status, m.WorkArea
	forEachPage(h, statusListener.StatusChanged)
	if reflect.DeepEqual(was, m) {
		return
	}
	defer func() { h.reuse = nil }()
	for name, p := range h.pages {
		h.reuse = p.Window()
		h.pages[name] = h.Openers[name](h)
	}
}

// forEachPage calls do for every open window that is a T.
func forEachPage[T any](h *Host, do func(T)) {
	for _, p := range h.pages {
		if k, ok := p.(T); ok {
			do(k)
		}
	}
}

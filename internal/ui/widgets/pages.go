package widgets

import (
	"encoding/json"
	"reflect"

	"fyne.io/fyne/v2"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
)

// Page is an open window. It may be any of the interfaces below besides.
type Page interface{ Window() fyne.Window }

type (
	// taker takes the messages of the resident that are about it.
	taker interface {
		Take(kind string, raw json.RawMessage)
	}
	// closer is told when its window has closed.
	closer interface{ Closed() }
	// placed can show a place in it: a page, a number.
	placed interface{ ShowAt(place string) }
	// statusKeeper shows the status of the welcome.
	statusKeeper interface{ StatusChanged() }
	// waysKeeper shows the ways in.
	sourcesKeeper interface{ SourcesChanged() }
)

// Opener makes a page with its window. It is called for a window that opens, and
// again for an open one that is to be built anew where it stands: the registry
// then still has the page before.
type Opener func(*Desk) Page

// Page is the open window of that name, nil if it is closed.
func (d *Desk) Page(name string) Page { return d.pages[name] }

// Has tells whether there is a window of that name.
func (d *Desk) Has(name string) bool { return d.Openers[name] != nil }

// Show opens a window, or brings it to the front. Unfamiliar names of a newer
// resident mean the calls.
func (d *Desk) Show(name string) {
	if !d.Has(name) {
		name = windowapi.WindowCalls
	}
	if d.pages[name] == nil {
		p := d.Openers[name](d)
		d.pages[name] = p
		p.Window().SetOnClosed(func() {
			if c, ok := d.pages[name].(closer); ok {
				c.Closed()
			}
			delete(d.pages, name)
		})
	}
	w := d.pages[name].Window()
	w.Show()
	w.RequestFocus()
}

// ShowAt shows a window at a place in it.
func (d *Desk) ShowAt(name, place string) {
	d.Show(name)
	if p, ok := d.pages[name].(placed); ok && place != "" {
		p.ShowAt(place)
	}
}

// follow takes over how the windows have to look now. They are built anew where
// they stand; what was typed into them and not sent is gone, which happens only
// when somebody has just changed language or looks.
func (d *Desk) follow(m windowapi.Welcome) {
	was := d.Welcome
	m.Window = was.Window
	d.Welcome, d.Lang = m, text.Language(m.Language)
	if was.Theme != m.Theme {
		d.App.Settings().SetTheme(theme.New(m.Theme))
	}
	if was.Language != m.Language {
		if err := TranslateBuiltin(d.Lang); err != nil {
			d.Log.Warn("the toolkit's own words stay untranslated", "error", err)
		}
	}
	was.Theme, was.Status, was.Room = m.Theme, m.Status, m.Room
	d.statusChanged()
	if reflect.DeepEqual(was, m) {
		return
	}
	defer func() { d.reuse = nil }()
	for name, p := range d.pages {
		d.reuse = p.Window()
		d.pages[name] = d.Openers[name](d)
	}
}

func (d *Desk) statusChanged() {
	for _, p := range d.pages {
		if k, ok := p.(statusKeeper); ok {
			k.StatusChanged()
		}
	}
}

func (d *Desk) waysChanged() {
	for _, p := range d.pages {
		if k, ok := p.(sourcesKeeper); ok {
			k.SourcesChanged()
		}
	}
}

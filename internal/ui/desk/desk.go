// Package desk is the windows of the windows program, a file or a few for each.
// Everything in them happens on Fyne's thread; the package's goroutines (one
// that receives from the resident, one that sends to it, one that reads the
// history) belong to Run, hand over with fyne.Do and end with it. The windows
// only show and ask: whatever changes a file or the clipboard is a message to
// the resident.
package desk

import (
	"encoding/json"
	"image"
	"log/slog"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
	"wiebelt/internal/text"
)

// params are what the windows need from outside.
type params struct {
	app   fyne.App
	post  func(func())             // to the UI thread, without waiting
	send  func(kind string, m any) // to the resident, without waiting
	kick  func()                   // the history should be read again, without waiting
	now   func() time.Time
	after func(time.Duration, func()) // runs it later, on any goroutine
	log   *slog.Logger
}

// reading is the state of the history.
type reading uint8

const (
	readingNot reading = iota // not read yet
	readingOK
	readingFailed
)

// windows is all that is on screen. Only for the UI thread.
type windows struct {
	params
	lang    text.Language
	welcome deskapi.Welcome

	calls   *callsWindow    // nil while it is closed
	demo    *demoWindow     // nil while it is closed
	recipes *recipesWindow  // nil while it is closed
	pages   map[string]page // the other open windows, by their names in deskapi
	ways    *deskapi.Ways   // how the ways in are doing, nil until the resident said so
	reuse   fyne.Window     // to be built anew instead of a new one, nil mostly
	painted bool

	entries []history.Entry // newest first
	state   reading
}

func newWindows(p params, w deskapi.Welcome) *windows {
	return &windows{params: p, lang: text.Language(w.Language), welcome: w, pages: map[string]page{}}
}

// show opens a window, or brings it to the front. Unfamiliar names of a newer
// resident mean the calls.
func (d *windows) show(name string) {
	if name == deskapi.WindowDemo {
		if d.demo == nil {
			d.demo = newDemoWindow(d)
			d.demo.win.SetOnClosed(func() { d.demo = nil })
		}
		raise(d.demo.win)
		return
	}
	if name == deskapi.WindowRecipes {
		if d.recipes == nil {
			d.recipes = newRecipesWindow(d)
			d.recipes.win.SetOnClosed(func() { d.recipes = nil }) // and the tokens with it
		}
		raise(d.recipes.win)
		return
	}
	if open := openers[name]; open != nil {
		if d.pages[name] == nil {
			p := open(d)
			d.pages[name] = p
			p.window().SetOnClosed(func() {
				if c, ok := d.pages[name].(interface{ closed() }); ok {
					c.closed()
				}
				delete(d.pages, name)
			})
		}
		raise(d.pages[name].window())
		return
	}
	if d.calls == nil {
		d.calls = newCallsWindow(d)
		d.calls.win.SetOnClosed(func() { d.calls = nil })
	}
	raise(d.calls.win)
}

func raise(w fyne.Window) {
	w.Show()
	w.RequestFocus()
}

// window makes a window of ours with a content; the first frame of the first
// window is reported to the resident.
func (d *windows) window(title text.Key, content fyne.CanvasObject, size fyne.Size) fyne.Window {
	name := d.lang.T(title) + " – Wiebelt"
	if w := d.reuse; w != nil { // stays where it is, and as large as it was made
		w.SetTitle(name)
		w.SetContent(content)
		return w
	}
	w := d.app.NewWindow(name)
	w.SetPadded(false)
	if !d.painted {
		content = container.NewStack(content, d.probe())
	}
	w.SetContent(content)
	w.Resize(size)
	w.CenterOnScreen()
	return w
}

// probe is one transparent pixel that reports when it is painted. Fyne tells
// nobody that a window is really on screen, and where there is no OpenGL it
// lives on without one.
func (d *windows) probe() fyne.CanvasObject {
	pixel := canvas.NewRaster(func(width, height int) image.Image {
		d.post(func() { // once this frame is done
			if !d.painted {
				d.painted = true
				d.send(deskapi.KindPainted, nil)
			}
		})
		return image.NewNRGBA(image.Rect(0, 0, width, height))
	})
	pixel.Resize(fyne.NewSquareSize(1))
	return container.NewWithoutLayout(pixel)
}

// read takes over what a reading of the history gave.
func (d *windows) read(all []history.Entry, err error) {
	if err != nil {
		d.log.Warn("history cannot be read", "error", err)
		d.state = readingFailed // what was read before is still shown
	} else {
		d.entries, d.state = all, readingOK
	}
	if d.calls != nil {
		d.calls.refresh()
	}
}

// handle does what a message of the resident asks. Kinds of a newer resident
// are passed over.
func (d *windows) handle(kind string, raw json.RawMessage) {
	if area, _, ok := strings.Cut(kind, "."); ok {
		if p := d.pages[area]; p != nil {
			p.take(kind, raw)
		}
		return
	}
	switch kind {
	case deskapi.KindWelcome:
		var m deskapi.Welcome
		if d.decode(kind, raw, &m) {
			d.follow(m)
		}
	case deskapi.KindStatus:
		var m deskapi.Status
		if d.decode(kind, raw, &m) {
			d.welcome.Status = m
			if d.calls != nil {
				d.calls.showStatus()
			}
		}
	case deskapi.KindHistory:
		d.kick()
	case deskapi.KindShow:
		var m deskapi.Show
		if d.decode(kind, raw, &m) {
			d.show(m.Window)
		}
	case deskapi.KindPlayed:
		var m deskapi.Played
		if d.decode(kind, raw, &m) && d.demo != nil {
			d.demo.played(m)
		}
	case deskapi.KindRecipes:
		var m deskapi.Recipes
		if d.recipes != nil && d.decode(kind, raw, &m) {
			d.recipes.take(m)
		}
	case deskapi.KindWays:
		var m deskapi.Ways
		if d.decode(kind, raw, &m) {
			d.takeWays(m)
		}
	case deskapi.KindQuit:
		d.app.Quit()
	}
}

func (d *windows) decode(kind string, raw json.RawMessage, into any) bool {
	if err := json.Unmarshal(raw, into); err != nil {
		d.log.Warn("message cannot be read", "kind", kind) // the error would quote it
		return false
	}
	return true
}

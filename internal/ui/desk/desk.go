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
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"wiebelt/internal/deskapi"
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

// windows is all that is on screen: the open windows by their names in deskapi,
// and the way from each to the program and to the others. Only for the UI thread.
type windows struct {
	params
	lang    text.Language
	welcome deskapi.Welcome   // the resident's last one, with its last status
	ways    *deskapi.Ways     // how the ways in are doing, nil until the resident said so
	openers map[string]opener // all windows that there are; set once, before the first is shown

	pages   map[string]page
	reuse   fyne.Window // to be built anew instead of a new one, nil mostly
	painted bool
}

func newWindows(p params, w deskapi.Welcome) *windows {
	return &windows{params: p, lang: text.Language(w.Language), welcome: w, pages: map[string]page{}}
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

// handle does what a message of the resident asks. Kinds of a newer resident
// are passed over.
func (d *windows) handle(kind string, raw json.RawMessage) {
	if area, _, ok := strings.Cut(kind, "."); ok {
		d.pass(area, kind, raw)
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
			d.statusChanged()
		}
	case deskapi.KindHistory:
		d.kick()
	case deskapi.KindShow:
		var m deskapi.Show
		if d.decode(kind, raw, &m) {
			d.show(m.Window)
		}
	case deskapi.KindPlayed:
		d.pass(deskapi.WindowDemo, kind, raw)
	case deskapi.KindRecipes:
		d.pass(deskapi.WindowRecipes, kind, raw)
	case deskapi.KindWays:
		var m deskapi.Ways
		if d.decode(kind, raw, &m) {
			d.ways = &m
			d.waysChanged()
		}
	case deskapi.KindQuit:
		d.app.Quit()
	}
}

// pass hands a message to the window it is for, if that is open.
func (d *windows) pass(name, kind string, raw json.RawMessage) {
	if p := d.pages[name]; p != nil {
		p.Take(kind, raw)
	}
}

// decode reads a message, and logs the kind of one that cannot be read.
func (d *windows) decode(kind string, raw json.RawMessage, into any) bool {
	if err := json.Unmarshal(raw, into); err != nil {
		d.log.Warn("message cannot be read", "kind", kind) // the error would quote it
		return false
	}
	return true
}

// fileWord is what a customer file is called here (ui.file_word).
func fileWord(l text.Language, word string) string {
	switch word {
	case "klantkaart":
		return l.T(text.CardWordKlantkaart)
	case "dossier":
		return l.T(text.CardWordDossier)
	}
	return l.T(text.CardWordRelatie)
}

// openWords are those of the button that opens a customer file.
func (d *windows) openWords() string {
	r := []rune(d.lang.T(text.CardButtonOpen, fileWord(d.lang, d.welcome.FileWord)))
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}

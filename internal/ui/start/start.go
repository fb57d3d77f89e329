// Package start has the windows of the first start: one that asks for the card's corner,
// the language and a test call, and one with only a test call.
//
// The windows own the state of a test call, which the resident waits for; choices are
// written to the settings and take effect at once. Everything belongs to Fyne's thread;
// settings and phones are read and written off it, one answer after the other.
package start

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

const (
	leastWidth = 392 // minimum width of the windows
	signBelow  = 5   // of a mark beside a line, from the line's top
)

// joining is the value of w.connecting while a code is being used.
const joining = "relay"

// window asks three things at the first start: where the card appears, the language, and
// whether a call gets through. Each answer takes effect at once.
type window struct {
	host       *widgets.Host
	win        fyne.Window
	picker     *cornerPicker
	hint       *fyne.Container // beside the picker
	language   *fyne.Container
	join       *fyne.Container // asks for a relay's code, empty if there is none to join
	code       *widgets.Field
	phones     *fyne.Container
	failed     *widgets.Slot
	hubNotice  *widgets.Slot   // says that there are no names yet
	admins     *fyne.Container // below "Voor beheerders", empty while it is shut
	more       *widgets.Button
	open       bool // the administrators' part
	scroll     *container.Scroll
	panel      *testPanel
	state      *state             // nil until it was read
	connecting string             // the phone being connected, or joining
	notJoined  string             // why the code was not accepted
	end        context.CancelFunc // cancels reading the state
	last       chan struct{}      // closed when the last answer was saved
}

// Open opens the window of the first start.
func Open(host *widgets.Host) widgets.Page {
	l := host.Lang
	w := &window{host: host, language: container.New(layout.NewCustomPaddedHBoxLayout(8)), hint: container.NewStack(),
		join: container.NewStack(), phones: widgets.Column(8), failed: widgets.NewSlot(), hubNotice: widgets.NewSlot(),
		admins: widgets.Column(8), end: func() {}, last: make(chan struct{})}
	close(w.last)
	w.code = w.newCode()
	w.picker = newCornerPicker(l, func(corner string) {
		w.answer("card.corner", corner, func() { host.Send(windowapi.KindTest, windowapi.Test{Action: windowapi.TestCard}) })
	})
	w.panel = newTestPanel(host, windowapi.WindowStart, widget.MediumImportance)
	w.panel.onResult = w.scrollToTestCall

	body := widgets.Column(16,
		widgets.Column(8,
			widgets.Title(l.T(text.StartHello)), widgets.Paragraph(l.T(text.StartIntro)), w.hubNotice.WithGap(), w.join),
		question(1, l.T(text.StartCorner), container.New(widgets.Columns(screenWidth+20), w.picker, w.hint)),
		widget.NewSeparator(),
		question(2, l.T(text.StartLanguage), widgets.Padded(-6, -6, -8, 0, w.language)),
		widget.NewSeparator(),
		question(3, l.T(text.StartCall), widgets.Column(12, w.phones, container.NewHBox(w.panel.button), w.panel.content)),
		w.failed.WithGap(), w.admins)
	w.scroll = container.NewVScroll(widgets.Padded(20, 16, widgets.Edge, widgets.Edge, body))

	w.more = widgets.NewQuiet(l.T(text.StartAdmins), w.toggleAdmins)
	done := widgets.NewPrimary(l.T(text.StartDone), func() { w.win.Close() })
	foot := widgets.Footer(container.NewBorder(nil, nil, w.more, container.New(widgets.AtLeast(96), done)))
	w.win = host.Window(text.StartTitle, container.New(widgets.AtLeast(leastWidth), container.NewBorder(nil, foot, nil, nil, w.scroll)), fyne.NewSize(640, 696))
	if old, ok := host.Page(windowapi.WindowStart).(*window); ok { // the same in another language
		old.end()
		w.state, w.open, w.last = old.state, old.open, old.last
		w.panel.takeOver(old.panel.call)
		w.code.SetText(old.code.Text)
		w.fill()
	}
	host.Send(windowapi.KindSources, nil)
	w.read()
	return w
}

// Window implements widgets.Page.
func (w *window) Window() fyne.Window { return w.win }

// Closed implements widgets.Page's closer.
func (w *window) Closed() {
	w.end()
	w.panel.stop()
}

// HandleMessage implements widgets.Page's messageHandler.
func (w *window) HandleMessage(kind string, raw json.RawMessage) { w.panel.handleMessage(kind, raw) }

// SourcesChanged updates the state of the phones.
func (w *window) SourcesChanged() { w.read() }

func (w *window) read() {
	w.end()
	host, l, sources := w.host, w.host.Lang, w.host.Sources
	w.end = host.Work(func(ctx context.Context, post func(func())) {
		s := readState(ctx, host.Dirs, l, sources)
		post(func() { w.setState(s) })
	})
}

func (w *window) setState(s state) {
	if w.state == nil || !reflect.DeepEqual(*w.state, s) { // else one of its widgets may have the keyboard
		w.state = &s
		w.fill()
	}
}

// answer saves a choice, then calls then.
func (w *window) answer(key, value string, then func()) {
	host, l := w.host, w.host.Lang
	w.enqueue(func(ctx context.Context) string {
		before := host.Settings()
		if _, err := hubtrial.Save(ctx, host.Dirs, before, hubtrial.SaveRequest{Changes: map[string]any{key: value}}); err != nil {
			host.Log.Warn("an answer was not kept", "why", err)
			return l.T(text.StartFailed, l.Support(before.Support.Contact))
		}
		return ""
	}, then)
}

// enqueue calls do off the UI thread once earlier work is done, and then calls then
// unless something failed.
func (w *window) enqueue(do func(context.Context) (failed string), then func()) {
	before, done := w.last, make(chan struct{})
	w.last = done
	host := w.host
	host.Go(func(ctx context.Context) { // the answer is saved even if the window closes
		defer close(done)
		<-before
		failed := do(ctx)
		host.Post(func() {
			if failed == "" {
				host.NotifyChanged(windowapi.ChangedSettings)
				then()
			}
			if host.Page(windowapi.WindowStart) == widgets.Page(w) {
				if w.last == done { // nothing else was asked for since
					w.connecting = ""
				}
				w.failed.Trouble(failed)
				if w.state != nil {
					w.state.stale = true
				}
				w.read()
			}
		})
	})
}

func (w *window) fill() {
	s, l := w.state, w.host.Lang
	if s == nil {
		return
	}
	locked := s.set.Locked("card.corner")
	w.picker.set(s.set.Card.Corner, locked)
	widgets.Fill(w.hint, widgets.Paragraph(l.T(widgets.Either(locked, text.StartByPolicy, text.StartCornerHint))))
	w.fillJoin()
	w.fillLanguage()
	w.fillPhones()
	unset := ""
	if !s.setUp && !s.join {
		unset = l.T(text.StartUnset, l.Support(s.set.Support.Contact))
	}
	w.hubNotice.Trouble(unset)
	w.fillAdmins()
	w.scroll.Refresh()
}

func (w *window) fillLanguage() {
	s, l := w.state, w.host.Lang
	w.language.Objects = nil
	if s.set.Locked("ui.language") {
		said := widgets.NewTextLine(l.T(text.StartByPolicy), theme.SizeHint, base.ColorNamePlaceHolder, false)
		w.language.Add(widgets.Padded(6, 6, 8, 0, said)) // where an option has its ring
	} else {
		for _, c := range []struct {
			language text.Language
			name     text.Key
		}{{text.Dutch, text.StartDutch}, {text.English, text.StartEnglish}} {
			w.language.Add(widgets.NewOption(l.T(c.name), fromsettings.Language(s.set) == c.language, func() {
				w.answer("ui.language", string(c.language), func() {})
			}))
		}
	}
	w.language.Refresh()
}

func (w *window) fillPhones() {
	s, l := w.state, w.host.Lang
	w.phones.Objects = nil
	for _, p := range s.phones {
		w.phones.Add(w.phone(p))
	}
	if len(s.phones) == 0 {
		how := widgets.NewButton(l.T(text.StartHow), func() { w.host.Show(windowapi.WindowRecipes) })
		w.phones.Add(widgets.Paragraph(l.T(text.StartCallNone)))
		w.phones.Add(container.NewHBox(how))
	}
	w.phones.Add(widgets.Paragraph(l.T(text.StartCallHint)))
	w.phones.Refresh()
}

// phone returns the line for a phone of this computer, with a button if
// there is something to do.
func (w *window) phone(p phone) fyne.CanvasObject {
	l := w.host.Lang
	m := widgets.MarkQuiet
	switch {
	case p.ok:
		m = widgets.MarkDot
	case p.connectable:
		m = widgets.MarkRing
	case p.recipe == "":
		m = widgets.MarkTrouble
	}
	var button *widgets.Button
	switch {
	case p.id == w.connecting:
		button = widgets.NewButton(l.T(text.StartConnecting), nil)
		button.Disable()
	case p.connectable:
		button = widgets.NewButton(l.T(text.StartConnect), func() {
			w.connecting = p.id
			w.fillPhones()
			host := w.host
			w.enqueue(func(ctx context.Context) string {
				return connect(ctx, host.Dirs, host.Program.ProfileDir, l, p.id, host.Log)
			}, func() {})
		})
	case !p.ok && p.recipe != "":
		button = widgets.NewButton(l.T(text.StartHow), func() {
			w.host.ShowAt(windowapi.WindowRecipes, p.recipe)
		})
	}
	side := fyne.CanvasObject(container.NewWithoutLayout())
	if button != nil {
		side = button
	}
	words := widgets.Column(2, widgets.Bold(p.name, base.SizeNameText), widgets.Paragraph(p.sentence))
	return widgets.NewFrame(widgets.Padded(8, 8, 12, 8, widgets.WithMark(m, signBelow, widgets.WithButton(words, side, 8))), true)
}

// scrollToTestCall scrolls the test call to the top as far as possible: its button,
// and the text below it.
func (w *window) scrollToTestCall() {
	w.win.Content().Refresh() // new text gets its height only now
	widgets.ScrollTo(w.scroll, widgets.OffsetIn(w.scroll, w.panel.button)-8)
}

func (w *window) toggleAdmins() {
	w.open = !w.open
	w.fillAdmins()
	w.scroll.Refresh()
	if w.open {
		w.scroll.ScrollToBottom()
	}
}

// fillAdmins shows the part about the hub, to those who opened it.
func (w *window) fillAdmins() {
	l := w.host.Lang
	w.admins.Objects = nil
	if w.open && w.state != nil {
		buttons := container.NewHBox()
		if w.host.Has(windowapi.WindowSettings) {
			buttons.Add(widgets.NewButton(l.T(text.StartAdminsOpen), func() { w.host.Show(windowapi.WindowSettings) }))
		}
		buttons.Add(widgets.NewButton(l.T(text.StartAdminsHelp), func() { w.host.Show(windowapi.WindowHelp) }))
		w.admins.Objects = []fyne.CanvasObject{widget.NewSeparator(),
			widgets.NewTextLine(l.T(text.StartAdmins), theme.SizeStart, base.ColorNameForeground, true),
			widgets.Hint(l.T(widgets.Either(w.state.setUp, text.StartAdminsSet, text.StartAdminsNot))), buttons}
	}
	w.admins.Refresh()
}

func question(n int, ask string, answer fyne.CanvasObject) fyne.CanvasObject {
	number := widgets.NewTextLine(strconv.Itoa(n), theme.SizeStart, base.ColorNamePrimary, true)
	return container.New(widgets.Columns(widgets.StepWidth), container.NewVBox(explore.Undescribed(number)),
		widgets.Column(12, widgets.Bold(ask, theme.SizeStart), answer))
}

// newCode returns an empty field; Enter acts like the button.
func (w *window) newCode() *widgets.Field {
	f := widgets.NewField()
	f.SetPlaceHolder(w.host.Lang.T(text.StartJoinCode))
	f.OnSubmitted = func(string) { w.useCode() }
	return f
}

// fillJoin asks for the code if there is a relay to join.
func (w *window) fillJoin() {
	w.join.Objects = nil
	if w.state.join {
		l, busy := w.host.Lang, w.connecting == joining
		button := widgets.NewPrimary(l.T(widgets.Either(busy, text.StartJoinBusy, text.StartJoinDo)), w.useCode)
		widgets.SetEnabled(button, !busy)
		body := widgets.Column(8, widgets.Bold(l.T(text.StartJoin), theme.SizeStart),
			widgets.Paragraph(l.T(text.StartJoinIntro)), w.code, container.NewHBox(button))
		if w.notJoined != "" {
			body.Add(widgets.Trouble(w.notJoined))
		}
		w.join.Objects = []fyne.CanvasObject{widgets.NewFrame(widgets.Padded(12, 12, 16, 16, body), true)}
	}
	w.join.Refresh()
}

func (w *window) useCode() {
	code := strings.TrimSpace(w.code.Text)
	if code == "" || w.connecting == joining {
		return
	}
	w.connecting, w.notJoined = joining, ""
	w.fillJoin()
	host, l := w.host, w.host.Lang
	why := ""
	w.enqueue(func(ctx context.Context) string {
		before := host.Settings()
		err := hubtrial.Join(ctx, host.Dirs, before, hubtrial.Relay{Code: code})
		var said *text.Error
		store := secret.StateOf(err)
		switch {
		case err == nil:
		case errors.As(err, &said):
			why = l.Error(said)
		case store != secret.Failed:
			why = l.T(text.SecretState(string(store)))
		default:
			host.Log.Warn("the relay was not joined", "why", err)
			why = l.T(text.StartFailed, l.Support(before.Support.Contact))
		}
		return ""
	}, func() {
		if w.notJoined = why; why == "" {
			w.code.SetText("")
			host.NotifyChanged(windowapi.ChangedSecret)
		}
	})
}

package driver

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/native/window"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/shottest"
	"wiebelt/internal/testutil/xtest"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// bench is a small window on its own server, run by the loop.
type bench struct {
	*xtest.Server
	t       *testing.T
	app     *App
	w       *frame
	entry   *widget.Entry
	button  *widget.Button
	list    *widgets.List
	label   *widget.Label
	taps    int
	dropped []string
	done    chan struct{}
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{Server: xtest.Start(t, "openbox", xtest.Options{}), t: t, done: make(chan struct{})}
	b.Enter()
	var err error
	if b.app, err = New(Options{Theme: base.DefaultTheme()}); err != nil {
		t.Fatal(err)
	}
	b.entry, b.label = widget.NewEntry(), widget.NewLabel("label")
	b.button = widget.NewButton("button", func() { b.taps++ })
	b.list = widgets.NewList(func() int { return 100 }, func() fyne.CanvasObject { return widget.NewLabel("") },
		func(i int, o fyne.CanvasObject) { o.(*widget.Label).SetText(fmt.Sprint("row ", i)) }, func(int) {})
	b.w = b.app.CreateWindow("bench").(*frame)
	b.w.SetContent(container.NewBorder(container.NewVBox(b.entry, b.button, b.label), nil, nil, nil, b.list))
	b.w.Resize(fyne.NewSize(400, 300))
	b.w.SetOnDropped(func(_ fyne.Position, all []fyne.URI) {
		for _, u := range all {
			b.dropped = append(b.dropped, u.Path())
		}
	})
	b.w.Canvas().Focus(b.entry)
	b.w.Show()
	go func() {
		defer close(b.done)
		b.app.Run()
	}()
	t.Cleanup(func() {
		b.app.Quit()
		<-b.done
	})
	b.until("the window has the keyboard", func() bool { return b.w.focused })
	return b
}

// do runs f on the loop.
func (b *bench) do(f func()) { b.app.DoFromGoroutine(f, true) }

// until waits for something that the loop sees.
func (b *bench) until(what string, ok func() bool, more ...func() []any) {
	b.t.Helper()
	b.Until(what, func() (is bool) {
		b.do(func() { is = ok() })
		return is
	}, more...)
}

// waitText waits until the entry contains exactly want, and empties it.
func (b *bench) waitText(what, want string) {
	b.t.Helper()
	got := ""
	b.until(what, func() bool { got = b.entry.Text; return got == want }, func() []any { return []any{fmt.Sprintf("%.80q, want %.80q", got, want)} })
	b.do(func() { b.entry.SetText("") })
}

// middle returns the middle of an object on the screen.
func (b *bench) middle(o fyne.CanvasObject) (p image.Point) {
	b.do(func() {
		r, err := b.w.native.Place()
		if err != nil {
			b.t.Error(err)
		}
		at := b.app.AbsolutePositionForObject(o)
		size := b.w.pixels(fyne.NewSize(at.X+o.Size().Width/2, at.Y+o.Size().Height/2))
		p = r.Min.Add(size)
	})
	return p
}

// TestLayouts types the keys of a keyboard by position into our entry and into
// other programs on the same desktop, and expects the same text from all. The
// output of Compose is compared with a terminal, which uses the desktop's rules
// as we do: GTK has its own, in which "Compose A _" is ª and there is no Ā.
func TestLayouts(t *testing.T) {
	b := newBench(t)
	term := b.Terminal(image.Rect(700, 400, 1100, 600))
	const shift, enter, compose = 50, 36, 135
	written := ""
	for _, layout := range [][]string{{"us"}, {"nl"}, {"de"}, {"us", "-variant", "intl"}} {
		b.Run("setxkbmap", append([]string{"-option", "", "-option", "compose:menu"}, layout...)...)
		keys := 0
		key := func(codes ...byte) {
			b.Press(codes...)
			keys++
		}
		letters := []byte{38, 26, 31, 32, 30, 57, 54, 39} // at these places: a e i o u n c s
		accents := []byte{48, 49, 21, 20, 59, 61, 58, 54} // ' ` = - , / m c
		rows := func() {
			keys += b.PressRows(len(layout) > 1 || layout[0] != "us", func() {})
			b.Press(enter)
		}
		composed := func() {
			for _, letter := range letters {
				for _, accent := range accents {
					key(compose)
					key(accent)
					key(letter)
					key(compose)
					key(shift, letter)
					key(shift, accent)
				}
			}
			b.Press(enter)
		}
		ours := func(press func()) (got string) {
			b.Run("wmctrl", "-a", "bench")
			b.until("the window has the keyboard", func() bool { return b.w.focused })
			submitted := make(chan struct{}, 1)
			b.do(func() { b.entry.OnSubmitted = func(string) { submitted <- struct{}{} } })
			keys = 0
			press()
			<-submitted
			b.do(func() { got = b.entry.Text; b.entry.SetText("") })
			return got
		}

		gtk := b.Command("yad", "--entry", "--title", "gtk")
		var out bytes.Buffer
		gtk.Stdout = &out
		must.Do(t, gtk.Start())
		b.Run("xdotool", "windowfocus", "--sync", b.FindWindow("^gtk$"))
		rows()
		must.Do(t, gtk.Wait())
		want := strings.NewReplacer("\n", "", "\u00ad", "").Replace(out.String()) // no hyphens that nobody sees
		if got := ours(rows); got != want {
			t.Errorf("%v:\n%q, GTK\n%q", layout, got, want)
		}
		pressed := keys

		term.Focus()
		composed()
		b.Until("the terminal has all", func() bool { return strings.HasSuffix(strings.TrimPrefix(term.Text(), written), "\r") })
		want = strings.TrimSuffix(strings.TrimPrefix(term.Text(), written), "\r")
		written = term.Text()
		if got := ours(composed); got != want {
			t.Errorf("%v, Compose:\n%q, the terminal\n%q", layout, got, want)
		}
		pressed += keys
		t.Logf("%v: %d keys", layout, pressed)
		if pressed < 500 {
			t.Errorf("%v: too few keys", layout)
		}
	}
}

// TestUse uses the window as people do, and checks that nothing runs once they have left it.
func TestUse(t *testing.T) {
	b := newBench(t)
	quiet := func() bool { return len(b.app.animations) == 0 }
	b.until("the caret blinks", func() bool { return !quiet() })

	// The clipboard: accents, text that arrives in pieces, and what is copied here.
	for _, text := range []string{"Zoë van der Straße — 12 €", strings.Repeat("0123456789abcdef", 1<<16)} {
		in := b.Command("xclip", "-i", "-quiet", "-selection", "clipboard")
		in.Stdin = strings.NewReader(text)
		must.Do(t, in.Start())
		b.Until("the other program has it", func() bool {
			out, err := b.Command("xclip", "-o", "-selection", "clipboard").Output()
			return err == nil && string(out) == text
		})
		if got := b.app.Clipboard().Content(); got != text {
			t.Errorf("%d bytes come as %d", len(text), len(got))
		}
		in.Process.Kill()
		in.Wait()
	}
	b.Type("copied", 0)
	b.Key("ctrl+a", "ctrl+c", "End", "ctrl+v")
	b.waitText("pasted", "copiedcopied")
	if got := b.Run("xclip", "-o", "-selection", "clipboard"); got != "copied" {
		t.Errorf("others paste %q", got)
	}

	// Tab and the space bar.
	b.Key("Tab", "space")
	b.until("the button is pressed", func() bool { return b.taps == 1 })

	// A widget that is no longer visible gets no keys.
	escaped := false
	b.do(func() {
		b.w.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) { escaped = escaped || e.Name == fyne.KeyEscape })
		b.w.Canvas().Focus(b.button)
		b.button.Hide()
	})
	b.Key("space", "Escape")
	b.until("Escape is the window's", func() bool { return escaped })
	b.do(func() {
		if b.taps != 1 {
			t.Error("a button is pressed that nobody sees")
		}
		b.button.Show()
	})

	b.do(func() {
		content, below := b.w.Content(), widget.NewLabel("below")
		b.w.SetContent(container.NewBorder(nil, below, nil, nil, content))
		if at := b.app.AbsolutePositionForObject(below); at.Y < b.w.Canvas().Size().Height/2 {
			t.Errorf("what was not painted yet stands at %v", at)
		}
		b.w.SetContent(content)
	})

	b.do(func() { // what a page has scrolled away is not under the pointer
		content, far := b.w.Content(), widget.NewButton("", nil)
		b.w.SetContent(container.NewBorder(nil, widget.NewLabel("below"), nil, nil, container.NewVScroll(container.NewGridWrap(fyne.NewSize(100, 2000), far))))
		at := fyne.NewPos(10, b.w.Canvas().Size().Height-5)
		if o, _ := b.w.canvas.objectAt(at, func(o fyne.CanvasObject) bool { return o == far }); o != nil {
			t.Errorf("at %v is what nobody sees", at)
		}
		b.w.SetContent(content)
	})

	// What a header gains or loses moves what is below it, whatever the least height of both.
	b.do(func() {
		content := b.w.Content()
		note, below := widgets.NewSlot(), widget.NewLabel("below")
		b.w.SetContent(widgets.WithHeader(container.NewVBox(widget.NewLabel("head"), widget.NewLabel("of two lines"), note.Container), below))
		var at []float32
		for _, said := range []string{"", ".", ""} {
			note.Put(said, func() fyne.CanvasObject { return widget.NewLabel(said) })
			below.Refresh() // something else has changed too
			b.w.update()
			at = append(at, b.app.AbsolutePositionForObject(below).Y)
		}
		if at[1] <= at[0] || at[2] != at[0] {
			t.Errorf("below a header at %v, with a note at %v, without it at %v", at[0], at[1], at[2])
		}
		b.w.SetContent(content)
	})

	// The wheel, a drag that ends outside, and dropped files.
	p := b.middle(b.list)
	b.Click(p.X, p.Y, 5)
	b.until("the list has moved", func() bool { return b.list.GetScrollOffset() > 0 })
	at := b.middle(b.button)
	b.Move(at.X, at.Y)
	b.until("the pointer is over the button", func() bool { return b.w.pointer.over != nil })
	b.Run("xdotool", "mousedown", "1", "mousemove", "1200", "700", "mouseup", "1")
	b.until("it has gone", func() bool { return b.w.pointer.over == nil && b.w.pointer.down == 0 })
	b.Drop(p.X, p.Y, "/tmp/a b.zip", "/tmp/ë.zip")
	b.until("the files are here", func() bool { return slices.Equal(b.dropped, []string{"/tmp/a b.zip", "/tmp/ë.zip"}) })

	// Another size, but never below the minimum.
	id := b.FindWindow("^bench$")
	b.Run("xdotool", "windowsize", id, "600", "500")
	b.until("laid out anew", func() bool { return b.w.canvas.Size() == fyne.NewSize(600, 500) })
	b.Run("xdotool", "windowsize", id, "1", "1")
	b.until("not smaller than it can be", func() bool {
		least := b.w.pixels(b.w.canvas.minSize())
		return b.w.size.X < 600 && b.w.size.X >= least.X && b.w.size.Y >= least.Y
	})

	// Nothing moves in a window without the keyboard focus, or after a window was closed.
	b.do(func() { b.w.Canvas().Focus(b.entry) })
	b.until("the caret blinks", func() bool { return !quiet() })
	b.Terminal(image.Rect(700, 400, 1100, 600))
	b.until("the caret rests", func() bool { return !b.w.focused && quiet() })
	b.do(func() {
		other := widget.NewEntry()
		w := b.app.NewWindow("other")
		w.SetContent(other)
		w.Show()
		w.Canvas().Focus(other)
		b.app.tick(b.app.kept)
		if quiet() {
			t.Error("no caret in the other window")
		}
		w.Close()
	})
	b.until("nothing runs for a window that is closed", quiet)
	b.do(func() { // a window is requested as the last one closes
		b.w.Close()
		b.app.CreateWindow("another").Show()
	})
	b.until("it has the keyboard", func() bool { return len(b.app.windows) == 1 && b.app.windows[0].focused })
	b.Run("wmctrl", "-c", "another")
	<-b.done
}

// TestShortcuts checks which keys are shortcuts, and of what.
func TestShortcuts(t *testing.T) {
	w := &frame{app: &App{}}
	const ctrl, shift = fyne.KeyModifierControl, fyne.KeyModifierShift
	for _, tt := range []struct {
		e    window.KeyEvent
		held fyne.KeyModifier
		want string
	}{
		{window.KeyEvent{Letter: 'z'}, ctrl, "Undo"}, {window.KeyEvent{Letter: 'y'}, ctrl, "Redo"}, {window.KeyEvent{Letter: 'a'}, ctrl, "SelectAll"},
		{window.KeyEvent{Letter: 'x'}, ctrl, "Cut"}, {window.KeyEvent{Letter: 'v'}, ctrl, "Paste"}, {window.KeyEvent{Key: window.KeyInsert}, ctrl, "Copy"},
		{window.KeyEvent{Key: window.KeyInsert}, shift, "Paste"}, {window.KeyEvent{Key: window.KeyDelete}, shift, "Cut"},
		{window.KeyEvent{Letter: 'q'}, ctrl, "CustomDesktop:Control+Q"}, {window.KeyEvent{Key: window.KeyShift}, ctrl, ""},
		{window.KeyEvent{Letter: 'a'}, shift, ""}, {window.KeyEvent{Letter: 'a'}, 0, ""},
	} {
		got := ""
		if s := w.shortcut(tt.e, tt.held); s != nil {
			got = s.ShortcutName()
		}
		if got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.e, got, tt.want)
		}
	}
}

// eyes is a desktop with other accessibility settings than the real one.
type eyes struct {
	window.Desktop
	wanted window.Appearance
}

func (e eyes) Appearance() window.Appearance { return e.wanted }

// full is a desktop that has no room for another window.
type full struct{ window.Desktop }

func (full) NewFrame(window.FrameHandler, window.FrameOptions) (window.Frame, error) {
	return nil, errors.New("no place")
}

// TestNoPlace: a window that cannot be shown is not kept, and its owner is notified.
func TestNoPlace(t *testing.T) {
	b := newBench(t)
	b.do(func() {
		b.app.display = full{b.app.display}
		closed := false
		w := b.app.NewWindow("another")
		w.SetOnClosed(func() { closed = true })
		w.Show()
		if n := len(b.app.AllWindows()); n != 1 || !closed {
			t.Errorf("%d windows, told %v", n, closed)
		}
	})
}

// pair is a desktop with two monitors whose user works on the second one,
// and whose system assigns every window to a monitor at twice the scale.
type pair struct {
	window.Desktop
	opened *doubled
}

func (pair) Monitors() []window.Monitor {
	left, right := image.Rect(0, 0, 640, 800), image.Rect(640, 0, 1280, 800)
	return []window.Monitor{{Name: "left", Area: left, Work: left, Scale: 1}, {Name: "right", Area: right, Work: right, Scale: 1}}
}
func (pair) Active() int { return 1 }
func (p pair) NewFrame(h window.FrameHandler, o window.FrameOptions) (f window.Frame, err error) {
	p.opened.Frame, err = p.Desktop.NewFrame(h, o)
	return p.opened, err
}

// doubled is a window at scale 2 that records where it is moved.
type doubled struct {
	window.Frame
	at image.Point
}

func (*doubled) Scale() (float32, error) { return 2, nil }
func (d *doubled) Move(p image.Point) error {
	d.at = p
	return d.Frame.Move(p)
}

// TestTwoMonitors: a window opens in the middle of the monitor where the
// user works, at the scale of the one that the system assigns it to.
func TestTwoMonitors(t *testing.T) {
	b := newBench(t)
	b.do(func() {
		var opened doubled
		b.app.display = pair{b.app.display, &opened}
		w := b.app.NewWindow("another").(*frame)
		w.SetContent(widget.NewLabel(""))
		w.Resize(fyne.NewSize(200, 100))
		w.CenterOnScreen()
		w.Show()
		if want := image.Pt(640+(640-200)/2, (800-100)/2); opened.at != want {
			t.Errorf("at %v, want %v", opened.at, want)
		}
		if got := w.canvas.Size(); w.canvas.Scale() != 2 || got != fyne.NewSize(200, 100) || w.size != image.Pt(400, 200) {
			t.Errorf("scale %v, %v in %v pixels", w.canvas.Scale(), got, w.size)
		}
	})
}

// TestLooks: windows, with their icons, follow a change of theme,
// and a desktop that starts to request high contrast or less motion.
func TestLooks(t *testing.T) {
	b := newBench(t)
	b.do(func() { b.w.SetContent(widget.NewIcon(base.MenuDropDownIcon())) })
	for look, ink := range map[string]color.NRGBA{"dark": theme.Dark.Ink, "light": theme.Light.Ink} {
		b.do(func() {
			b.app.Settings().SetTheme(theme.New(look))
			b.w.update()
			middle := b.w.Canvas().Capture().Bounds().Size().Div(2)
			if got := b.w.Canvas().Capture().At(middle.X, middle.Y); color.NRGBAModel.Convert(got) != ink {
				t.Errorf("%s: the icon is %v, want %v", look, got, ink)
			}
		})
	}
	b.do(func() { b.app.Settings().SetTheme(theme.New("light")) })
	background := func() color.Color { return base.Color(base.ColorNameButton) }
	moved := 0
	move := func() { fyne.NewAnimation(time.Hour, func(at float32) { moved++ }).Start() }
	b.do(func() {
		if background() != theme.Light.Soft || !b.app.Settings().ShowAnimations() {
			t.Error("in contrast or still without a reason")
		}
		running := len(b.app.animations)
		move()
		if moved != 0 || len(b.app.animations) != running+1 {
			t.Errorf("%d steps, %d animations", moved, len(b.app.animations))
		}
		b.app.display = eyes{b.app.display, window.Appearance{HighContrast: true, LessMotion: true}}
		b.app.desktopChanged()
		if background() != theme.HighLight.Soft || b.app.Settings().ShowAnimations() {
			t.Error("the desktop is not followed")
		}
		running = len(b.app.animations)
		move()
		if moved != 1 || len(b.app.animations) != running {
			t.Errorf("still, and %d steps, %d animations", moved, len(b.app.animations)-running)
		}
	})
}

// TestFocusIsSeen: in every look, keyboard users see what has the focus
// by a mark with a contrast of 3 : 1 to what is beside it: a field, a
// button, and a row of a list. None is drawn outside the list.
func TestFocusIsSeen(t *testing.T) {
	b := newBench(t)
	step := func(key string) { b.Key(key); b.do(func() {}) }
	desktop := b.app.display
	for _, high := range []bool{false, true} {
		for _, look := range []string{"light", "dark"} {
			b.do(func() {
				b.app.display = eyes{desktop, window.Appearance{HighContrast: high}}
				b.app.Settings().SetTheme(theme.New(look))
				b.app.desktopChanged()
				b.w.Canvas().Focus(b.entry)
			})
			for i := range 3 {
				what := fmt.Sprint(look, ", high ", high, ", stop ", i)
				var on fyne.CanvasObject
				b.until("the ring is there", func() bool {
					on, _ = b.w.canvas.Focused().(fyne.CanvasObject)
					return on != nil && b.w.canvas.ring() != nil
				}, func() []any { return []any{what} })
				b.do(func() {
					b.w.update()
					r := b.w.canvas.ring()
					seen := b.w.Canvas().Capture()
					at := image.Pt(int(r.Position().X), int(r.Position().Y+r.Size().Height/2))
					if got := shottest.Mark(seen, theme.Pick(look == "dark", high).Accent, image.Rectangle{Min: at, Max: at.Add(image.Pt(ringOffset, 1))}); got < 3 {
						t.Errorf("%s: %T has a ring of %.2f : 1 at %v", what, on, got, at)
					}
					if high := r.Size().Height; on == fyne.CanvasObject(b.list) && high > 2*b.entry.Size().Height {
						t.Errorf("%s: the ring of one row is %v high", what, high)
					}
				})
				step("Tab")
			}
		}
	}
	// A page is scrolled to what gets it.
	var content fyne.CanvasObject
	b.do(func() {
		content = b.w.Content()
		b.w.SetContent(container.NewVScroll(container.NewVBox(b.entry, widgets.Gap(2000), b.button)))
		b.w.Canvas().Focus(b.entry)
	})
	for _, to := range []struct {
		key string
		o   fyne.Focusable
	}{{"Tab", b.button}, {"shift+Tab", b.entry}} {
		b.Key(to.key)
		b.until("what has the focus is seen", func() bool { return b.w.canvas.Focused() == to.o && b.w.canvas.ring() != nil })
	}
	b.do(func() { b.w.SetContent(content) })
	b.Click(200, 20, 1)
	b.until("no ring for the pointer", func() bool { return b.w.canvas.ring() == nil })
}

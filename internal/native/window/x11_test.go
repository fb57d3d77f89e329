//go:build linux

package window

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	red   = color.RGBA{200, 30, 40, 255}
	green = color.RGBA{20, 180, 60, 255}
	blue  = color.RGBA{30, 60, 220, 255}
)

// plain returns a picture of one colour.
func plain(w, h int, c color.RGBA) *Picture {
	pic := NewPicture(w, h, nil)
	for i := 0; i < len(pic.Pix); i += 4 {
		pic.Pix[i], pic.Pix[i+1], pic.Pix[i+2] = c.B, c.G, c.R
	}
	return pic
}

// recorder records the events of a handler, one line each.
type recorder struct{ lines chan string }

func newRecorder() *recorder                   { return &recorder{make(chan string, 10000)} }
func (r *recorder) say(f string, a ...any)     { r.lines <- fmt.Sprintf(f, a...) }
func (r *recorder) PointerMoved(p image.Point) { r.say("move %v", p) }
func (r *recorder) PointerLeft()               { r.say("left") }
func (r *recorder) PointerPressed(p image.Point, b Button) {
	r.say("press %v %d", p, b)
}
func (r *recorder) PointerReleased(p image.Point, b Button) {
	r.say("release %v %d", p, b)
}
func (r *recorder) Scrolled(p image.Point, n int) { r.say("scroll %v %d", p, n) }
func (r *recorder) DisplayChanged()               { r.say("changed") }
func (r *recorder) KeyPressed(k KeyPress)         { r.say("key %s", k.Text) }
func (r *recorder) KeyboardGone()                 { r.say("keyboard gone") }

// wait skips lines until it reads want.
func (r *recorder) wait(t *testing.T, want string) {
	t.Helper()
	must.Until(t, r.lines, want, func(line string) bool { return line == want })
}

// open connects to the test's server.
func open(t *testing.T, s *xtest.Server) *x11 {
	t.Helper()
	t.Setenv("DISPLAY", s.Display)
	t.Setenv("XAUTHORITY", s.Dir+"/.Xauthority")
	d := must.Get(Open())(t)
	t.Cleanup(func() { d.Close(); <-d.Done() })
	return d.(*x11)
}

// underEach runs f on a server of its own under each window manager.
func underEach(t *testing.T, f func(t *testing.T, s *xtest.Server, d *x11)) {
	t.Helper()
	for _, wm := range []string{"openbox", "xfwm4"} {
		t.Run(wm, func(t *testing.T) {
			s := xtest.Start(t, wm, xtest.Options{})
			f(t, s, open(t, s))
		})
	}
}

func newWindow(t *testing.T, d Display, h CardHandler) Card {
	t.Helper()
	return must.Get(d.NewCard(h))(t)
}

func TestOpenWithoutDisplay(t *testing.T) {
	for _, display := range []string{"", ":64000", "nonsense", "/nowhere:1"} {
		t.Setenv("DISPLAY", display)
		if d, err := Open(); !errors.Is(err, ErrNoDisplay) || d != nil {
			t.Errorf("DISPLAY=%q: %v, %v", display, d, err)
		}
	}
}

func TestVisible(t *testing.T) {
	underEach(t, func(t *testing.T, s *xtest.Server, d *x11) {
		s.Run("xsetroot", "-solid", "#101010")
		w := newWindow(t, d, newRecorder())
		place := image.Rect(850, 500, 1230, 760)
		shown := func(when string, c color.RGBA) {
			t.Helper()
			must.Do(t, w.Sync())
			img := s.Crop(place)
			for _, p := range []image.Point{place.Min, place.Max.Sub(image.Pt(1, 1)), {1000, 600}} {
				if got := img.RGBAAt(p.X, p.Y); got != c {
					t.Errorf("%s: %v has %v, want %v", when, p, got, c)
				}
			}
			own, err := w.OnScreen()
			must.Do(t, err)
			if own.Bounds().Size() != place.Size() || own.RGBAAt(5, 5) != c {
				t.Errorf("%s: OnScreen %v %v", when, own.Bounds(), own.RGBAAt(5, 5))
			}
		}
		must.Do(t, w.Show(place, plain(380, 260, red)))
		shown("first", red)
		must.Do(t, w.Show(place, plain(380, 260, green)))
		shown("repainted", green)
		must.Do(t, w.Hide())
		must.Do(t, w.Hide())
		s.WaitPixel(900, 550, color.RGBA{16, 16, 16, 255})

		// Another window is opened over the same place, raised, and made
		// full screen, each time while ours is hidden.
		term := s.Terminal(image.Rect(700, 400, 1270, 790))
		must.Do(t, w.Show(place, plain(380, 260, blue)))
		shown("after another window was opened over it", blue)
		must.Do(t, w.Hide())
		s.Run("xdotool", "windowraise", term.ID)
		must.Do(t, w.Show(place, plain(380, 260, red)))
		shown("after the other was raised", red)
		must.Do(t, w.Hide())
		s.Run("wmctrl", "-i", "-r", term.ID, "-b", "add,fullscreen")
		s.Until("terminal fills the screen", func() bool {
			return strings.Contains(s.Run("xwininfo", "-id", term.ID), "Width: 1280")
		})
		must.Do(t, w.Show(place, plain(380, 260, green)))
		shown("over a full-screen window", green)

		// A card covered by an override-redirect window (a menu, a locker) stays below
		// it, and reappears when that window goes.
		above := newWindow(t, d, newRecorder())
		must.Do(t, above.Show(place.Inset(20), plain(340, 220, blue)))
		must.Do(t, w.Show(place, plain(380, 260, red)))
		must.Do(t, w.Sync())
		if got := s.Pixel(1000, 600); got != blue {
			t.Errorf("raised above what covered it: %v", got)
		}
		must.Do(t, above.Close())
		shown("uncovered", red)
		if _, err := above.OnScreen(); !errors.Is(err, ErrClosed) {
			t.Errorf("closed window answers %v", err)
		}

		// Beyond the edge, and with another size.
		place = image.Rect(1100, 700, 1400, 900)
		must.Do(t, w.Show(place, plain(300, 200, blue)))
		must.Do(t, w.Sync())
		if got := s.Pixel(1279, 799); got != blue {
			t.Errorf("at the edge: %v", got)
		}
		img, err := w.OnScreen()
		must.Do(t, err)
		if img.RGBAAt(179, 99) != blue || img.RGBAAt(181, 99) != (color.RGBA{}) {
			t.Errorf("read back at the edge: %v %v", img.RGBAAt(179, 99), img.RGBAAt(181, 99))
		}
	})
}

func TestNeverTakesTheKeyboard(t *testing.T) {
	underEach(t, func(t *testing.T, s *xtest.Server, d *x11) {
		w := newWindow(t, d, newRecorder())
		term := s.Terminal(image.Rect(20, 20, 500, 300))
		focus := s.FocusedWindow()
		text := strings.Repeat("abcdefghij0123456789", 25)
		typed := make(chan struct{})
		go func() {
			defer close(typed)
			s.Type(text, 4)
		}()
		pic := plain(380, 260, green)
		shows := 0
		tick := time.Tick(20 * time.Millisecond)
		for done := false; !done || shows < 50; shows++ {
			// Alternately over the terminal and beside it.
			x := 100 + shows%2*600
			must.Do(t, w.Show(image.Rect(x, 100, x+380, 360), pic))
			must.Do(t, w.Sync())
			<-tick
			must.Do(t, w.Hide())
			select {
			case <-typed:
				done = true
			default:
			}
		}
		term.WaitText(text)
		if s.FocusedWindow() != focus {
			t.Error("the focus has moved")
		}
		// A click on the window does not move the keyboard focus either.
		must.Do(t, w.Show(image.Rect(700, 100, 1080, 360), pic))
		s.Click(800, 200, 1)
		s.Type("na", 4)
		term.WaitText(text + "na")
		t.Logf("%d keys through %d shows", len(text)+2, shows+1)
	})
}

func TestPointer(t *testing.T) {
	s := xtest.Start(t, "openbox", xtest.Options{})
	s.Move(10, 10)
	d := open(t, s)
	r1, r2 := newRecorder(), newRecorder()
	a, b := newWindow(t, d, r1), newWindow(t, d, r2)
	must.Do(t, a.Show(image.Rect(200, 100, 400, 200), plain(200, 100, red)))
	must.Do(t, b.Show(image.Rect(200, 210, 400, 310), plain(200, 100, blue)))
	must.Do(t, b.Sync())
	s.Move(230, 140)
	r1.wait(t, "move (30,40)")
	s.Click(231, 140, 1)
	r1.wait(t, "press (31,40) 1")
	r1.wait(t, "release (31,40) 1")
	s.Click(231, 141, 3)
	r1.wait(t, "press (31,41) 3")
	s.Click(231, 141, 4)
	r1.wait(t, "scroll (31,41) 1")
	s.Click(231, 141, 5)
	r1.wait(t, "scroll (31,41) -1")
	s.Move(201, 211)
	r1.wait(t, "left")
	r2.wait(t, "move (1,1)")
	// A window that disappears from under the pointer reports that the pointer left.
	must.Do(t, b.Hide())
	r2.wait(t, "left")
	// A window that appears under the pointer reports that it entered.
	must.Do(t, b.Show(image.Rect(200, 205, 400, 305), plain(200, 100, blue)))
	r2.wait(t, "move (1,6)")
}

func TestUpdate(t *testing.T) {
	s := xtest.Start(t, "", xtest.Options{})
	d := open(t, s)
	w := newWindow(t, d, newRecorder())
	if err := w.Update(image.Point{}, plain(1, 1, red)); !errors.Is(err, errNotShown) {
		t.Errorf("before the first show: %v", err)
	}
	must.Do(t, w.Show(image.Rect(50, 50, 350, 250), plain(300, 200, red)))
	must.Do(t, w.Update(image.Pt(100, 60), plain(40, 16, blue)))
	must.Do(t, w.Sync())
	img, err := w.OnScreen()
	must.Do(t, err)
	for p, want := range map[image.Point]color.RGBA{
		{99, 60}: red, {100, 60}: blue, {139, 75}: blue, {140, 75}: red, {139, 76}: red, {100, 59}: red,
	} {
		if got := img.RGBAAt(p.X, p.Y); got != want {
			t.Errorf("%v is %v, want %v", p, got, want)
		}
	}
	// An update while hidden is visible once the window is shown again.
	other := newWindow(t, d, newRecorder())
	must.Do(t, other.Show(image.Rect(0, 0, 640, 480), plain(640, 480, green)))
	must.Do(t, w.Update(image.Pt(0, 0), plain(40, 16, blue)))
	must.Do(t, other.Hide())
	must.Do(t, w.Sync())
	if got := s.Pixel(51, 51); got != blue {
		t.Errorf("updated while covered: %v", got)
	}
	for name, err := range map[string]error{
		"outside":     w.Update(image.Pt(290, 0), plain(40, 16, blue)),
		"negative":    w.Update(image.Pt(-1, 0), plain(40, 16, blue)),
		"broken":      w.Update(image.Point{}, &Picture{W: 3, H: 3, Pix: make([]byte, 35)}),
		"nil":         w.Update(image.Point{}, nil),
		"other size":  w.Show(image.Rect(0, 0, 5, 5), plain(5, 6, red)),
		"nil picture": w.Show(image.Rect(0, 0, 5, 5), nil),
		"far away":    w.Show(image.Rect(40000, 0, 40005, 5), plain(5, 5, red)),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	must.Do(t, w.Sync())
}

func TestDepths(t *testing.T) {
	for _, depth := range []int{16, 30} {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			s := xtest.Start(t, "", xtest.Options{Width: 640, Height: 480, Depth: depth})
			d := open(t, s)
			w := newWindow(t, d, newRecorder())
			// An odd width, so that rows of 16-bit pixels need padding, and
			// more than one strip.
			must.Do(t, w.Show(image.Rect(10, 10, 571, 410), plain(561, 400, red)))
			must.Do(t, w.Update(image.Pt(3, 3), plain(7, 5, blue)))
			must.Do(t, w.Sync())
			img, err := w.OnScreen()
			must.Do(t, err)
			for p, want := range map[image.Point]color.RGBA{
				{2, 3}: red, {3, 3}: blue, {9, 7}: blue, {10, 7}: red, {560, 399}: red, {0, 0}: red,
			} {
				if got := img.RGBAAt(p.X, p.Y); !xtest.Near(got, want, 8) {
					t.Errorf("%v is %v, want %v", p, got, want)
				}
				if got := s.Pixel(p.X+10, p.Y+10); !xtest.Near(got, want, 8) {
					t.Errorf("on screen %v is %v, want %v", p, got, want)
				}
			}
		})
	}
}

func TestServerGoes(t *testing.T) {
	s := xtest.Start(t, "", xtest.Options{})
	d := open(t, s)
	w := newWindow(t, d, newRecorder())
	must.Do(t, w.Show(image.Rect(0, 0, 380, 260), plain(380, 260, red)))
	s.Kill()
	must.Receive(t, d.Done(), "the end of the server")
	for name, err := range map[string]error{
		"Show":   w.Show(image.Rect(0, 0, 380, 260), plain(380, 260, red)),
		"Update": w.Update(image.Point{}, plain(38, 26, red)),
		"Hide":   w.Hide(),
		"Sync":   w.Sync(),
		"Copy":   d.Copy("x"),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.OnScreen(); !errors.Is(err, ErrClosed) {
		t.Errorf("OnScreen: %v", err)
	}
	if _, err := d.NewCard(newRecorder()); !errors.Is(err, ErrClosed) {
		t.Errorf("New: %v", err)
	}
	if m := d.Monitors(); len(m) != 1 {
		t.Errorf("Monitors: %v", m)
	}
	d.Active()
	must.Do(t, w.Close())
	must.Do(t, d.Close())
}

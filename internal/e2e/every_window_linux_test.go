package e2e

import (
	"fmt"
	"image"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
	windows "wiebelt/internal/ui/windowapp"
)

// windowUser simulates a user of every window of an office, one after another.
type windowUser struct {
	*office
	scale int
	back  uint32 // the colour behind words
	wine  bool
	typed int // windows that were typed into
	open  func(window string) *exec.Cmd
}

// field is the place of a window's first field, at 100 %; in the delivery and phones
// windows it is on another page.
var field = map[string]image.Point{windowapi.WindowCalls: {120, 104}, windowapi.WindowLookup: {120, 80}, windowapi.WindowSettings: {240, 508}}

// whole holds the windows whose content fits into their minimum size.
var whole = map[string]bool{windowapi.WindowLookup: true, windowapi.WindowDelivery: true, windowapi.WindowTest: true, windowapi.WindowDemo: true}

// changed returns how many pixels in a part of the screen have changed.
func (h *windowUser) changed(was *image.RGBA) (n int) {
	now := h.Crop(was.Rect)
	for i := 0; i < len(was.Pix); i += 4 {
		if was.Pix[i] != now.Pix[i] || was.Pix[i+1] != now.Pix[i+1] || was.Pix[i+2] != now.Pix[i+2] {
			n++
		}
	}
	return n
}

// painted waits until a window's background is painted up to its right border.
func (h *windowUser) painted(what, id string) image.Rectangle {
	h.t.Helper()
	var at image.Rectangle
	h.Until(what, func() bool {
		was := at
		at = h.placeOf(id) // a window manager takes its time
		right := image.Rect(at.Max.X-40*h.scale, at.Min.Y, at.Max.X, at.Max.Y)
		return at == was && xtest.Count(h.Crop(right.Intersect(image.Rectangle{Max: h.Size()})), h.back, 0) > right.Dx()*right.Dy()/4
	}, func() []any { return []any{at} })
	return at
}

// use opens a window, types into it, enlarges it, reads it, shrinks it, scrolls and closes it.
func (h *windowUser) use(window string) {
	t := h.t
	t.Helper()
	cmd := h.open(window)
	var log logtest.Buffer
	cmd.Stderr, cmd.WaitDelay = &log, time.Second
	must.Do(t, cmd.Start())
	defer func() {
		if t.Failed() {
			t.Logf("%s said: %s", window, log.String())
		}
	}()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }() // it may have exited
	id := h.FindWindow("– Wiebelt$")
	at := h.painted(window+" is painted", id)
	h.Run("xdotool", "windowactivate", "--sync", id)
	if p, is := field[window]; is {
		h.typed++
		digits := strings.Repeat("0", 3+h.typed) // in all calls, and different from before
		got := ""
		h.Until(window+" takes what is typed, and gives it to others", func() bool {
			p := h.placeOf(id).Min.Add(p.Mul(h.scale)) // a window manager may have moved it for its frame
			h.Click(p.X, p.Y, 1)
			h.Key("ctrl+a")
			h.Type(digits, 0)
			h.Key("ctrl+a", "ctrl+c")
			// Fails while it is empty, and hangs for a program that has just released it.
			b, _ := h.Command("timeout", "5", "xclip", "-o", "-selection", "clipboard").Output()
			got = string(b)
			return got == digits
		}, func() []any { return []any{digits, "is", got, at, h.placeOf(id)} })
		h.Key("End")
	}
	h.shot(strings.ReplaceAll(t.Name(), "/", "-") + "-" + window)
	if window == windowapi.WindowSettings { // else it would ask whether to save
		h.Key("ctrl+a", "6", "0")
	}
	opened := at.Size()
	size := opened.Add(image.Pt(60*h.scale, 40*h.scale))
	h.Run("xdotool", "windowsize", id, strconv.Itoa(size.X), strconv.Itoa(size.Y))
	h.Until(window+" is as large as asked", func() bool { at = h.placeOf(id); return at.Size() == size }, func() []any { return []any{at.Size(), "not", size} })
	at = h.painted(window+" is painted to its border", id)
	if !h.wine {
		h.isSaid(window, id)
	}
	least := image.Pt(opened.X*3/4, opened.Y/2)
	if h.wine { // there the window manager does not know the minimum size, and allows any
		h.Run("xdotool", "windowsize", id, strconv.Itoa(least.X), strconv.Itoa(least.Y))
	} else {
		h.Run("xdotool", "windowsize", id, "1", "1")
	}
	h.Until(window+" is as small as it can be", func() bool {
		at = h.placeOf(id)
		return at.Dx() < size.X && at.Dy() < size.Y && at.Dx() >= least.X-h.scale && at.Dy() >= least.Y-h.scale
	}, func() []any { return []any{h.placeOf(id)} })
	at = h.painted(window+" is painted at its least size", id)
	h.shot(strings.ReplaceAll(t.Name(), "/", "-") + "-" + window + "-least")
	if !whole[window] {
		p := at.Min.Add(image.Pt(at.Dx()*2/3, at.Dy()*5/8)) // below a header
		h.Move(p.X, p.Y)                                    // the move alone may change what is below the pointer
		was, n := h.Crop(image.Rectangle{p, p}.Inset(-60*h.scale).Intersect(at)), 0
		h.Until(window+" scrolls", func() bool {
			h.Click(p.X, p.Y, 5)
			n = h.changed(was)
			return n > was.Rect.Dx()*was.Rect.Dy()/50
		}, func() []any { return []any{n, "pixels changed of", at} })
	}
	h.Run("wmctrl", "-i", "-c", id)
	err := must.Receive(t, ended, "the end of the process of "+window)
	slow := h.wine && err != nil && err.Error() == "signal: killed" // wine ends whatever takes more than a second
	if err != nil && !slow {
		t.Errorf("%s: %v", window, err)
	}
	h.Until(window+" has gone", func() bool { return len(h.Windows("– Wiebelt$")) == 0 })
	if said := log.String(); strings.Contains(said, "level=WARN") || strings.Contains(said, "level=ERROR") || strings.Contains(said, "Fyne") {
		t.Errorf("%s: %s", window, said)
	}
}

// fill gives an office a day of calls, and message delivery, before it is started.
func (o *office) fill() {
	o.t.Helper()
	o.set("hub.intermediary", "intermediary")
	store := must.Get(history.Open(filepath.Join(o.profile, "history.db"), history.KeepFull, 7, time.Now))(o.t)
	defer store.Close()
	for i := range 40 {
		must.Get(store.Put(o.t.Context(), history.Entry{Rang: time.Now().Add(time.Duration(i-40) * time.Second), Number: fmt.Sprintf("+3120%07d", i),
			Outcome: history.OutcomeNobody, Result: history.ResultAnsweredElsewhere, Kind: call.KindCommand}))(o.t)
	}
}

// TestEveryWindow: every window is opened, typed into, resized, scrolled, read by assistive
// technology and closed, and its process ends with it.
func TestEveryWindow(t *testing.T) {
	t.Parallel()
	const scale = 2
	o := prepareOn(t, "xfwm4", xtest.Options{Width: width * scale, Height: height * scale, DPI: 96 * scale},
		"[ui]\nlanguage = \"nl\"\ntheme = \"dark\"\n")
	o.fill()
	o.start()
	o.readable()
	h := &windowUser{office: o, scale: scale, back: 0x1E252C, open: func(window string) *exec.Cmd { return o.wiebelt("window", window) }}
	for _, window := range windows.Names() {
		h.use(window)
	}
}

// TestEveryWindowUnderWine is TestEveryWindow for Windows.
func TestEveryWindowUnderWine(t *testing.T) {
	t.Parallel()
	dir := windowsPrograms(t)
	p, o := wineOffice(t, dir)
	o.append("\n[ui]\nlanguage = \"nl\"\ntheme = \"light\"\n")
	o.fill()
	o.startsUnderWine(p, dir)
	if _, code := p.Run(filepath.Join(dir, "wiebeltw.exe"), "ring", "--no-start", "--profile", wineProfile, "--", "0698760011"); code != 0 {
		t.Errorf("ring: exit %d", code)
	}
	o.Until("the card of the caller", func() bool { return foundOnScreen(o.Screenshot()) })
	h := &windowUser{office: o, scale: 1, wine: true, back: 0xFFFFFF, open: func(window string) *exec.Cmd {
		return p.Command(filepath.Join(dir, "wiebeltw.exe"), "--profile", wineProfile, "window", window)
	}}
	for i, window := range windows.Names() {
		h.use(window)
		if i == 0 && !foundOnScreen(o.Screenshot()) { // later it would close by itself
			t.Error("the card went with the window")
		}
	}
}

// placeOf returns where a window's content is on the screen.
func (o *office) placeOf(id string) image.Rectangle {
	v := map[string]int{}
	for l := range strings.Lines(o.Run("xwininfo", "-id", id)) {
		k, n, _ := strings.Cut(strings.TrimSpace(l), ":")
		v[k], _ = strconv.Atoi(strings.TrimSpace(n)) // anything but a number is not used
	}
	at := image.Pt(v["Absolute upper-left X"], v["Absolute upper-left Y"])
	return image.Rectangle{at, at.Add(image.Pt(v["Width"], v["Height"]))}
}

package e2e

import (
	"image"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"wiebelt/internal/native/xtest"
)

// TestWindowsCalls: the calls window under wine comes up, takes what is typed, follows its size and closes.
func TestWindowsCalls(t *testing.T) {
	t.Parallel()
	dir := windowsPrograms(t)
	p, o := wineOffice(t, dir)
	o.startsUnderWine(p, dir)
	if _, code := p.Run(filepath.Join(dir, "wiebeltw.exe"), "ring", "--no-start", "--profile", wineProfile, "--", "0698760011"); code != 0 {
		t.Errorf("ring: exit %d", code)
	}
	o.Until("the card of the caller", func() bool { return foundOnScreen(o.Screenshot()) })
	// What a second start does, by hand or from the start menu.
	if out, code := p.Run(filepath.Join(dir, "wiebeltw.exe"), "--profile", wineProfile); code != 0 {
		t.Fatalf("asking for a window: exit %d: %s", code, out)
	}
	id := o.FindWindow("^Oproepen|^Calls")
	painted := func() int { return xtest.Count(o.Crop(o.placeOf(id)), 0x1B2733, 0) } // of the colour of words
	o.Until("the window is painted", func() bool { return painted() > 500 })
	o.Run("xdotool", "windowactivate", "--sync", id)
	resting := painted()
	o.Key("ctrl+f")
	o.Type("zzz", 20)
	o.Until("nothing is found, and that is said", func() bool { return painted() > resting+100 })
	o.Run("xdotool", "windowsize", "--sync", id, "800", "600")
	o.Until("it is painted to its corner", func() bool {
		img := o.Screenshot()
		r := o.placeOf(id)
		c := img.RGBAAt(r.Max.X-3, r.Max.Y-3)
		return r.Dx() == 800 && c.R > 0xF0 && c.G > 0xF0 && c.B > 0xF0
	})
	o.Key("alt+F4")
	o.Until("it is gone", func() bool { return len(o.Windows("^Oproepen|^Calls")) == 0 })
	if !foundOnScreen(o.Screenshot()) {
		t.Error("the card went with it")
	}
}

// placeOf is where the content of a window lies on the screen.
func (o *office) placeOf(id string) image.Rectangle {
	v := map[string]int{}
	for l := range strings.Lines(o.Run("xdotool", "getwindowgeometry", "--shell", id)) {
		k, n, _ := strings.Cut(strings.TrimSpace(l), "=")
		v[k], _ = strconv.Atoi(n) // the last line is the screen's number
	}
	return image.Rect(v["X"], v["Y"], v["X"]+v["WIDTH"], v["Y"]+v["HEIGHT"])
}

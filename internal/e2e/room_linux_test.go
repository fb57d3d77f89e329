package e2e

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/testutil/xtest"
)

// TestWindowsKeepClearOfTheTaskBar: on screens where there is little room, with a
// task bar and at a scale, every window comes up wholly in what is left of the
// screen, frame and all, and the buttons at its foot can be seen. With WIEBELT_SHOTS set, pictures are left there.
func TestWindowsKeepClearOfTheTaskBar(t *testing.T) {
	t.Parallel()
	all := []string{windowapi.WindowCalls, windowapi.WindowLookup, windowapi.WindowSettings, windowapi.WindowDelivery, windowapi.WindowDoctor,
		windowapi.WindowHelp, windowapi.WindowStart, windowapi.WindowTest, windowapi.WindowRecipes, windowapi.WindowDemo}
	foot := map[string]bool{windowapi.WindowStart: true, windowapi.WindowTest: true} // their primary button stands there
	const accent = 0x0B6BCB
	for _, s := range []struct {
		wm            string
		width, height int
		scale         float64
		left, bottom  int    // of the task bar
		language      string // of the windows
	}{
		{"openbox", 1920, 1080, 1.5, 0, 60, "nl"},
		{"xfwm4", 1366, 768, 3, 0, 120, "en"},
		{"xfwm4", 1366, 768, 2, 80, 0, "nl"},
		{"openbox", 2560, 1440, 3, 0, 120, "nl"},
	} {
		name := fmt.Sprintf("%s %dx%d at %v", s.wm, s.width, s.height, s.scale)
		t.Run(name, func(t *testing.T) {
			h, value := startHub(t)
			o := prepareOn(t, h, h.BaseURL(), value, s.wm, xtest.Options{Width: s.width, Height: s.height, DPI: int(96 * s.scale)},
				"[ui]\nlanguage = \""+s.language+"\"\ntheme = \"light\"\n")
			bar := image.Rect(0, s.height-s.bottom, s.width, s.height)
			if s.left > 0 {
				bar = image.Rect(0, 0, s.left, s.height)
			}
			term := o.Terminal(bar)
			o.Run("xprop", "-id", term.ID, "-f", "_NET_WM_STRUT_PARTIAL", "32c", "-set", "_NET_WM_STRUT_PARTIAL",
				fmt.Sprintf("%d,0,0,%d,0,%d,0,0,0,0,0,%d", s.left, s.bottom, s.height-1, s.width-1))
			room := image.Rect(s.left, 0, s.width, s.height-s.bottom)
			o.start()
			for _, window := range all {
				cmd := o.wiebelt("window", window)
				cmd.Stderr, cmd.WaitDelay = o.log, time.Second
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				id := o.FindWindow("– Wiebelt$")
				var frame image.Rectangle
				o.Until(window+" has its place", func() bool { // a window manager takes the time that it takes
					before := frame
					frame = o.frame(id)
					return frame == before && frame.In(room)
				}, func() []any { return []any{"it stands at", frame, "in", room} })
				pixels := func(r image.Rectangle, rgb uint32) int { return xtest.Count(o.Crop(r), rgb, 0) }
				below := image.Rect(frame.Min.X, frame.Max.Y-int(72*s.scale), frame.Max.X, frame.Max.Y)
				seen := 0
				o.Until(window+" is painted", func() bool {
					seen = pixels(below, accent)
					return pixels(frame, 0xFFFFFF) > frame.Dx()*frame.Dy()/4 && pixels(frame, 0) < frame.Dx()*frame.Dy()/20 && (seen > int(1000*s.scale*s.scale) || !foot[window])
				}, func() []any { return []any{"white", pixels(frame, 0xFFFFFF), "accent", seen, "in", frame} })
				if now := o.frame(id); !now.In(room) {
					t.Errorf("%s grew to %v, in %v", window, now, room)
				}
				if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" {
					keep(t, filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+"-"+window+".png"), o.Crop(frame))
				}
				_ = cmd.Process.Kill() // by its own handle
				_ = cmd.Wait()
				o.Until("it is gone", func() bool { return len(o.Windows("– Wiebelt$")) == 0 })
			}
		})
	}
}

// frame is where a window stands, with what the window manager draws around it.
func (o *office) frame(id string) (r image.Rectangle) {
	o.t.Helper()
	var x, y, w, h int
	for l := range strings.Lines(o.Run("xwininfo", "-id", id)) {
		for prefix, n := range map[string]*int{"Absolute upper-left X:": &x, "Absolute upper-left Y:": &y, "Width:": &w, "Height:": &h} {
			if v, ok := strings.CutPrefix(strings.TrimSpace(l), prefix); ok {
				*n, _ = strconv.Atoi(strings.TrimSpace(v))
			}
		}
	}
	r = image.Rect(x, y, x+w, y+h)
	_, all, ok := strings.Cut(o.Run("xprop", "-id", id, "_NET_FRAME_EXTENTS"), "=")
	if !ok {
		return r // the window manager has not come to it yet
	}
	var around [4]int // left, right, top, bottom
	for i, s := range strings.Split(all, ",") {
		if i < len(around) {
			around[i], _ = strconv.Atoi(strings.TrimSpace(s))
		}
	}
	return image.Rect(r.Min.X-around[0], r.Min.Y-around[2], r.Max.X+around[1], r.Max.Y+around[3])
}

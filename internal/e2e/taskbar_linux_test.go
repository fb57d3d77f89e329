package e2e

import (
	"fmt"
	"image"
	"strconv"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// TestWindowsKeepClearOfTheTaskBar: on a small, scaled screen with a task bar, windows
// open completely within the rest of the screen, including their frame, and the button
// at the bottom of one is visible.
func TestWindowsKeepClearOfTheTaskBar(t *testing.T) {
	t.Parallel()
	const screenWidth, screenHeight, scale, bar = 1366, 768, 3, 120
	o := prepareOn(t, "xfwm4", xtest.Options{Width: screenWidth, Height: screenHeight, DPI: 96 * scale}, "[ui]\nlanguage = \"en\"\ntheme = \"light\"\n")
	term := o.Terminal(image.Rect(0, screenHeight-bar, screenWidth, screenHeight))
	o.Run("xprop", "-id", term.ID, "-f", "_NET_WM_STRUT_PARTIAL", "32c", "-set", "_NET_WM_STRUT_PARTIAL", fmt.Sprintf("0,0,0,%d,0,0,0,0,0,0,0,%d", bar, screenWidth-1))
	room := image.Rect(0, 0, screenWidth, screenHeight-bar)
	o.start()
	for _, window := range []string{windowapi.WindowSettings, windowapi.WindowStart} { // the largest, and one with a button at its foot
		cmd := o.wiebelt("window", window)
		cmd.Stderr, cmd.WaitDelay = o.log, time.Second
		must.Do(t, cmd.Start())
		id := o.FindWindow("– Wiebelt$")
		var frame image.Rectangle
		o.Until(window+" has its place", func() bool { // a window manager takes its time
			before := frame
			frame = o.frame(id)
			return frame == before && frame.In(room)
		}, func() []any { return []any{"it stands at", frame, "in", room} })
		foot := window == windowapi.WindowStart
		pixels := func(r image.Rectangle, rgb uint32) int { return xtest.Count(o.Crop(r), rgb, 0) }
		below := image.Rect(frame.Min.X, frame.Max.Y-72*scale, frame.Max.X, frame.Max.Y)
		o.Until(window+" is painted", func() bool {
			return pixels(frame, 0xFFFFFF) > frame.Dx()*frame.Dy()/4 && pixels(frame, 0) < frame.Dx()*frame.Dy()/20 && (!foot || pixels(below, accent) > 1000*scale*scale)
		}, func() []any {
			return []any{"white", pixels(frame, 0xFFFFFF), "accent", pixels(below, accent), "in", frame}
		})
		if now := o.frame(id); !now.In(room) {
			t.Errorf("%s grew to %v, in %v", window, now, room)
		}
		o.shot("room-" + window)
		_ = cmd.Process.Kill() // by its own handle
		_ = cmd.Wait()
		o.Until("it is gone", func() bool { return len(o.Windows("– Wiebelt$")) == 0 })
	}
}

// frame returns where a window is, including the window manager's decoration.
func (o *office) frame(id string) (r image.Rectangle) {
	o.t.Helper()
	r = o.placeOf(id)
	_, all, ok := strings.Cut(o.Run("xprop", "-id", id, "_NET_FRAME_EXTENTS"), "=")
	if !ok {
		return r // the window manager has not handled it yet
	}
	var around [4]int // left, right, top, bottom
	for i, s := range strings.Split(all, ",") {
		if i < len(around) {
			around[i], _ = strconv.Atoi(strings.TrimSpace(s))
		}
	}
	return image.Rect(r.Min.X-around[0], r.Min.Y-around[2], r.Max.X+around[1], r.Max.Y+around[3])
}

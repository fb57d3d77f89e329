package xtest

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// Panel is a real desktop panel at the top left of a screen that shows only tray icons.
type Panel struct {
	s   *Server
	cmd *exec.Cmd
}

// panelConfig is a bar of a given size with only the tray, in one plain colour.
const panelConfig = `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=0;x=%d;y=16"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="size" type="uint" value="32"/>
      <property name="icon-size" type="uint" value="24"/>
      <property name="length" type="uint" value="12"/>
      <property name="length-adjust" type="bool" value="true"/>
      <property name="background-style" type="uint" value="1"/>
      <property name="background-rgba" type="array">
        <value type="double" value="1"/>
        <value type="double" value="1"/>
        <value type="double" value="1"/>
        <value type="double" value="1"/>
      </property>
      <property name="plugin-ids" type="array">
        <value type="int" value="1"/>
      </property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="systray">
      <property name="square-icons" type="bool" value="true"/>
      <property name="icon-size" type="int" value="24"/>
    </property>
  </property>
</channel>
`

// Panel starts xfce4-panel. The server needs a bus first.
func (s *Server) Panel() *Panel {
	s.t.Helper()
	p := &Panel{s: s}
	dir := filepath.Join(s.Dir, "config", "xfce4", "xfconf", "xfce-perchannel-xml")
	must.Do(s.t, os.MkdirAll(dir, 0o700))
	must.Do(s.t, os.WriteFile(filepath.Join(dir, "xfce4-panel.xml"), fmt.Appendf(nil, panelConfig, p.wide()/2), 0o600))
	p.Start()
	return p
}

// Start restarts the panel after Kill.
func (p *Panel) Start() {
	p.s.t.Helper()
	p.cmd = p.s.Spawn("xfce4-panel", "--disable-wm-check", "--sm-client-disable")
}

// Kill kills the panel, as in a crash.
func (p *Panel) Kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// wide returns the panel's width: 12 % of the screen.
func (p *Panel) wide() int { return p.s.Size().X * 12 / 100 }

// Bar returns the panel's part of the screen, without its border.
func (p *Panel) Bar() image.Rectangle { return image.Rect(1, 0, p.wide()-1, 31) }

// Icon waits for an icon in the bar and returns what the bar shows.
func (p *Panel) Icon() *image.RGBA {
	p.s.t.Helper()
	var img *image.RGBA
	p.s.Until("an icon in the panel", func() bool {
		img = p.s.Crop(p.Bar())
		return !marks(img).Empty()
	})
	return img
}

// Shown returns the area of the icons in the bar, which is empty if there are none.
func (p *Panel) Shown() image.Rectangle { return marks(p.s.Crop(p.Bar())) }

// marks returns the part of a picture that differs from its last pixel's colour.
func marks(img *image.RGBA) (r image.Rectangle) {
	ground := img.RGBAAt(img.Rect.Max.X-1, img.Rect.Max.Y-1)
	for y := img.Rect.Min.Y; y < img.Rect.Max.Y; y++ {
		for x := img.Rect.Min.X; x < img.Rect.Max.X; x++ {
			if !Near(img.RGBAAt(x, y), ground, 8) {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}

// Lines opens the icon's menu with the right button, waits until it has as many lines as
// want returns, and returns their places on the screen, from the top, without
// separators. A busy panel may briefly show part of the menu, or the previous one. A
// panel that has an icon but not yet its menu opens its own menu, or none: Lines closes
// that and clicks the icon again, as a user would.
func (p *Panel) Lines(want func() int) []image.Rectangle {
	p.s.t.Helper()
	size := p.s.Size()
	below := image.Rect(0, 32, size.X, size.Y)
	p.s.Move(size.X-2, size.Y-2)
	before := p.s.Crop(below)
	var clicked time.Time
	open := func() {
		at := p.Shown()
		p.s.Click((at.Min.X+at.Max.X)/2, (at.Min.Y+at.Max.Y)/2, 3)
		clicked = time.Now()
	}
	open()
	var lines []image.Rectangle
	var last *image.RGBA
	p.s.Until("the icon's menu", func() bool { // and has stopped changing
		img := p.s.Crop(below)
		same := last != nil && string(img.Pix) == string(last.Pix)
		last = img
		lines = bands(before, img)
		if !same {
			return false
		}
		if len(lines) > 0 && len(lines) == want() {
			return true
		}
		if time.Since(clicked) > time.Second {
			if len(lines) > 0 {
				p.s.Key("Escape")
				p.s.Move(size.X-2, size.Y-2)
				p.s.Until("the other menu is closed", func() bool { return string(p.s.Crop(below).Pix) == string(before.Pix) })
			}
			open()
		}
		return false
	}, func() []any { return []any{len(lines), "lines of", want()} })
	return lines
}

// bands returns the lines of text of a menu that is only in the second picture.
func bands(before, after *image.RGBA) []image.Rectangle {
	var menu image.Rectangle
	for y := after.Rect.Min.Y; y < after.Rect.Max.Y; y++ {
		for x := after.Rect.Min.X; x < after.Rect.Max.X; x++ {
			if after.RGBAAt(x, y) != before.RGBAAt(x, y) {
				menu = menu.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	inner := menu.Inset(4)
	if inner.Empty() {
		return nil
	}
	ground := after.RGBAAt(inner.Max.X-1, inner.Min.Y)
	var all []image.Rectangle
	from := -1
	for y := inner.Min.Y; y <= inner.Max.Y; y++ {
		ink := false
		for x := inner.Min.X; y < inner.Max.Y && x < inner.Max.X; x++ {
			ink = ink || !Near(after.RGBAAt(x, y), ground, 24)
		}
		switch {
		case ink && from < 0:
			from = y
		case !ink && from >= 0:
			if y-from > 4 { // otherwise it is a separator
				all = append(all, image.Rect(inner.Min.X, from, inner.Max.X, y))
			}
			from = -1
		}
	}
	return all
}

// IconDistance returns how much a picture of a panel differs from an icon, a PNG of 48 pixels:
// the mean difference of their pixels at the best-matching place.
func IconDistance(t testing.TB, got *image.RGBA, files fs.FS, name string) float64 {
	t.Helper()
	f := must.Get(files.Open(name))(t)
	defer f.Close()
	icon := must.Get(png.Decode(f))(t)
	want := onWhite(icon)
	size := want.Rect.Dx()
	best := 255.0
	for top := got.Rect.Min.Y; top <= got.Rect.Max.Y-size; top++ {
		for left := got.Rect.Min.X; left < got.Rect.Min.X+12; left++ {
			sum := 0
			for y := range size {
				for x := range size {
					a, b := got.RGBAAt(left+x, top+y), want.RGBAAt(x, y)
					for _, d := range [3]int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B)} {
						sum += max(d, -d)
					}
				}
			}
			best = min(best, float64(sum)/float64(size*size*3))
		}
	}
	return best
}

// onWhite returns an icon at the panel's size, on the panel's colour.
func onWhite(icon image.Image) *image.RGBA {
	const size = 24
	out := image.NewRGBA(image.Rect(0, 0, size, size))
	n := icon.Bounds().Dx() / size
	for y := range size {
		for x := range size {
			var sum [3]int
			for i := range n * n {
				c := color.NRGBAModel.Convert(icon.At(x*n+i%n, y*n+i/n)).(color.NRGBA)
				for k, v := range [3]uint8{c.R, c.G, c.B} {
					sum[k] += (int(v)*int(c.A) + 255*(255-int(c.A))) / 255
				}
			}
			out.SetRGBA(x, y, color.RGBA{uint8(sum[0] / n / n), uint8(sum[1] / n / n), uint8(sum[2] / n / n), 255})
		}
	}
	return out
}

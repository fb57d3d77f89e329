// Package offscreen paints Fyne objects into pictures in memory, without OpenGL
// and without any window. It is the one place that makes Fyne believe there is
// an application: a fyne.App of our own whose driver is never run.
//
// Fyne's own headless application is not used, neither app.New with the build
// tag "ci" (it reads settings and themes from a folder below the system's
// temporary folder, which every local user can plant) nor test.NewApp. Of
// package fyne/v2/test only the driver's text measuring serves here: Fyne keeps
// that function internal.
//
// Everything that touches a Canvas must run on one goroutine.
package offscreen

import (
	"image"
	"image/color"
	"net/url"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"
)

// Start makes the process's Fyne application, with th for its fonts and sizes.
// Call it once, before the first Canvas.
func Start(th fyne.Theme) {
	fyne.SetCurrentApp(&app{driver: driver{measure: test.NewDriverWithPainter(nil)}, settings: settings{th}})
}

// Canvas paints one tree of objects at a scale. The background is not part of
// the tree: it is filled in while the picture is converted, which saves a third
// of the time.
type Canvas struct {
	c     software.WindowlessCanvas
	scale float32
}

// NewCanvas makes an empty canvas at a scale of 1.
func NewCanvas() *Canvas {
	c := software.NewTransparentCanvas()
	c.SetPadded(false)
	return &Canvas{c: c, scale: 1}
}

// Set gives the canvas its content, size (in units) and scale (pixels a unit).
func (c *Canvas) Set(o fyne.CanvasObject, size fyne.Size, scale float32) {
	c.scale = scale
	c.c.SetScale(scale)
	c.c.SetContent(o)
	c.c.Resize(size)
}

// Content returns the tree that was set.
func (c *Canvas) Content() fyne.CanvasObject { return c.c.Content() }

// Paint draws the content over background into out, which is reused if it is
// large enough. The result's rows are blue, green, red, unused.
func (c *Canvas) Paint(background color.NRGBA, out []byte) (w, h int, pix []byte) {
	img, ok := c.c.Capture().(*image.NRGBA)
	if !ok {
		return 0, 0, out[:0] // Fyne's software painter has no other kind
	}
	w, h = img.Rect.Dx(), img.Rect.Dy()
	if n := 4 * w * h; cap(out) >= n {
		out = out[:n]
	} else {
		out = make([]byte, n)
	}
	flatten(img, background, out)
	return w, h, out
}

// flatten lays img over a plain background and turns it into BGRX.
func flatten(img *image.NRGBA, bg color.NRGBA, out []byte) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	br, bgr, bb := uint32(bg.R), uint32(bg.G), uint32(bg.B)
	for y := range h {
		src := img.Pix[y*img.Stride : y*img.Stride+4*w]
		dst := out[4*y*w : 4*(y+1)*w]
		for i := 0; i+3 < len(src) && i+3 < len(dst); i += 4 {
			s, d := src[i:i+4:i+4], dst[i:i+4:i+4]
			switch a := uint32(s[3]); a {
			case 0:
				d[0], d[1], d[2] = bg.B, bg.G, bg.R
			case 255:
				d[0], d[1], d[2] = s[2], s[1], s[0]
			default:
				n := 255 - a
				d[0] = uint8((uint32(s[2])*a + bb*n + 127) / 255)
				d[1] = uint8((uint32(s[1])*a + bgr*n + 127) / 255)
				d[2] = uint8((uint32(s[0])*a + br*n + 127) / 255)
			}
			d[3] = 0xFF
		}
	}
}

// app is a Fyne application that has a theme and a way to measure text, and
// nothing else: no window, no files, no loop.
type app struct {
	driver   driver
	settings settings
}

func (a *app) NewWindow(string) fyne.Window             { return nil }
func (a *app) OpenURL(*url.URL) error                   { return errNone }
func (a *app) Icon() fyne.Resource                      { return nil }
func (a *app) SetIcon(fyne.Resource)                    {}
func (a *app) Run()                                     {}
func (a *app) Quit()                                    {}
func (a *app) Driver() fyne.Driver                      { return &a.driver }
func (a *app) UniqueID() string                         { return "" }
func (a *app) SendNotification(*fyne.Notification)      {}
func (a *app) CancelScheduledNotification(string) error { return errNone }
func (a *app) Settings() fyne.Settings                  { return a.settings }
func (a *app) Preferences() fyne.Preferences            { return nil }
func (a *app) Storage() fyne.Storage                    { return nil }
func (a *app) Lifecycle() fyne.Lifecycle                { return nil }
func (a *app) Metadata() fyne.AppMetadata               { return fyne.AppMetadata{} }
func (a *app) CloudProvider() fyne.CloudProvider        { return nil }
func (a *app) SetCloudProvider(fyne.CloudProvider)      {}
func (a *app) Clipboard() fyne.Clipboard                { return nil }
func (a *app) Cache() fyne.Cache                        { return nil }
func (a *app) ScheduleNotification(*fyne.Notification, time.Time) (*fyne.ScheduledNotification, error) {
	return nil, errNone
}

type noneError struct{}

func (noneError) Error() string { return "not available offscreen" }

var errNone = noneError{}

type settings struct{ theme fyne.Theme }

func (s settings) Theme() fyne.Theme               { return s.theme }
func (s settings) SetTheme(fyne.Theme)             {}
func (s settings) ThemeVariant() fyne.ThemeVariant { return 0 }
func (s settings) Scale() float32                  { return 1 }
func (s settings) PrimaryColor() string            { return "" }
func (s settings) AddChangeListener(chan fyne.Settings) {
}
func (s settings) AddListener(func(fyne.Settings)) {}
func (s settings) BuildType() fyne.BuildType       { return fyne.BuildStandard }
func (s settings) ShowAnimations() bool            { return false }

// driver measures text; whatever needs a loop or a window does nothing.
type driver struct{ measure fyne.Driver }

func (d *driver) RenderedTextSize(text string, size float32, style fyne.TextStyle, source fyne.Resource) (fyne.Size, float32) {
	return d.measure.RenderedTextSize(text, size, style, source)
}
func (d *driver) CreateWindow(string) fyne.Window                           { return nil }
func (d *driver) AllWindows() []fyne.Window                                 { return nil }
func (d *driver) CanvasForObject(fyne.CanvasObject) fyne.Canvas             { return nil }
func (d *driver) AbsolutePositionForObject(fyne.CanvasObject) fyne.Position { return fyne.Position{} }
func (d *driver) Device() fyne.Device                                       { return d.measure.Device() }
func (d *driver) Run()                                                      {}
func (d *driver) Quit()                                                     {}
func (d *driver) StartAnimation(*fyne.Animation)                            {}
func (d *driver) StopAnimation(*fyne.Animation)                             {}
func (d *driver) DoubleTapDelay() time.Duration                             { return 0 }
func (d *driver) SetDisableScreenBlanking(bool)                             {}
func (d *driver) DoFromGoroutine(f func(), _ bool)                          { f() }

// Package driver runs Fyne's widgets in ordinary desktop windows, painted in memory. It is
// a fyne.App and a fyne.Driver on top of internal/native/window, which owns the windows,
// and internal/ui/offscreen, which paints.
//
// The goroutine of Run owns everything that Fyne knows about; window events and requests
// of other goroutines are queued for it. After each round of the queue, every window is
// compared with what it shows, and changes are painted. Nothing runs while nothing happens.
// A screen reader, if there is one, is sent the windows' contents at most once per round.
package driver

import (
	"errors"
	"fmt"
	"image"
	"net/url"
	"time"

	"fyne.io/fyne/v2"
	base "fyne.io/fyne/v2/theme"

	"wiebelt/internal/native/window"
	"wiebelt/internal/ui/theme"
)

// Options are the initial options of an application.
type Options struct {
	Icons []*image.NRGBA // of windows, in several sizes
	Theme fyne.Theme
}

// App is the application and its driver: windows, a theme, a clipboard. It stores no files
// and sends no notifications. Run shows the windows until the last one is closed, the
// connection to the desktop ends or Quit is called. What is never called is not implemented.
type App struct {
	fyne.App
	display window.Desktop
	icons   []*image.NRGBA

	queue queue
	quit  bool
	empty bool          // the last window was closed; another may have opened since
	ended chan struct{} // closed when Run has returned

	windows       []*frame
	animations    []*animation
	kept          time.Time // when keepRenderers was last called
	heldModifiers fyne.KeyModifier
	reader        readerState
	settings      settings
	lifecycle     lifecycle
	copied        func(string)
}

// New creates the process's Fyne application, to be run with Run. Without a desktop, it
// returns an error that wraps window.ErrNoDisplay.
func New(o Options) (*App, error) {
	display, err := window.Open()
	if err != nil {
		return nil, err
	}
	a := &App{display: display, icons: o.Icons, queue: queue{wake: make(chan struct{}, 1)}, ended: make(chan struct{}),
		settings: settings{theme: o.Theme, desktop: display.Appearance()}}
	a.settings.changed = a.restyle
	fyne.SetCurrentApp(a)
	return a, nil
}

// NewWindow creates a window without showing it.
func (a *App) NewWindow(title string) fyne.Window { return a.CreateWindow(title) }

// Driver returns the driver of the windows.
func (a *App) Driver() fyne.Driver { return a }

// Settings returns the theme and the desktop's appearance settings.
func (a *App) Settings() fyne.Settings { return &a.settings }

// Lifecycle reports when Run begins and ends.
func (a *App) Lifecycle() fyne.Lifecycle { return &a.lifecycle }

// Clipboard returns the desktop's clipboard.
func (a *App) Clipboard() fyne.Clipboard { return clipboard{a} }

// OnCopied has f called with every text that is copied to the clipboard.
func (a *App) OnCopied(f func(string)) { a.copied = f }

// OpenURL opens nothing: the windows open links with package browser.
func (a *App) OpenURL(*url.URL) error { return errors.New("not offered by this application") }

type settings struct {
	fyne.Settings
	theme   fyne.Theme
	desktop window.Appearance
	changed func()
}

func (s *settings) Theme() fyne.Theme {
	if t, ours := s.theme.(theme.Fyne); ours {
		return t.HighContrast(s.desktop.HighContrast)
	}
	return s.theme
}
func (s *settings) ThemeVariant() fyne.ThemeVariant {
	if s.desktop.Dark {
		return base.VariantDark
	}
	return base.VariantLight
}
func (s *settings) PrimaryColor() string  { return base.ColorBlue }
func (s *settings) ShowAnimations() bool  { return !s.desktop.LessMotion }
func (s *settings) SetTheme(t fyne.Theme) { s.theme = t; s.changed() }

type lifecycle struct {
	fyne.Lifecycle
	started, stopped func()
}

func (l *lifecycle) SetOnStarted(f func()) { l.started = f }
func (l *lifecycle) SetOnStopped(f func()) { l.stopped = f }

func callIfSet(f func()) {
	if f != nil {
		f()
	}
}

type clipboard struct{ a *App }

// Content returns the text on the clipboard; it waits only briefly for a program
// that does not provide it.
func (c clipboard) Content() string {
	s, _ := c.a.display.Paste()
	return s
}

// SetContent copies a text to the clipboard.
func (c clipboard) SetContent(s string) {
	if err := c.a.display.Copy(s); err != nil {
		fyne.LogError("copy", fmt.Errorf("clipboard: %w", err))
	}
	if c.a.copied != nil {
		c.a.copied(s)
	}
}

// Package windowapp is the process with the windows: it connects to the resident
// and knows all windows. The windows themselves are packages beside this one, and
// internal/ui/widgets is what they share.
//
// Everything in the windows happens on Fyne's thread; the goroutines (one that receives
// from the resident, one that sends to it, one that reads the history) belong to
// Run, use fyne.Do and end with it, and so do those on which the windows read and
// write the profile's files. Anything only the resident has, such as the clipboard,
// is requested by message.
package windowapp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"log/slog"
	"sync"
	"time"

	"fyne.io/fyne/v2"

	"wiebelt/assets"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/calls"
	"wiebelt/internal/ui/driver"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// Conn is the connection to the resident. Send and Receive are used by one
// goroutine each; Close ends both.
type Conn interface {
	Send(kind string, msg any) error
	Receive() (kind string, raw json.RawMessage, err error)
	Close() error
}

// Config configures Run.
type Config struct {
	// Connect connects to the resident.
	Connect func(context.Context) (Conn, error)
	Window  string // the window to open first
	Dirs    profile.Dirs
	Program widgets.Program
	Log     *slog.Logger
}

var (
	// ErrNoWindow means that no window could be shown.
	ErrNoWindow = text.Errorf(text.WindowNone)
	// ErrNoWelcome means that the resident did not start with its welcome.
	ErrNoWelcome = errors.New("the resident did not answer")
)

const (
	welcomeTimeout = 5 * time.Second // for the resident's welcome
	flushTimeout   = time.Second     // for the last messages to it
)

// Run connects to the resident and shows its windows until the last one closes, the
// resident asks for it or goes away, or ctx ends. It must be called on the main goroutine.
// All goroutines it starts have ended when it returns.
func Run(ctx context.Context, cfg Config) error {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, welcome, err := handshake(ctx, cfg)
	if err != nil || conn == nil {
		return err
	}

	app, err := newApp()
	if err != nil {
		_ = conn.Close() // the error above is the one that matters
		return fmt.Errorf("%w (%v)", ErrNoWindow, err)
	}
	app.Settings().SetTheme(theme.New(welcome.Theme))
	if err := widgets.TranslateBuiltin(text.Language(welcome.Language)); err != nil {
		cfg.Log.Warn("the toolkit's own words stay untranslated", "error", err)
	}

	var group, works sync.WaitGroup
	out := make(chan message, 64)
	kicks := make(chan struct{}, 1)
	// After its loop has ended, Fyne runs posted functions on the poster's goroutine;
	// none may be left by then.
	post := func(f func()) {
		fyne.Do(func() {
			if ctx.Err() == nil {
				f()
			}
		})
	}
	quit := func() { post(app.Quit) }
	defer context.AfterFunc(outer, func() { fyne.Do(app.Quit) })()
	w := widgets.NewHost(widgets.Params{
		App: app, Dirs: cfg.Dirs, Program: cfg.Program, Go: func(work func(context.Context)) { works.Go(func() { work(ctx) }) },
		Post: post, Now: time.Now, Log: cfg.Log,
		After: func(d time.Duration, f func()) { time.AfterFunc(d, f) },
		Send: func(kind string, m any) {
			select {
			case out <- message{kind, m}:
			default: // the resident hangs: drop the click rather than block the window
				cfg.Log.Warn("message dropped", "kind", kind)
			}
		},
		ReadHistory: func() {
			wake.Up(kicks)
		},
	}, welcome)

	// On X11, copied text is lost when its program exits, so the resident, which stays, copies it too.
	app.OnCopied(func(s string) { w.Send(windowapi.KindCopy, windowapi.Copy{Text: s}) })
	var up bool
	sent := make(chan struct{})
	app.Lifecycle().SetOnStopped(cancel)
	past := calls.NewHistory(w)
	w.Openers = openers(past)
	past.FirstReading(ctx)
	group.Go(func() { past.Follow(ctx, kicks) })
	app.Lifecycle().SetOnStarted(func() {
		group.Go(func() {
			receive(conn, func(kind string, raw json.RawMessage) { post(func() { w.Handle(kind, raw) }) })
			quit()
		})
		group.Go(func() {
			defer close(sent)
			send(conn, out, cfg.Log)
			quit()
		})
		group.Go(func() {
			readers{app: app, post: post, lang: func() text.Language { return w.Lang }, log: cfg.Log}.follow(ctx)
		})
		up = w.ShowAt(welcome.Window, "")
	})
	app.Run()

	cancel()
	works.Wait() // pending writes are done and reported
	close(out)
	select {
	case <-sent:
	case <-time.After(flushTimeout):
	}
	err = conn.Close()
	group.Wait()
	if !up {
		return ErrNoWindow
	}
	if err != nil {
		cfg.Log.Debug("connection to the resident", "error", err)
	}
	return nil
}

type message struct {
	kind string
	m    any
}

// handshake connects, sends the window to show and waits for the welcome. There is no
// connection if other windows are open, which then show that one too.
func handshake(ctx context.Context, cfg Config) (Conn, windowapi.Welcome, error) {
	var w windowapi.Welcome
	ctx, cancel := context.WithTimeout(ctx, welcomeTimeout)
	defer cancel()
	conn, err := cfg.Connect(ctx)
	if err != nil {
		return nil, w, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // makes Receive return, with an error
	var kind string
	var raw json.RawMessage
	if err = conn.Send(windowapi.KindShow, windowapi.Show{Window: cfg.Window}); err == nil {
		kind, raw, err = conn.Receive()
	}
	switch {
	case !stop():
		return nil, w, ErrNoWelcome
	case err == nil && kind == windowapi.KindQuit:
		return nil, w, conn.Close()
	case err == nil && kind != windowapi.KindWelcome:
		err = fmt.Errorf("%w with a welcome", ErrNoWelcome)
	case err == nil:
		err = json.Unmarshal(raw, &w)
	}
	if err != nil {
		_ = conn.Close() // the error above is the one that matters
		return nil, w, fmt.Errorf("greet the resident: %w", err)
	}
	return conn, w, nil
}

func newApp() (*driver.App, error) {
	var icons []*image.NRGBA
	for _, size := range []int{16, 32, 48, 128} {
		b, err := assets.Icons.ReadFile(fmt.Sprintf("icons/app-%d.png", size))
		if err != nil {
			continue // embedded: only fails in a broken build
		}
		if i, err := png.Decode(bytes.NewReader(b)); err == nil {
			to := image.NewNRGBA(i.Bounds())
			draw.Draw(to, to.Rect, i, i.Bounds().Min, draw.Src)
			icons = append(icons, to)
		}
	}
	return driver.New(driver.Options{Icons: icons, Theme: theme.New("")})
}

// receive passes on the resident's messages until the connection ends.
func receive(conn Conn, handle func(string, json.RawMessage)) {
	for {
		kind, raw, err := conn.Receive()
		if err != nil {
			return
		}
		handle(kind, raw)
	}
}

// send sends messages until the queue is closed or the connection ends.
func send(conn Conn, out <-chan message, log *slog.Logger) {
	for m := range out {
		if err := conn.Send(m.kind, m.m); err != nil {
			log.Debug("resident is gone", "error", err)
			return
		}
	}
}

// Package windowlauncher manages the process with the windows: it starts it on request,
// talks to it while it runs, and reports when it cannot be started.
//
// It owns that process and the connections with it, under the lock of Launcher; each
// connection has the goroutine that serves it, one that sends, and one per request in
// progress, all of which end with Serve. What the messages say is up to the Launcher's
// creator.
package windowlauncher

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/messagebox"
	"wiebelt/internal/resident/request"
	"wiebelt/internal/text"
)

// paintTimeout limits how long the windows process may take from its start until it asks what
// to show, and from then until something is on screen; otherwise it is killed. The limit is
// generous, since the first start on a slow computer takes long.
const paintTimeout = 30 * time.Second

// Params configures a Launcher. The functions may be called from any goroutine.
type Params struct {
	Exe        string                                // our program, which also shows the windows
	ProfileDir string                                // as given on the command line
	Welcome    func(window string) windowapi.Welcome // the first message
	Answer     func(q request.Request)               // performs a window's request, on its own goroutine
	Copy       func(s string) error                  // copies to the clipboard; must not block
	LetForward func()                                // lets the windows come to the front
	WorkArea   func() windowapi.WorkArea             // where windows open
	Language   func() text.Language
	Ended      func() // the process has ended
	Log        *slog.Logger
}

// Launcher is the process with the windows. It is safe for concurrent use.
type Launcher struct {
	p           Params
	ctx         context.Context // the resident's
	mu          sync.Mutex
	out         chan outgoing // to the windows, nil while there are none
	process     *os.Process
	killTimer   *time.Timer // kills process unless it asks what to show
	limit       time.Duration
	pendingShow windowapi.Show // last request, until windows are connected
	restart     bool           // requested while the process was starting or ending
	unshown     windowapi.Show // requested from open windows that have not shown it yet
}

// maxCopied limits a text that windows copy to the clipboard: the longest is a recipe's.
const maxCopied = 8 << 10

type outgoing struct {
	kind string
	msg  any
}

// New returns a Launcher that lives until ctx ends.
func New(ctx context.Context, p Params) *Launcher {
	return &Launcher{p: p, ctx: ctx, limit: paintTimeout}
}

// Show shows a window, starting the process if it is not running.
func (d *Launcher) Show(window string) { d.ShowAt(windowapi.Show{Window: window}) }

// ShowAt is Show for a place in a window.
func (d *Launcher) ShowAt(m windowapi.Show) {
	d.p.LetForward()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.out != nil {
		d.unshown = m
		m.WorkArea = d.p.WorkArea()
		queue(d.out, outgoing{windowapi.KindShow, m})
		return
	}
	d.pendingShow = m
	if d.process != nil {
		d.restart = true // it is starting or ending
		return
	}
	args := []string{"window", m.Window}
	if d.p.ProfileDir != "" {
		args = append(args, "--profile", d.p.ProfileDir)
	}
	cmd := exec.Command(d.p.Exe, args...)
	if err := cmd.Start(); err != nil {
		d.p.Log.Error("the windows do not start", "why", err)
		d.ShowMessage(text.StatusWindowsFailed)
		return
	}
	d.process = cmd.Process
	d.killTimer = d.killLater(cmd.Process)
	go func() {
		err := cmd.Wait()
		d.mu.Lock()
		d.killTimer.Stop()
		d.process, d.killTimer = nil, nil
		again, want := d.restart && err == nil, d.pendingShow
		d.pendingShow, d.restart = windowapi.Show{}, false
		d.mu.Unlock()
		if again && d.ctx.Err() == nil {
			d.ShowAt(want)
		}
		if err != nil {
			d.p.Log.Warn("the windows ended badly", "why", err)
			d.ShowMessage(text.StatusWindowsFailed)
		}
		d.p.Ended()
	}()
}

// killLater kills a windows process after a while, if it is still ours.
func (d *Launcher) killLater(p *os.Process) *time.Timer {
	return time.AfterFunc(d.limit, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if p != nil && d.process == p {
			d.p.Log.Error("the windows process shows nothing and is ended")
			_ = p.Kill()
		}
	})
}

// ShowMessage shows a plain system message that there is no window, and what still works. It does
// not wait until it is read.
func (d *Launcher) ShowMessage(what text.Key) {
	said := d.p.Language().T(what)
	go func() {
		if d.ctx.Err() != nil {
			return // we are ending, and so is the message
		}
		if err := messagebox.Show(d.ctx, "Wiebelt", said); err != nil && d.ctx.Err() == nil {
			d.p.Log.Error("the user was not told", "why", err)
		}
	}()
}

// IsOpen reports whether any window is open.
func (d *Launcher) IsOpen() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.out != nil
}

// Send sends a message to the windows, if there are any. It never blocks.
func (d *Launcher) Send(kind string, msg any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	queue(d.out, outgoing{kind, msg})
}

func queue(out chan outgoing, m outgoing) {
	select {
	case out <- m:
	default: // it does not read; what it misses is in the history
	}
}

// Serve talks to a windows process until it or ctx ends. The first message says which
// window it was started for; if windows are already open, they show that one too, and the
// process is told to quit.
func (d *Launcher) Serve(ctx context.Context, c *instance.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	out := make(chan outgoing, 64)
	silent := context.AfterFunc(ctx, func() { _ = c.Close() })
	kind, raw, err := c.Receive()
	var first windowapi.Show
	if !silent() || err != nil || kind != windowapi.KindShow || json.Unmarshal(raw, &first) != nil {
		return
	}
	d.mu.Lock()
	if d.out != nil {
		d.mu.Unlock()
		d.ShowAt(first)
		_ = c.Send(windowapi.KindQuit, nil)
		return
	}
	d.out = out
	want := d.pendingShow // requested since the process was started, if different
	d.pendingShow, d.restart = windowapi.Show{}, false
	if d.killTimer != nil {
		d.killTimer.Stop()
	}
	late := d.killLater(d.process)
	d.mu.Unlock()
	defer late.Stop()
	defer func() {
		d.mu.Lock()
		d.out = nil
		asked := d.unshown
		d.unshown = windowapi.Show{}
		d.mu.Unlock()
		if asked.Window != "" && d.ctx.Err() == nil { // its last window was just closing
			d.ShowAt(asked)
		}
	}()
	if err := c.Send(windowapi.KindWelcome, d.p.Welcome(first.Window)); err != nil {
		return
	}
	if want.Window != "" && (want.Window != first.Window || want.Place != "") {
		d.ShowAt(want)
	}
	work.Go(func() {
		for {
			select {
			case m := <-out:
				if c.Send(m.kind, m.msg) != nil {
					_ = c.Close()
					return
				}
			case <-ctx.Done():
				_ = c.Send(windowapi.KindQuit, nil)
				_ = c.Close()
				return
			}
		}
	})
	for {
		kind, raw, err := c.Receive()
		if err != nil {
			return
		}
		switch kind {
		case windowapi.KindPainted:
			late.Stop()
			d.mu.Lock()
			d.unshown = windowapi.Show{}
			d.mu.Unlock()
		default:
			d.handle(ctx, &work, out, kind, raw)
		}
	}
}

// handle processes requests of the windows. It never blocks the connection.
func (d *Launcher) handle(ctx context.Context, work *sync.WaitGroup, out chan outgoing, kind string, raw json.RawMessage) {
	if kind == windowapi.KindCopy {
		var m windowapi.Copy
		if json.Unmarshal(raw, &m) == nil && len(m.Text) <= maxCopied {
			if err := d.p.Copy(m.Text); err != nil {
				d.p.Log.Warn("not copied", "why", err)
				queue(out, outgoing{windowapi.KindCopy, nil})
			}
		}
		return
	}
	q := request.Request{Ctx: ctx, Kind: kind, Raw: raw, Reply: func(kind string, msg any) { queue(out, outgoing{kind, msg}) }}
	work.Go(func() { d.p.Answer(q) })
}

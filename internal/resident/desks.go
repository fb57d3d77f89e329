package resident

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/instance"
	"wiebelt/internal/native/message"
	"wiebelt/internal/resident/ask"
	"wiebelt/internal/resident/notices"
	"wiebelt/internal/text"
)

// paintedIn is how long the windows program may take until something is on
// screen; one that shows nothing is ended (corrections.md 11), generously, since
// the first start on a slow machine loads much.
const paintedIn = 15 * time.Second

// desks knows the windows program: starts it when somebody asks for a window and
// talks to it while it runs. Its methods may be called from anywhere.
type desks struct {
	r       *Resident
	ctx     context.Context // of the resident
	mu      sync.Mutex
	conns   map[*instance.Conn]chan outgoing
	process *os.Process
	want    string // the window that the next connection opens
	again   bool   // wanted while the program was neither here nor gone
}

// maxCopied is how long a text from the windows may be that is put on the
// clipboard: the longest is a recipe's.
const maxCopied = 8 << 10

type outgoing struct {
	kind string
	msg  any
}

func newDesks(ctx context.Context, r *Resident) *desks {
	return &desks{r: r, ctx: ctx, conns: map[*instance.Conn]chan outgoing{}}
}

// path is the windows program in our own folder, "" if it is not there. It is
// never looked for anywhere else.
func (d *desks) path() string {
	name := "wiebelt-desk"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	p := filepath.Join(own(), name)
	if info, err := os.Stat(p); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return p
}

// show brings up a window, starting the program if it does not run.
func (d *desks) show(window string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.conns) > 0 {
		for _, out := range d.conns {
			queue(out, outgoing{deskapi.KindShow, deskapi.Show{Window: window}})
		}
		return
	}
	d.want = window
	if d.process != nil {
		d.again = true // it is on its way, or on its way out
		return
	}
	exe := d.path()
	if exe == "" {
		d.r.o.Log.Warn("the windows program is not installed")
		d.tell(text.StatusDeskMissing)
		return
	}
	args := []string{"--window", window}
	if d.r.o.ProfileDir != "" {
		args = append(args, "--profile", d.r.o.ProfileDir)
	}
	cmd := exec.Command(exe, args...)
	// The scale that cards use; Fyne would find another one by itself.
	cmd.Env = os.Environ()
	if d.r.display != (notices.Display{}) {
		scale := d.r.display.Monitors()[0].Scale
		cmd.Env = append(cmd.Env, "FYNE_DISABLE_DPI_DETECTION=1", "FYNE_SCALE="+strconv.FormatFloat(float64(scale), 'f', 2, 32))
	}
	if err := cmd.Start(); err != nil {
		d.r.o.Log.Error("the windows program does not start", "why", err)
		d.tell(text.StatusDeskFailed)
		return
	}
	d.process = cmd.Process
	go func() {
		err := cmd.Wait()
		d.mu.Lock()
		d.process = nil
		again, want := d.again && err == nil, d.want
		d.again = false
		d.mu.Unlock()
		if again && d.ctx.Err() == nil {
			d.show(want)
		}
		if err != nil {
			d.r.o.Log.Warn("the windows program ended badly", "why", err)
			d.tell(text.StatusDeskFailed)
		}
		if d.r.o.DemoWindow {
			d.r.stop() // the demo is its window
		}
	}()
}

// tell says in a plain message of the system that there is no window, and what
// goes on working. It does not wait for anybody to read it.
func (d *desks) tell(what text.Key) {
	said := d.r.lang().T(what)
	go func() {
		if d.ctx.Err() != nil {
			return // we are ending, and so is it
		}
		if err := message.Tell(d.ctx, "Wiebelt", said); err != nil && d.ctx.Err() == nil {
			d.r.o.Log.Error("the user was not told", "why", err)
		}
	}()
}

// open reports whether the windows program is there.
func (d *desks) open() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.conns) > 0
}

// end takes the windows program down with the resident.
func (d *desks) end() { d.send(deskapi.KindQuit, nil) }

// send tells every open windows program something. It never blocks.
func (d *desks) send(kind string, msg any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, out := range d.conns {
		queue(out, outgoing{kind, msg})
	}
}

func queue(out chan outgoing, m outgoing) {
	select {
	case out <- m:
	default: // it does not read; what it misses it can read from the history
	}
}

// serve talks to one windows program until it ends or ctx does.
func (d *desks) serve(ctx context.Context, c *instance.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	out := make(chan outgoing, 64)
	d.mu.Lock()
	d.conns[c] = out
	window := cmp.Or(d.want, deskapi.WindowCalls)
	d.again = false
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(d.conns, c)
		d.mu.Unlock()
	}()
	if err := c.Send(deskapi.KindWelcome, d.welcome(window)); err != nil {
		return
	}
	late := time.AfterFunc(paintedIn, func() {
		d.r.o.Log.Error("the windows program shows nothing and is ended")
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.process != nil {
			_ = d.process.Kill()
		}
	})
	defer late.Stop()
	work.Go(func() {
		for {
			select {
			case m := <-out:
				if c.Send(m.kind, m.msg) != nil {
					_ = c.Close()
					return
				}
			case <-ctx.Done():
				_ = c.Send(deskapi.KindQuit, nil)
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
		case deskapi.KindPainted:
			late.Stop()
		default:
			d.handle(ctx, &work, out, kind, raw)
		}
	}
}

func (d *desks) welcome(window string) deskapi.Welcome {
	s := d.r.set()
	w := deskapi.Welcome{Language: string(d.r.lang()), Theme: d.r.appearance(), FileWord: s.UI.FileWord, Window: window, Status: d.r.status()}
	if d.r.store != nil && s.History.Keep != "off" {
		w.History = historyPath(d.r.o.Dirs)
	}
	if d.r.o.Demo != nil {
		w.Demo = d.r.o.Demo.Calls(d.r.lang())
	}
	return w
}

// appearance is that of the cards, so that windows and cards never differ.
func (r *Resident) appearance() string {
	switch t := r.set().UI.Theme; {
	case t != "system":
		return t
	case r.display.Dark():
		return "dark"
	}
	return "light"
}

// handle does what the windows program asks for. Nothing here blocks its
// connection.
func (d *desks) handle(ctx context.Context, work *sync.WaitGroup, out chan outgoing, kind string, raw json.RawMessage) {
	if area, _, ok := strings.Cut(kind, "."); ok {
		if answer := areas[area]; answer != nil {
			q := ask.Request{Ctx: ctx, Kind: kind, Raw: raw, Reply: func(kind string, msg any) { queue(out, outgoing{kind, msg}) }}
			work.Go(func() { answer(d.r, q) })
		}
		return
	}
	switch kind {
	case deskapi.KindPlay:
		var m deskapi.Play
		if json.Unmarshal(raw, &m) != nil || d.r.o.Demo == nil {
			return
		}
		work.Go(func() { queue(out, outgoing{deskapi.KindPlayed, d.r.o.Demo.Play(ctx, m.ID, d.r.lang())}) })
	case deskapi.KindRecipe:
		work.Go(func() { queue(out, outgoing{deskapi.KindRecipes, d.r.recipes()}) })
	case deskapi.KindCopy:
		var m deskapi.Copy
		if json.Unmarshal(raw, &m) == nil && len(m.Text) <= maxCopied {
			if err := d.r.display.Copy(m.Text); err != nil {
				d.r.o.Log.Warn("not copied", "why", err)
			}
		}
	}
}

// areas answer the windows' requests, each on a goroutine of its own.
var areas = map[string]func(*Resident, ask.Request){"calls": answerCalls, "delivery": (*Resident).answerDelivery, "doctor": answerDoctor, "lookup": answerLookup,
	"settings": (*Resident).answerSettings, "start": answerStart, "test": answerStart, "ways": answerWays}

// Package tray puts an icon with a menu into the desktop's tray. It shows what
// it is told and reports what was chosen; it decides nothing.
//
// Goroutines: Run holds the main one, as the systems want it, and starts one
// more that owns the icon and the menu; both end with the context. There is one
// tray a process, because the library below keeps it in global variables.
package tray

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"runtime"
	"slices"
	"sync"

	"fyne.io/systray"
)

// State is what the icon's shape says.
type State uint8

// The states.
const (
	Ready State = iota
	NotSetUp
	LinkLost
	HubGone
	CredentialsRefused
	Paused
)

func (s State) file() string {
	return [...]string{"tray-ready", "tray-not-set-up", "tray-link-lost", "tray-hub-gone", "tray-credentials", "tray-paused"}[s]
}

// Item is a line of the menu.
type Item struct {
	ID, Title           string
	Disabled, Separator bool
}

// Model is all that the tray shows. Not changed once it was handed over.
type Model struct {
	State    State
	Sentence string // said by the tooltip; holds no name and no number
	Items    []Item
}

// Params is what a Tray needs.
type Params struct {
	Icons  fs.FS           // folder icons with tray-<state>-<size>.png and tray-<state>.ico
	Chosen func(id string) // an item was chosen; called on a goroutine of its own
	Open   func()          // the icon was clicked
	Log    *slog.Logger
}

// Tray is the icon. Make one with New.
type Tray struct {
	p    Params
	mu   sync.Mutex
	next *Model
	wake chan struct{}
}

// New makes a tray that shows nothing until Run.
func New(p Params) *Tray { return &Tray{p: p, wake: make(chan struct{}, 1)} }

// Set has the tray show m. Any goroutine; only the newest of several counts.
func (t *Tray) Set(m Model) {
	t.mu.Lock()
	t.next = &m
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Run shows the tray until ctx ends. It must be called on the main goroutine.
// Where there is nothing that could have a tray it only waits for ctx.
func (t *Tray) Run(ctx context.Context) {
	if !reachable() {
		<-ctx.Done()
		return
	}
	log.SetOutput(io.Discard) // the library reports through it; nothing of ours does
	ready := make(chan struct{})
	var owner sync.WaitGroup
	owner.Go(func() {
		select {
		case <-ready:
			t.own(ctx)
		case <-ctx.Done():
		}
		<-ctx.Done()
		systray.Quit()
	})
	if t.p.Open != nil {
		systray.SetOnTapped(func() { go t.p.Open() })
	}
	systray.Run(func() { close(ready) }, func() {})
	owner.Wait()
	cleanUp()
}

// own shows models as they come. Nothing happens between them.
func (t *Tray) own(ctx context.Context) {
	var shown *Model
	stop := func() {} // ends the listeners of the items shown
	defer func() { stop() }()
	for {
		t.mu.Lock()
		m := t.next
		t.mu.Unlock()
		if m != nil && m != shown {
			if shown == nil || shown.State != m.State {
				t.icon(m.State)
			}
			if shown == nil || shown.Sentence != m.Sentence {
				systray.SetTooltip("Wiebelt – " + m.Sentence)
			}
			if shown == nil || !slices.Equal(shown.Items, m.Items) {
				stop()
				items, cancel := context.WithCancel(ctx)
				stop = cancel
				t.build(items, m.Items)
			}
			shown = m
		}
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		}
	}
}

func (t *Tray) icon(s State) {
	name := s.file() + "-48.png" // desktops scale down, and want it sharp on large panels
	if runtime.GOOS == "windows" {
		name = s.file() + ".ico"
	}
	b, err := fs.ReadFile(t.p.Icons, "icons/"+name)
	if err != nil {
		t.p.Log.Error("tray icon", "why", err)
		return
	}
	systray.SetIcon(b)
}

func (t *Tray) build(ctx context.Context, items []Item) {
	systray.ResetMenu()
	for _, i := range items {
		if i.Separator {
			systray.AddSeparator()
			continue
		}
		item := systray.AddMenuItem(i.Title, "")
		if i.Disabled {
			item.Disable()
			continue
		}
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case _, open := <-item.ClickedCh:
					if !open {
						return
					}
					if ctx.Err() == nil {
						t.p.Chosen(i.ID)
					}
				}
			}
		}()
	}
}

// String names a state for tests and logs.
func (s State) String() string { return fmt.Sprint(s.file()) }

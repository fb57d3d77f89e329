// Package tray shows an icon with a menu in the desktop's tray. It shows a given model and
// reports what was chosen; it decides nothing.
//
// There is one tray per process, because the underlying library keeps it in global
// variables. One goroutine owns them: with a tray over a bus, the one that called
// Run; on Windows, whose event loop needs that one, Run starts another. Every menu
// item has a goroutine that waits for its clicks. All end before Run returns, except
// those that are in Chosen or Open at that time.
package tray

import (
	"context"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"fyne.io/systray"

	"wiebelt/internal/core/wake"
)

// State is what the icon's shape means.
type State uint8

// The states.
const (
	Ready State = iota
	NotSetUp
	LinkLost
	HubGone
	CredentialsRefused
	Paused
	Doubt // no fault is known, but expected calls did not arrive
)

// String returns the state's name as used in the names of its pictures.
func (s State) String() string {
	return [...]string{"ready", "not-set-up", "link-lost", "hub-gone", "credentials", "paused", "doubt"}[s]
}

// Item is a line of the menu.
type Item struct {
	ID, Title           string
	Disabled, Separator bool
}

// Model is everything that the tray shows. It must not change once handed over.
type Model struct {
	State    State
	Sentence string // shown in the tooltip; contains no name and no number
	Items    []Item
}

// Params are the dependencies of a Tray.
type Params struct {
	Icons  fs.FS           // folder icons with tray-<state>-<size>.png and tray-<state>.ico
	Chosen func(id string) // an item was chosen; called on its own goroutine
	Open   func()          // the icon was clicked; called on its own goroutine, never nil
	Log    *slog.Logger
}

// Tray is the icon. Make one with New.
type Tray struct {
	p    Params
	next atomic.Pointer[Model]
	wake chan struct{}

	// Used only by the owner.
	shown *Model
	items []*systray.MenuItem // as shown.Items, nil for a separator
	stop  context.CancelFunc  // stops the items' listeners
	ended sync.WaitGroup      // the listeners
}

// New returns a tray that shows nothing until Run.
func New(p Params) *Tray {
	return &Tray{p: p, wake: make(chan struct{}, 1), stop: func() {}}
}

// Set makes the tray show m. It may be called from any goroutine; of
// several models, only the latest matters.
func (t *Tray) Set(m Model) {
	t.next.Store(&m)
	wake.Up(t.wake)
}

// Run shows the tray until ctx ends. It must be called on the main goroutine. If nothing
// can show a tray, it only waits for ctx; on Windows it waits for the taskbar too.
func (t *Tray) Run(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	if !reachable(ctx) {
		<-ctx.Done()
		return
	}
	// The library logs its errors, such as a desktop without a tray, to the standard logger.
	log.SetOutput(io.Discard)
	systray.SetTitle("Wiebelt") // panels use it to remember where the user wants the icon
	systray.SetOnTapped(func() { go t.p.Open() })
	t.run(ctx)
	t.stop()
	t.ended.Wait()
}

// showModels shows models as they arrive, and is idle in between.
func (t *Tray) showModels(ctx context.Context) {
	for {
		t.show(ctx)
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		}
	}
}

// show updates the tray, changing only what differs.
func (t *Tray) show(ctx context.Context) {
	m, was := t.next.Load(), t.shown
	if m == nil || m == was {
		return
	}
	t.shown = m
	if was == nil || was.State != m.State {
		t.icon(m.State)
	}
	if was == nil || was.Sentence != m.Sentence {
		systray.SetTooltip(cutTooltip("Wiebelt – " + m.Sentence))
	}
	if was != nil && sameLines(was.Items, m.Items) {
		t.updateTitles(was.Items, m.Items)
	} else {
		t.build(ctx, m.Items)
	}
}

func (t *Tray) icon(s State) {
	b, err := t.picture(s)
	if err != nil {
		t.p.Log.Error("tray icon", "why", err)
		return
	}
	systray.SetIcon(b)
}

func (t *Tray) picture(s State) ([]byte, error) {
	return fs.ReadFile(t.p.Icons, "icons/tray-"+s.String()+iconSuffix)
}

// sameLines reports whether the lines are the same except for their titles. A line must never
// change its meaning, since the user may be about to click it.
func sameLines(a, b []Item) bool {
	return slices.EqualFunc(a, b, func(a, b Item) bool { return a.ID == b.ID && a.Separator == b.Separator })
}

// updateTitles changes the titles of lines, which keeps an open menu open.
func (t *Tray) updateTitles(was, now []Item) {
	for i, item := range t.items {
		if item == nil {
			continue
		}
		if was[i].Title != now[i].Title {
			item.SetTitle(escape(now[i].Title))
		}
		switch {
		case now[i].Disabled && !was[i].Disabled:
			item.Disable()
		case was[i].Disabled && !now[i].Disabled:
			item.Enable()
		}
	}
}

func (t *Tray) build(ctx context.Context, items []Item) {
	t.stop()
	for _, item := range t.items {
		// The library closes this channel, and panics if it is sending a click
		// at that moment. It ignores a nil channel.
		if item != nil {
			item.ClickedCh = nil
		}
	}
	if t.items != nil {
		systray.ResetMenu()
	}
	ctx, t.stop = context.WithCancel(ctx)
	t.items = make([]*systray.MenuItem, len(items))
	for i, it := range items {
		if it.Separator {
			systray.AddSeparator()
			continue
		}
		item := systray.AddMenuItem(escape(it.Title), "")
		if it.Disabled {
			item.Disable()
		}
		t.items[i] = item
		clicked := item.ClickedCh
		t.ended.Go(func() { t.listen(ctx, clicked, it.ID) })
	}
}

// listen reports clicks on one item. The desktop sends none while the item is disabled.
func (t *Tray) listen(ctx context.Context, clicked <-chan struct{}, id string) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-clicked:
			// Handling it may take long, or end this tray.
			go t.p.Chosen(id)
		}
	}
}

package card

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/native/window"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/winetest"
	"wiebelt/internal/text"
)

// acting is an engine that reports what it is asked to open.
type acting struct {
	*script
	done chan engine.Action
}

func (a acting) Do(do engine.Action) {
	if do.Kind == engine.ActionOpen {
		a.done <- do
	}
}

// served has cards in real windows, with a bridge for clients.
type served struct {
	acting
	told   chan screenreader.Tree
	tree   screenreader.Tree
	passed atomic.Int64
}

func serveCards(t *testing.T) *served {
	t.Helper()
	s := &served{acting: acting{newScript(), make(chan engine.Action, 10)}, told: make(chan screenreader.Tree, 100)}
	d := must.Get(window.Open())(t)
	b := screenreader.New()
	c := Config{Language: text.Dutch, Appearance: "light", Corner: BottomRight, Log: slog.New(slog.DiscardHandler),
		Events: Events{TreeChanged: func(tree screenreader.Tree) { b.Show(tree); s.told <- tree }}}
	cs := must.Get(New(func() Config { return c }, s, d))(t)
	cs.now = func() time.Time { return time.Now().Add(time.Duration(s.passed.Load())) }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- b.Run(ctx) }()
	go func() { cs.Run(ctx); ended <- nil }()
	t.Cleanup(func() {
		cancel()
		must.Do(t, errors.Join(<-ended, <-ended, d.Close()))
		<-d.Done()
	})
	return s
}

// shows puts cards on screen and returns once screen readers were notified.
func (s *served) shows(all ...engine.Card) {
	s.show(0, all...)
	for s.tree = <-s.told; len(s.tree.Windows) != len(all); s.tree = <-s.told {
	}
}

// explore returns what a client finds, from a thread of its own.
func explore(t *testing.T) (all []winetest.Found) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends
		err := windows.CoInitializeEx(0, windows.COINIT_MULTITHREADED)
		if err == nil {
			_ = winetest.Explore("WiebeltCard", func(f winetest.Found) { all = append(all, f) }) // it may be gone
			windows.CoUninitialize()
		}
		done <- err
	}()
	must.Do(t, <-done)
	return all
}

// TestCardsExplored: a client finds everything on a card and can press its button. While it
// explores, 300 cards come and go (10,000 with SOAK), and neither memory nor handles leak.
func TestCardsExplored(t *testing.T) {
	s, g := serveCards(t), gallery(t)
	s.shows(g["found"])
	const news, button = "Inkomend op Schade (020 123 45 67): J. de Vries, 06 12 34 56 78", 50000
	is := func(f winetest.Found) bool { return f.Name == "Relatie openen" && f.Type == button && f.Focusable }
	all := explore(t)
	for !slices.ContainsFunc(all, is) {
		all = explore(t)
	}
	said := 0
	for i, f := range all {
		if f.Name == "" || (f.Depth == 0) != (i == 0) {
			t.Errorf("%d: %+v", i, f)
		}
		if f.Name == news {
			said++
		}
	}
	if said != 2 { // the card itself, and its announcement
		t.Errorf("who calls is there %d times: %+v", said, all)
	}
	s.passed.Add(int64(time.Second)) // too soon, a press cannot be intentional
	s.tree.Press(screenreader.ID(must.Get(strconv.Atoi(all[slices.IndexFunc(all, is)].ID))(t)))
	if a := <-s.done; a.Card != 1 || a.Index != 0 {
		t.Errorf("pressed: %+v", a)
	}

	cards := 300
	if os.Getenv("SOAK") != "" {
		cards = 10_000
	}
	kinds := []string{"found", "several", "searching", "crowd"}
	var next uintptr
	var memory uint64
	for i := range cards {
		s.shows()
		c := g[kinds[i%len(kinds)]]
		c.ID = engine.CardID(100 + i)
		s.shows(c)
		if i%10 == 0 {
			explore(t)
		}
		if i == cards/10 {
			next, memory = winetest.Usage()
		}
	}
	s.shows()
	n, m := winetest.Usage()
	t.Logf("handle %d, then %d; memory %d, then %d", next, n, memory, m)
	const handle = 4 // from one to the next: less than one per four cards
	if n > next+handle*uintptr(cards)/4 || m > memory+memory/4 {
		t.Error("the program grows")
	}
}

package card

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/native/window"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/winetest"
	"wiebelt/internal/text"
)

// acting is an engine that tells what it is asked to do.
type acting struct {
	*script
	done chan engine.Action
}

func (a acting) Do(do engine.Action) {
	if do.Do == engine.DoOpen {
		a.done <- do
	}
}

// served are cards in real windows, with a bridge for clients.
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
	cs := must.Get(New(Config{Language: text.Dutch, Appearance: Light, Corner: BottomRight, Log: slog.New(slog.DiscardHandler),
		Events: Events{Explored: func(tree screenreader.Tree) { b.Show(tree); s.told <- tree }}}, s, d))(t)
	cs.now = func() time.Time { return time.Now().Add(time.Duration(s.passed.Load())) }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- b.Run(ctx) }()
	go func() { cs.Run(ctx); ended <- nil }()
	t.Cleanup(func() {
		cancel()
		must.Do(t, <-ended)
		must.Do(t, <-ended)
		d.Close()
		<-d.Done()
	})
	return s
}

// shows puts cards on screen and returns when readers were told.
func (s *served) shows(all ...engine.Card) {
	if len(all) == 0 && len(s.tree.Windows) == 0 {
		return // there is nothing to tell
	}
	s.show(0, all...)
	for s.tree = <-s.told; len(s.tree.Windows) != len(all); s.tree = <-s.told {
	}
}

// TestServeCards obeys its standard input, for TestWindowsExplored.
func TestServeCards(t *testing.T) {
	if only := flag.Lookup("test.run").Value.String(); only != "^"+t.Name()+"$" {
		t.Skip("in a process of its own")
	}
	s, g := serveCards(t), gallery(t)
	last := engine.CardID(100)
	fmt.Println("ready")
	for sc := bufio.NewScanner(os.Stdin); sc.Scan(); {
		cmd, rest, _ := strings.Cut(strings.TrimSpace(sc.Text()), " ")
		switch cmd {
		case "show":
			s.shows(g[rest])
		case "press": // what its button would do, once it has stood there long enough
			s.passed.Add(int64(time.Second))
			s.tree.Press(screenreader.ID(must.Get(strconv.Atoi(rest))(t)))
			rest = fmt.Sprint((<-s.done).Card)
		case "churn": // that many cards, of which the last one stays
			kinds := []string{"found", "several", "searching", "crowd"}
			for i := range must.Get(strconv.Atoi(rest))(t) {
				s.shows()
				c := g[kinds[i%len(kinds)]]
				last++
				c.ID = last
				s.shows(c)
			}
		case "usage":
			s.shows()
			rest = fmt.Sprint(winetest.Usage())
		}
		fmt.Println("ok", cmd, rest)
	}
}

package resident

import (
	"context"
	"fmt"
	"image"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/native/window"
	"wiebelt/internal/resident/notifications"
	"wiebelt/internal/resident/recorder"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

// wall is a display that counts what it shows.
type wall struct {
	notifications.Display
	windows, up, painted atomic.Int64
}

func (d *wall) NewCard(window.CardHandler) (window.Card, error) {
	d.windows.Add(1)
	return &board{d: d}, nil
}
func (d *wall) Monitors() []window.Monitor {
	return []window.Monitor{{Area: image.Rect(0, 0, 1280, 1024), Work: image.Rect(0, 0, 1280, 1024), Scale: 1}}
}
func (d *wall) Hotkey(string, string, func(), func(error)) (func(), error) { return func() {}, nil }

type board struct {
	d  *wall
	up bool
}

func (b *board) Show(image.Rectangle, *window.Picture) error {
	b.d.painted.Add(1)
	if !b.up {
		b.up = true
		b.d.up.Add(1)
	}
	return nil
}
func (b *board) Hide() error {
	if b.up {
		b.up = false
		b.d.up.Add(-1)
	}
	return nil
}
func (b *board) Update(image.Point, *window.Picture) error { b.d.painted.Add(1); return nil }
func (b *board) TakeKeyboard() error                       { return nil }
func (b *board) GiveKeyboardBack() error                   { return nil }
func (b *board) HideFromCapture(bool) error                { return nil }
func (b *board) OnScreen() (*image.RGBA, error)            { return nil, nil }
func (b *board) Sync() error                               { return nil }
func (b *board) Close() error                              { return nil }

// slowHub knows every number that does not end in 0, and two contacts for each that
// ends in 1; it is slow and sometimes fails.
type slowHub struct{ n atomic.Int64 }

func (h *slowHub) Lookup(ctx context.Context, number string) ([]contact.Contact, error) {
	n := h.n.Add(1)
	select {
	case <-time.After(time.Duration(n%7) * 40 * time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	k := contact.Contact{ID: "c" + number, RelationNumber: "100200", Initials: "J.", FamilyName: "Nummer " + number, Link: "https://hub.example/contacts/viewcontact/c" + number}
	switch {
	case n%50 == 0:
		return nil, &contact.LookupError{Failure: contact.HubSlow}
	case strings.HasSuffix(number, "0"):
		return nil, nil
	case strings.HasSuffix(number, "1"):
		other := k
		other.ID += "x"
		return []contact.Contact{k, other}, nil
	}
	return []contact.Contact{k}, nil
}

// weight returns the memory the process uses, in kB: Go's heap and the resident set.
func weight(t *testing.T) (heap, rss int) {
	t.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b := must.Get(os.ReadFile("/proc/self/statm"))(t)
	return int(m.HeapAlloc >> 10), must.Get(strconv.Atoi(strings.Fields(string(b))[1]))(t) * os.Getpagesize() >> 10
}

// TestSoakDay simulates a 24-hour day of engine, recorder, history and cards with a clock
// that jumps from event to event. Memory must not grow, and after the last call everything
// is as it was before the first. make soak plays ten thousand calls.
func TestSoakDay(t *testing.T) {
	calls := 1000
	if os.Getenv("SOAK") != "" {
		calls = 10_000
	}
	path := filepath.Join(t.TempDir(), "history.db")
	synctest.Test(t, func(t *testing.T) { playDay(t, path, calls) })
}

func playDay(t *testing.T, path string, calls int) {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent)) // as in the resident
	ctx, cancel := context.WithCancel(t.Context())
	log := slog.New(slog.DiscardHandler)
	store := must.Get(history.Open(path, history.KeepFull, 7, time.Now))(t)
	var work sync.WaitGroup
	defer func() {
		cancel()
		work.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	rec := recorder.New(store, func() {}, log)
	rules := phone.DefaultRules()
	eng := engine.New(engine.Params{Rules: rules, Lookup: &slowHub{}, CheckLink: func(l string) (string, error) { return l, nil },
		Browse: func(context.Context, string) error { return nil }, Record: rec.Enqueue, FullFor: time.Minute, AfterCall: 20 * time.Second,
		SchemeLookup: "ask", Outgoing: "strip", AutoOpen: "never", Log: log})
	screen := &wall{}
	config := card.Config{Language: text.Dutch, Appearance: "light", FileWord: "relatie", Corner: "bottom-right", Log: log}
	cards := must.Get(card.New(func() card.Config { return config }, eng, screen))(t)
	work.Go(func() { runEngine(ctx, eng, rec.Run) })
	work.Go(func() { cards.Run(ctx) })
	synctest.Wait()
	before, windows := runtime.NumGoroutine(), screen.windows.Load()

	random := rand.New(rand.NewPCG(20261121, 6))
	source := call.Source{Kind: "baresip", ReportLevel: call.AllStates}
	every := 24 * time.Hour / time.Duration(calls)
	report := func(e call.Event) {
		e.Source, e.At = source, time.Now()
		if err := eng.Receive(e); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	}
	start := time.Now()
	var heap, rss int
	for n := range calls {
		if wait := time.Until(start.Add(time.Duration(n) * every)); wait > 0 {
			time.Sleep(wait) // simulated time
		}
		e := call.Event{ID: strconv.Itoa(n), State: call.Ringing, Direction: call.Incoming, Number: fmt.Sprintf("+316987%05d", random.IntN(400))}
		switch n % 20 {
		case 7:
			e.Number = "" // withheld
		case 13:
			e.Number = "101"
		}
		report(e)
		time.Sleep(time.Duration(500+random.IntN(2500)) * time.Millisecond)
		if n%3 == 0 {
			e.State = call.Answered
			report(e)
			time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
		}
		e.State, e.Reason = call.Ended, call.Missed
		if n%3 == 0 {
			e.Reason = call.Completed
		}
		report(e)
		if n == max(200, calls/10) { // by then SQLite has allocated its pages
			heap, rss = weight(t)
		}
	}
	time.Sleep(15 * time.Minute) // the last card disappears
	synctest.Wait()
	heapEnd, rssEnd := weight(t)
	after := runtime.NumGoroutine()
	kept := must.Get(history.OpenReadOnly(t.Context(), path))(t)
	all, err := kept.Page(ctx, history.Query{}, 0, calls+1)
	if err == nil {
		var work []history.Entry
		work, err = kept.UnhandledCalls(ctx, calls+1)
		all = append(all, work...)
	}
	must.Do(t, kept.Close())
	if err != nil || len(all) != calls {
		t.Errorf("%d of %d calls are kept: %v", len(all), calls, err)
	}
	if heapEnd > heap+heap/20 {
		t.Errorf("the heap grew from %d to %d kB", heap, heapEnd)
	}
	// The race detector's memory is not the program's, and a short day ends
	// before SQLite has allocated its pages.
	if os.Getenv("SOAK") != "" && rssEnd > rss+rss/20 {
		t.Errorf("the process grew from %d to %d kB", rss, rssEnd)
	}
	if after > before || screen.windows.Load() != windows || screen.up.Load() != 0 {
		t.Errorf("goroutines %d -> %d, windows %d -> %d, still up %d", before, after, windows, screen.windows.Load(), screen.up.Load())
	}
	if s := eng.Snapshot(); len(s.Cards) != 0 {
		t.Errorf("%d cards are left", len(s.Cards))
	}
}

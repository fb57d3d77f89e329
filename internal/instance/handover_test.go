package instance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/testutil/must"
)

// command is a call reported by a phone's program.
func command(number string) call.Event {
	return call.Event{Source: call.Source{Kind: call.KindCommand, ReportLevel: call.RingOnly}, Number: number, At: time.Now()}
}

// TestOnceByTwoRoads checks that a call counts once if a program got no answer
// in time and puts it into the inbox too, although the resident did get it.
func TestOnceByTwoRoads(t *testing.T) {
	dir := folder(t)
	e := &testHandler{news: make(chan struct{}, 10)}
	serve(t, dir, e)
	out := encodeEvent(command("1"))
	for range 2 {
		must.Get(writeCall(config(dir), out))(t)
		must.Do(t, deliver(t.Context(), config(dir), out, settleTime))
	}
	must.Do(t, deliver(t.Context(), config(dir), encodeEvent(command("2")), settleTime))
	waitFor(t, "the inbox to be empty", func() bool {
		files, _ := os.ReadDir(inboxDir(config(dir)))
		return len(files) == 0
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.got) != 2 {
		t.Errorf("%d calls were heard, want 2", len(e.got))
	}
}

// TestInOrder checks that a call that got no answer in time and waits in the inbox
// comes before the next one handed over; otherwise a call that has ended would ring.
func TestInOrder(t *testing.T) {
	i := must.Get(Acquire(config(folder(t))))(t)
	defer i.Close()
	must.Get(writeCall(i.cfg, encodeEvent(command("1"))))(t)
	e := &testHandler{news: make(chan struct{}, 2)}
	served := make(chan error, 1)
	go func() { // without the goroutine that watches the inbox
		c, err := i.listener.Accept()
		if err == nil {
			i.peer(t.Context(), newConn(c), e, newInbox(i.cfg, &receiver{h: e}))
			err = c.Close()
		}
		served <- err
	}()
	must.Do(t, deliver(t.Context(), i.cfg, encodeEvent(command("2")), settleTime), must.Receive(t, served, "the end of the connection"))
	if len(e.got) != 2 || e.got[0].Number != "1" || e.got[1].Number != "2" {
		t.Errorf("heard %+v", e.got)
	}
}

// TestEndingResident checks that a resident that accepts no more calls loses none, and
// that the next one waits until it has exited.
func TestEndingResident(t *testing.T) {
	dir := folder(t)
	old := must.Get(Acquire(config(dir)))(t)
	end := begin(t, old, &testHandler{fail: errors.New("ending")})
	asked := false
	if err := HandOver(t.Context(), config(dir), command("1"), func() error { asked = true; return nil }); err != nil || !asked {
		t.Fatalf("%v, started: %v", err, asked)
	}
	end()
	// It no longer answers but still holds the lock.
	got := make(chan *Instance)
	go func() {
		i, err := Acquire(config(dir))
		if err != nil {
			t.Error(err)
		}
		got <- i
	}()
	select {
	case <-got:
		t.Fatal("two at a time")
	case <-time.After(100 * time.Millisecond):
	}
	_ = old.Close()
	i := must.Receive(t, got, "the next resident")
	if i == nil {
		return
	}
	defer i.Close()
	e := &testHandler{news: make(chan struct{}, 1)}
	defer begin(t, i, e)()
	must.Receive(t, e.news, "the call")
}

// TestTakenAtTheEnd checks that a call taken while the resident ends is acknowledged, so
// that there is no reason to hand it over again.
func TestTakenAtTheEnd(t *testing.T) {
	i := must.Get(Acquire(config(folder(t))))(t)
	ctx, cancel := context.WithCancel(t.Context())
	taking, end := make(chan struct{}), make(chan struct{})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = i.Serve(ctx, &lateHandler{taking: taking, end: end})
	}()
	ring := must.Get(line("ring", encodeEvent(command("1"))))(t)
	c, _, err := connect(t.Context(), i.cfg, roleRing, ring) // like HandOver, but without its timeouts
	must.Do(t, err)
	defer c.Close()
	must.Receive(t, taking, "the call")
	cancel()
	waitFor(t, "it takes nobody any more", func() bool { return !residentAnswers(i.cfg) })
	close(end)
	if kind, _, err := c.Receive(); kind != "ack" || err != nil {
		t.Errorf("told %q, %v", kind, err)
	}
	must.Receive(t, served, "its end")
	_ = i.Close()
}

// lateHandler takes a call after its resident has begun to end.
type lateHandler struct {
	testHandler
	taking, end chan struct{}
}

func (h *lateHandler) Ring(call.Event) error {
	close(h.taking)
	<-h.end
	return nil
}

// TestSlowToAnswer checks that, where nothing can be started, a call that the running resident
// takes a little later counts as handed over, and one left by an ending resident does not.
func TestSlowToAnswer(t *testing.T) {
	longer(t, &settleTime)
	none := errors.New("no screen")
	for name, c := range map[string]struct {
		start func() error
		want  error
		left  int // in the inbox, where no one takes it
	}{"cannot start": {func() error { return none }, none, 1}, "may not start": {nil, ErrNotRunning, 0}} {
		t.Run(name, func(t *testing.T) {
			cfg := config(folder(t))
			i := must.Get(Acquire(cfg))(t)
			files := func() int {
				all, _ := os.ReadDir(inboxDir(cfg))
				return len(all)
			}
			told := make(chan error, 1)
			hand := func(number string) { // and wait until it is in the inbox
				go func() { told <- HandOver(t.Context(), cfg, command(number), c.start) }()
				waitFor(t, "the call in the inbox", func() bool { return files() == 1 })
			}
			hand("1")
			e := &testHandler{news: make(chan struct{}, 2)}
			end := begin(t, i, e)
			if err := must.Receive(t, told, "the first answer"); err != nil {
				t.Errorf("taken, and still: %v", err)
			}
			end()
			hand("2")
			_ = i.Close()
			if err := must.Receive(t, told, "the second answer"); !errors.Is(err, c.want) {
				t.Errorf("left by the one that went: %v, want %v", err, c.want)
			}
			if n := files(); n != c.left {
				t.Errorf("%d files in the inbox, want %d", n, c.left)
			}
			if len(e.got) != 1 || e.got[0].Number != "1" {
				t.Errorf("heard: %+v", e.got)
			}
		})
	}
}

// TestNoAnswer checks that a program waits no longer than it wants for a resident that
// does not answer: the limit of its own that a connection has is never reached.
func TestNoAnswer(t *testing.T) {
	longer(t, &helloTime)
	i := must.Get(Acquire(config(folder(t))))(t)
	defer i.Close()
	told := make(chan error, 1)
	go func() { told <- deliver(t.Context(), i.cfg, encodeEvent(command("1")), time.Millisecond) }()
	if err := must.Receive(t, told, "the end of the wait"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("%v", err)
	}
}

// longer makes a limit longer than any test waits.
func longer(t *testing.T, limit *time.Duration) {
	was := *limit
	*limit = 2 * must.Patience
	t.Cleanup(func() { *limit = was })
}

// TestInboxMakesRoom checks that files left by killed
// programs and calls from yesterday do not block new calls.
func TestInboxMakesRoom(t *testing.T) {
	dir := folder(t)
	must.Do(t, os.Mkdir(inboxDir(config(dir)), 0o700))
	for n := range maxInboxFiles {
		name, age := fmt.Sprintf("%d.call", n), 25*time.Hour
		if n%2 == 0 {
			name, age = fmt.Sprintf("new-%d", n), 2*time.Minute
		}
		path := filepath.Join(inboxDir(config(dir)), name)
		must.Do(t, os.WriteFile(path, []byte("{}"), 0o600))
		then := time.Now().Add(-age)
		must.Do(t, os.Chtimes(path, then, then))
	}
	must.Do(t, HandOver(t.Context(), config(dir), command("1"), func() error { return nil }))
	if files, _ := os.ReadDir(inboxDir(config(dir))); len(files) != 1 {
		t.Errorf("%d files, want the new one", len(files))
	}
}

// TestInboxTriesAgain checks that no call is lost if something else, such as a
// virus scanner, holds the file temporarily.
func TestInboxTriesAgain(t *testing.T) {
	dir := folder(t)
	for _, n := range []string{"1", "2"} {
		must.Get(writeCall(config(dir), encodeEvent(command(n))))(t)
	}
	e := &testHandler{news: make(chan struct{}, 2)}
	box := newInbox(config(dir), &receiver{h: e})
	held := 3
	box.readFile = func(path string) ([]byte, error) {
		if held > 0 {
			held--
			return nil, os.ErrPermission
		}
		return readCall(path)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); box.watch(ctx, nil) }()
	for range 2 {
		must.Receive(t, e.news, "a call")
	}
	cancel()
	must.Receive(t, ended, "the end of watching")
	if len(e.got) != 2 {
		t.Errorf("%+v", e.got)
	}
}

// TestLinksSayLittle checks that a link's report that package scheme refuses is refused here too.
func TestLinksSayLittle(t *testing.T) {
	url := call.Event{Source: call.Source{Kind: call.KindURL}, Number: "0612345678", At: time.Now()}
	for what, change := range map[string]func(*call.Event){
		"":      func(*call.Event) {},
		"ended": func(e *call.Event) { e.State = call.Ended },
		"id":    func(e *call.Event) { e.ID = "1" },
		"name":  func(e *call.Event) { e.Name = "J. de Vries" },
		"line":  func(e *call.Event) { e.Line = "101" },
		"via":   func(e *call.Event) { e.Via = "102" },
	} {
		e := url
		change(&e)
		b, _ := json.Marshal(encodeEvent(e))
		if _, _, err := decodeEvent(b); (err == nil) != (what == "") {
			t.Errorf("with %q: %v", what, err)
		}
	}
}

func BenchmarkHandOver(b *testing.B) {
	dir := folder(b)
	i := must.Get(Acquire(config(dir)))(b)
	defer i.Close()
	defer begin(b, i, &testHandler{})()
	for b.Loop() {
		must.Do(b, HandOver(b.Context(), config(dir), command("1"), nil))
	}
}

package outbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/hub"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

// world is a hub that knows the truth, plus a clock, a
// disk and an outbox. Anything may go wrong at any time.
type world struct {
	t       *rapid.T
	dir     string
	clock   *clocktest.Clock
	disk    *failing
	b       *Outbox
	retry   bool
	next    string         // the result of the next request
	arrived map[string]int // number of requests by which a content arrived
	doubts  map[string]int // of those, the ones whose sender got no answer
	laters  map[string]int // of them those that said "later"
	taken   map[string]string
	files   int
}

// killed is the panic that ends the process during a request.
type killed struct{}

// whenKilled is deferred: it calls then after that, and lets other panics pass.
func whenKilled(then func()) {
	if r := recover(); r != nil {
		if _, ok := r.(killed); !ok {
			panic(r)
		}
		then()
	}
}

// endings are the ways a request can end; the second word says whether it arrived.
var endings = []string{"delivered yes", "refused no", "later no", "later yes", "busy no", "unreachable no", "half no", "silence no", "silence yes", "gateway no", "gateway yes",
	"portal no", "portal yes", "credentials no", "forbidden no", "redirect no", "conflict yes", "odd no", "killed-half no", "killed-whole no", "killed-whole yes"}

// Deliver implements Deliverer, ending as w.next says.
func (w *world) Deliver(_ context.Context, items []hub.Item) (hub.Receipt, error) {
	var how, arrives string
	_, _ = fmt.Sscan(w.next, &how, &arrives)
	switch how {
	case "unreachable":
		return hub.Receipt{}, &contact.LookupError{Failure: contact.NoNetwork}
	case "half", "killed-half":
		r, err := items[0].Open()
		if err == nil {
			_, err = r.Read(make([]byte, 1))
			_ = r.Close()
		}
		if err != nil {
			return hub.Receipt{}, fmt.Errorf("%w: %w", hub.ErrItem, err)
		}
		if how == "killed-half" {
			panic(killed{})
		}
		return hub.Receipt{}, nil
	}
	var contents []string
	for _, it := range items {
		b, err := readItem(it)
		if err != nil {
			return hub.Receipt{}, fmt.Errorf("%w: %w", hub.ErrItem, err)
		}
		contents = append(contents, string(b))
	}
	if arrives == "yes" {
		for _, c := range contents {
			w.arrived[c]++
			switch how {
			case "delivered", "conflict":
			case "later":
				w.laters[c]++
			default:
				w.doubts[c]++
			}
		}
	}
	switch how {
	case "delivered":
		return hub.Receipt{Status: 201, Answer: `{"ok":true}`}, nil
	case "refused":
		return hub.Receipt{Status: 422, Answer: "no"}, nil
	case "later":
		return hub.Receipt{Status: 502}, nil
	case "busy":
		return hub.Receipt{Status: 429, RetryAfter: 20 * time.Second}, nil
	case "silence":
		return hub.Receipt{}, nil
	case "gateway":
		return hub.Receipt{Status: 504}, nil
	case "portal":
		return hub.Receipt{Status: 200, Answer: "<html>"}, nil
	case "credentials":
		return hub.Receipt{Status: 401}, nil
	case "forbidden":
		return hub.Receipt{Status: 403}, nil
	case "redirect":
		return hub.Receipt{Status: 302}, nil
	case "conflict":
		return hub.Receipt{Status: 409}, nil
	case "odd":
		return hub.Receipt{Status: 418}, nil
	case "killed-whole":
		panic(killed{})
	}
	panic(w.next)
}

// start opens the outbox like a new process.
func (w *world) start() {
	how := UncertainHold
	if w.retry {
		how = UncertainRetry
	}
	b, err := Open(context.Background(), Options{Dir: w.dir, Hub: to(w), Now: w.clock.Now, fs: w.disk, jitter: plainJitter, firstWait: time.Second, Policy: Policy{Uncertain: how, Duplicate: DuplicateSend, KeepRefused: 3650, ItemsPerRequest: 1}})
	if err == nil {
		// Power failures are not simulated here.
		_, err = b.db.Exec("PRAGMA synchronous = OFF")
	}
	if err == nil {
		w.b = b
		err = b.recover(context.Background())
	}
	must.Do(w.t, err)
}

// step lets the worker do one step, which may be the process's last.
func (w *world) step() {
	defer whenKilled(w.restart)
	if _, _, err := w.b.step(context.Background()); err != nil && troubleIn(err) == "" {
		w.t.Fatal(err)
	}
}

func (w *world) restart() {
	must.Do(w.t, w.b.Close())
	w.start()
}

func (w *world) add() {
	w.files++
	content := fmt.Sprintf("PK %d", w.files)
	path := filepath.Join(filepath.Dir(w.dir), "in.zip")
	must.Do(w.t, os.WriteFile(path, []byte(content), 0o600))
	a, err := w.b.Add(context.Background(), Source{Path: path, Intermediary: "x"})
	switch {
	case err == nil:
		w.taken[a.Item.ID] = content
	case troubleIn(err) == "":
		w.t.Fatal(err)
	}
}

// pick returns one of the items in a state, "" if there is none.
func (w *world) pick(states ...State) string {
	s := must.Get(w.b.Snapshot(context.Background()))(w.t)
	var ids []string
	for _, it := range s.Items {
		for _, st := range states {
			if it.State == st {
				ids = append(ids, it.ID)
			}
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return rapid.SampledFrom(ids).Draw(w.t, "item")
}

// check compares what the outbox reports with the truth.
func (w *world) check(t *rapid.T) {
	for id, content := range w.taken {
		it, err := w.b.Get(context.Background(), id)
		if err != nil {
			t.Fatalf("an item that was taken is lost: %v", err)
		}
		arrived := w.arrived[content]
		switch it.State {
		case Delivered:
			if arrived == 0 {
				t.Fatalf("%s is called delivered and never arrived: %+v", content, it)
			}
		case Refused:
			if arrived > 0 {
				t.Fatalf("%s is called refused and arrived: %+v", content, it)
			}
		case Waiting, Uncertain, Sending:
		default:
			t.Fatalf("state %q", it.State)
		}
		allowed := 1 + w.laters[content] // what says "later" is sent again, as told
		if w.retry {
			allowed += w.doubts[content]
		}
		if arrived > allowed {
			t.Fatalf("%s arrived %d times, with %d doubts and %d laters", content, arrived, w.doubts[content], w.laters[content])
		}
		if it.State != Delivered && it.State != Sending && it.HasCopy {
			if _, err := os.Stat(w.b.spoolPath(id)); err != nil {
				t.Fatalf("the copy of an undelivered item is gone: %v", err)
			}
		}
	}
}

// TestProperties: whatever happens in whatever order, nothing is lost, every state is true,
// and once all faults are gone, everything arrives.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root, err := os.MkdirTemp("", "wiebelt-outbox-")
		must.Do(t, err)
		defer os.RemoveAll(root)
		w := &world{t: t, dir: filepath.Join(root, "outbox"), clock: clocktest.New(monday), disk: &failing{files: disk{}}, retry: rapid.Bool().Draw(t, "retry"),
			next: endings[0], arrived: map[string]int{}, doubts: map[string]int{}, laters: map[string]int{}, taken: map[string]string{}}
		w.start()
		defer func() { _ = w.b.Close() }()
		ctx := context.Background()
		t.Repeat(map[string]func(*rapid.T){
			"add": func(*rapid.T) { w.add() },
			"send": func(t *rapid.T) {
				w.next = rapid.SampledFrom(endings).Draw(t, "ending")
				w.step()
			},
			"doubt and refusal": func(*rapid.T) {
				w.next = "silence yes"
				w.step()
				w.clock.Forward(time.Hour)
				w.next = "refused no"
				w.step()
			},
			"time": func(t *rapid.T) {
				w.clock.Forward(time.Duration(rapid.Int64Range(int64(time.Second), int64(time.Hour)).Draw(t, "passes")))
			},
			"jump": func(t *rapid.T) {
				w.clock.Forward(time.Duration(rapid.Int64Range(-int64(200*time.Hour), int64(200*time.Hour)).Draw(t, "jumps")))
			},
			"restart": func(*rapid.T) { w.disk.set(nil); w.restart() },
			"disk": func(t *rapid.T) {
				err := rapid.SampledFrom([]error{nil, nil, syscall.ENOSPC, syscall.EROFS, syscall.EIO}).Draw(t, "error")
				op := rapid.SampledFrom([]string{"create", "write", "sync", "rename", "syncdir", "open", "read", "remove"}).Draw(t, "fails")
				w.disk.set(err, op)
			},
			"resolve": func(t *rapid.T) {
				if id := w.pick(Uncertain); id != "" {
					content := w.taken[id]
					there := w.arrived[content] > 0 // a user who has checked the hub
					must.Get(w.b.Resolve(ctx, id, there, "looked"))(t)
				}
			},
			"retry": func(t *rapid.T) {
				if id := w.pick(Refused, Waiting); id != "" {
					it, _ := w.b.Get(ctx, id)
					if _, err := w.b.Retry(ctx, id); err != nil && !(errors.Is(err, ErrState) && !it.HasCopy) {
						t.Fatal(err)
					}
				}
			},
			"release": func(t *rapid.T) {
				must.Do(t, w.b.Release(ctx))
			},
			"": w.check,
		})
		// All faults are gone: a user decides what is still open, and everything is sent.
		w.disk.set(nil)
		w.next = endings[0]
		w.restart()
		for id := range w.taken {
			switch it, _ := w.b.Get(ctx, id); {
			case it.State == Uncertain:
				there := w.arrived[w.taken[id]] > 0
				must.Get(w.b.Resolve(ctx, id, there, "looked"))(t)
			case it.State == Refused && it.HasCopy:
				must.Get(w.b.Retry(ctx, id))(t)
			}
		}
		w.clock.Forward(24 * time.Hour)
		must.Do(t, w.b.Release(ctx))
		for {
			again, _, err := w.b.step(ctx)
			must.Do(t, err)
			if !again {
				break
			}
		}
		w.check(t)
		for id, content := range w.taken {
			if it, _ := w.b.Get(ctx, id); it.State != Delivered || w.arrived[content] == 0 {
				t.Fatalf("%s: %+v, arrived %d times", content, it, w.arrived[content])
			}
		}
	})
}

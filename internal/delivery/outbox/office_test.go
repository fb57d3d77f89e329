package outbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"pgregory.net/rapid"

	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

// office is an outbox used by two programs at the same time, in front of the hub of world,
// which counts what arrives. Its users check the message box before they decide anything.
type office struct {
	*world
	boxes  [2]*Outbox
	locks  [2]*flock.Flock // held by the program that works
	full   bool            // the disk is full
	items  map[string]int  // number of items a content ever had
	forced map[string]bool // contents whose item was forgotten without being delivered
}

func (o *office) fatal(err error) {
	o.t.Helper()
	if err != nil && !(o.full && troubleIn(err) == DiskFull) {
		o.t.Fatal(err)
	}
}

func (o *office) open(i int) {
	b, err := Open(context.Background(), Options{Dir: o.dir, Hub: to(o.world), Now: o.clock.Now, fs: o.disk, jitter: plainJitter, firstWait: time.Second, Policy: Policy{KeepRefused: 3650}})
	if err == nil {
		_, err = b.db.Exec("PRAGMA synchronous = OFF") // no power failures here
	}
	must.Do(o.t, err)
	o.boxes[i] = b
	o.fill(o.full)
}

// fill fills the disk, or frees space.
func (o *office) fill(full bool) {
	o.full = full
	pages, err := "1", error(syscall.ENOSPC) // its current size
	if !full {
		pages, err = "1000000", nil
	}
	o.disk.set(err, "create", "write", "sync")
	for _, b := range o.boxes {
		if b != nil {
			must.Get(b.db.Exec("PRAGMA max_page_count = " + pages))(o.t)
		}
	}
}

// kill terminates a program during its work, and restarts it.
func (o *office) kill(i int) {
	o.leave(i)
	must.Do(o.t, o.boxes[i].Close())
	o.open(i)
}

func (o *office) leave(i int) {
	if o.locks[i] != nil {
		_ = o.locks[i].Unlock()
		o.locks[i] = nil
	}
}

// work makes a program do one step as the worker, if it is its turn.
func (o *office) work(i int) (again bool) {
	b := o.boxes[i]
	if o.locks[i] == nil {
		l := b.lock()
		got, err := l.TryLock()
		if err != nil || got == (o.locks[1-i] != nil) {
			o.t.Fatalf("two workers, or none: %v %v", got, err)
		}
		if !got {
			return false
		}
		o.locks[i] = l
		if err := b.recover(context.Background()); err != nil {
			o.fatal(err)
			o.leave(i)
			return false
		}
	}
	defer whenKilled(func() { o.kill(i) })
	again, _, err := b.step(context.Background())
	o.fatal(err)
	return again
}

func (o *office) add(i, content int) {
	text := fmt.Sprintf("PK %d", content)
	a, err := o.boxes[i].Add(context.Background(), Source{Path: fmt.Sprint(content, ".zip"), Intermediary: "x", Write: func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}})
	switch {
	case err != nil:
		o.fatal(err)
	case a.Duplicate && a.Item.State == Delivered && o.arrived[text] == 0:
		o.t.Fatalf("%s is said to be there and never arrived", text)
	case !a.Duplicate:
		o.taken[a.Item.ID] = text
		o.items[text]++
	}
}

func (o *office) forget(b *Outbox, id string, force bool) {
	it, err := b.Get(context.Background(), id)
	o.fatal(err)
	undecided := it.State == Waiting || it.State == Uncertain
	err = b.Forget(context.Background(), id, force)
	switch {
	case errors.Is(err, ErrState) && it.State == Sending:
	case errors.Is(err, ErrUndecided) && undecided && !force:
	case err != nil:
		o.fatal(err)
	case undecided && !force || it.State == Sending:
		o.t.Fatalf("lost without a word: %+v", it)
	default:
		content := o.taken[id]
		o.forced[content] = o.forced[content] || undecided
		delete(o.taken, id)
	}
}

// decide does what a user would after checking the message box.
func (o *office) decide(b *Outbox, id string) {
	it, err := b.Get(context.Background(), id)
	o.fatal(err)
	there := o.arrived[o.taken[id]] > 0
	switch it.State {
	case Uncertain:
		_, err = b.Resolve(context.Background(), id, there, "looked")
	case Refused: // users check only with a reason; it did not arrive, or another item did
		if there && (o.laters[o.taken[id]] > 0 || o.forced[o.taken[id]]) {
			return
		}
		if _, err = b.Retry(context.Background(), id); errors.Is(err, ErrDuplicate) {
			err = nil
		}
	}
	o.fatal(err)
}

func (o *office) check(t *rapid.T) {
	for content, n := range o.arrived {
		if n > 1+o.laters[content] && !o.forced[content] {
			t.Fatalf("%s arrived %d times", content, n)
		}
	}
	for id, content := range o.taken {
		it, err := o.boxes[0].Get(context.Background(), id)
		if err != nil {
			t.Fatalf("lost: %v", err)
		}
		switch {
		case it.State == Delivered && o.arrived[content] == 0:
			t.Fatalf("%s is called delivered and never arrived: %+v", content, it)
		case it.State == Refused && o.arrived[content] > 0 && o.items[content] == 1:
			t.Fatalf("%s is called refused and arrived: %+v", content, it)
		case it.State != Delivered && it.HasCopy:
			if _, err := os.Stat(o.boxes[0].spoolPath(id)); err != nil {
				t.Fatalf("the copy is gone: %v", err)
			}
		}
	}
}

// TestOffice runs two programs that share a lock and a disk that fills, with users who
// drain, decide and forget, and the same files over and over. It checks that nothing arrives
// twice unless forgotten by force, nothing is lost silently, and every state is true.
func TestOffice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root, err := os.MkdirTemp("", "wiebelt-outbox-")
		must.Do(t, err)
		defer os.RemoveAll(root)
		o := &office{items: map[string]int{}, forced: map[string]bool{}, world: &world{t: t, dir: filepath.Join(root, "outbox"), clock: clocktest.New(monday), disk: &failing{files: disk{}},
			next: endings[0], arrived: map[string]int{}, doubts: map[string]int{}, laters: map[string]int{}, taken: map[string]string{}}}
		for i := range o.boxes {
			o.open(i)
			defer func() { o.leave(i); _ = o.boxes[i].Close() }()
		}
		one := func(t *rapid.T) int { return rapid.IntRange(0, 1).Draw(t, "program") }
		item := func(t *rapid.T, states ...State) (*Outbox, string) {
			o.b = o.boxes[one(t)]
			return o.b, o.pick(states...)
		}
		t.Repeat(map[string]func(*rapid.T){
			"add":  func(t *rapid.T) { o.add(one(t), rapid.IntRange(1, 6).Draw(t, "file")) },
			"work": func(t *rapid.T) { o.next = rapid.SampledFrom(endings).Draw(t, "ending"); o.work(one(t)) },
			"drain": func(t *rapid.T) {
				o.next = endings[0]
				for i := one(t); o.work(i); {
				}
			},
			"leave": func(t *rapid.T) { o.leave(one(t)) },
			"kill":  func(t *rapid.T) { o.kill(one(t)) },
			"full":  func(t *rapid.T) { o.fill(rapid.Bool().Draw(t, "full")) },
			"time": func(t *rapid.T) {
				o.clock.Forward(time.Duration(rapid.Int64Range(int64(time.Second), int64(time.Hour)).Draw(t, "passes")))
			},
			"forget": func(t *rapid.T) {
				if b, id := item(t, Waiting, Sending, Delivered, Refused, Uncertain); id != "" {
					o.forget(b, id, rapid.Bool().Draw(t, "force"))
				}
			},
			"forget delivered": func(t *rapid.T) {
				b := o.boxes[one(t)]
				before, err := b.Snapshot(context.Background())
				o.fatal(err)
				if _, err := b.ForgetDelivered(context.Background()); err != nil {
					o.fatal(err)
					return
				}
				for _, it := range before.Items {
					if it.State == Delivered {
						delete(o.taken, it.ID)
					}
				}
			},
			"recover": func(t *rapid.T) { o.fatal(o.boxes[one(t)].Recover(context.Background())) },
			"decide": func(t *rapid.T) {
				if b, id := item(t, Uncertain, Refused); id != "" {
					o.decide(b, id)
				}
			},
			"release": func(t *rapid.T) { o.fatal(o.boxes[one(t)].Release(context.Background())) },
			"":        o.check,
		})
		// Now there is space again, users decide what is open, and the rest is sent.
		o.fill(false)
		o.leave(1)
		o.next = endings[0]
		for o.work(0) {
		}
		for id := range o.taken {
			o.decide(o.boxes[0], id)
		}
		o.clock.Forward(24 * time.Hour)
		o.fatal(o.boxes[0].Release(context.Background()))
		for o.work(0) {
		}
		o.check(t)
		for id, content := range o.taken {
			if it, _ := o.boxes[0].Get(context.Background(), id); o.arrived[content] == 0 {
				t.Fatalf("%s never arrived: %+v", content, it)
			}
		}
	})
}

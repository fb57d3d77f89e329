package outbox

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"wiebelt/internal/delivery/message"
	"wiebelt/internal/hub"
	"wiebelt/internal/testutil/must"
)

// TestTheSameFileTwice checks each duplicate policy: skip, send and refuse.
func TestTheSameFileTwice(t *testing.T) {
	content := []byte("PK twice")
	for _, c := range []struct {
		how      string
		requests int
	}{{DuplicateSkip, 1}, {"", 1}, {DuplicateSend, 2}, {DuplicateRefuse, 1}} {
		requests := 0
		d := answering(func([][]byte) (hub.Receipt, error) {
			requests++
			return hub.Receipt{Status: 200, Answer: "ok"}, nil
		})
		b := open(t, Options{Hub: to(d), Policy: Policy{Duplicate: c.how}})
		first := add(t, b, write(t, "a.zip", content))
		drive(t, b)
		a, err := b.Add(t.Context(), Source{Path: write(t, "b.zip", content), Intermediary: "intermediary"})
		drive(t, b)
		switch c.how {
		case DuplicateSend:
			if err != nil || a.Duplicate || a.Item.ID == first.ID {
				t.Errorf("%s: %+v %v", c.how, a, err)
			}
		case DuplicateRefuse:
			if !errors.Is(err, ErrDuplicate) || !errors.Is(err, ErrRefused) || a.Item.ID != first.ID {
				t.Errorf("%s: %+v %v", c.how, a, err)
			}
		default:
			if err != nil || !a.Duplicate || a.Item.ID != first.ID || !a.Item.Added.Equal(first.Added.Truncate(time.Microsecond)) || a.Item.State != Delivered {
				t.Errorf("%s: %+v %v", c.how, a, err)
			}
		}
		if requests != c.requests {
			t.Errorf("%s: %d requests", c.how, requests)
		}
		// A copy for another message box is independent.
		other, err := b.Add(t.Context(), Source{Path: write(t, "c.zip", content), Intermediary: "other"})
		if err != nil || other.Duplicate {
			t.Errorf("%s: another box: %+v %v", c.how, other, err)
		}
		spooled(t, b, 1)
	}
}

// TestRefusedMayComeAgain checks that a refused file may be added again,
// and that only one of several refused items with the same content is sent.
func TestRefusedMayComeAgain(t *testing.T) {
	status := 422
	b := open(t, Options{Hub: to(answering(func([][]byte) (hub.Receipt, error) {
		if status != 200 {
			return hub.Receipt{Status: status, Answer: "no"}, nil
		}
		return hub.Receipt{Status: 200, Answer: "ok"}, nil
	})), Policy: Policy{KeepRefused: 30}})
	it := add(t, b, write(t, "a.zip", []byte("PK")))
	drive(t, b)
	again := add(t, b, write(t, "b.zip", []byte("PK")))
	if again.ID == it.ID {
		t.Error("it is the refused one")
	}
	drive(t, b)
	status = 200
	must.Get(b.Retry(t.Context(), it.ID))(t)
	for range 2 { // while it waits, and once it is delivered
		if _, err := b.Retry(t.Context(), again.ID); !errors.Is(err, ErrDuplicate) {
			t.Errorf("twice the same: %v", err)
		}
		drive(t, b)
	}
	if one, two := get(t, b, it.ID), get(t, b, again.ID); one.State != Delivered || two.State != Refused {
		t.Errorf("%+v %+v", one, two)
	}
	if _, err := b.Retry(t.Context(), it.ID); !errors.Is(err, ErrState) {
		t.Errorf("a delivered one: %v", err)
	}
	for _, duplicate := range []string{DuplicateSend, DuplicateSkip} { // it then waits already
		b.Configure(Policy{Duplicate: duplicate, KeepRefused: 30})
		if got, err := b.Retry(t.Context(), again.ID); err != nil || got.State != Waiting {
			t.Errorf("%s: %+v, %v", duplicate, got, err)
		}
	}
}

// TestFilesThatAreNotTaken checks that each is refused
// for its own reason and leaves nothing behind.
func TestFilesThatAreNotTaken(t *testing.T) {
	refusal := &RefusedError{Code: "not_zip", Why: "not a ZIP"}
	b := open(t, Options{Check: func(_ context.Context, r io.ReaderAt, size int64) ([]message.Finding, error) {
		buf := make([]byte, 2)
		if _, err := r.ReadAt(buf, 0); err != nil || size < 3 {
			return nil, err
		}
		if string(buf) != "PK" {
			return nil, refusal
		}
		return nil, nil
	}})
	dir := t.TempDir()
	unreadable := write(t, filepath.Join(dir, "locked.zip"), []byte("PKxxx"))
	cases := map[string]string{dir: "not_a_file", filepath.Join(dir, "absent.zip"): "unreadable", "/dev/null": "not_a_file",
		write(t, filepath.Join(dir, "empty.zip"), nil): "empty", write(t, filepath.Join(dir, "text.zip"), []byte("text")): "not_zip"}
	if os.Geteuid() != 0 && runtime.GOOS != "windows" {
		must.Do(t, os.Chmod(unreadable, 0))
		cases[unreadable] = "unreadable"
	}
	for path, code := range cases {
		_, err := b.Add(t.Context(), Source{Path: path, Intermediary: "x"})
		var r *RefusedError
		if !errors.As(err, &r) || r.Code != code || !errors.Is(err, ErrRefused) || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v, want %s", filepath.Base(path), err, code)
		}
	}
	// A file that grows while it is read.
	growing := write(t, filepath.Join(dir, "growing.zip"), []byte("PKxxxxxxx"))
	b.o.fs = &hooked{disk{}, func() {
		f, err := os.OpenFile(growing, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString("more")
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Error(err)
		}
	}}
	_, err := b.Add(t.Context(), Source{Path: growing, Intermediary: "x"})
	var r *RefusedError
	if !errors.As(err, &r) || r.Code != "changed" {
		t.Errorf("a growing file: %v", err)
	}
	// A file is generated, and generating it fails.
	broken := errors.New("broken")
	if _, err := b.Add(t.Context(), Source{Path: "x.zip", Write: func(context.Context, io.Writer) error { return broken }}); !errors.Is(err, broken) {
		t.Errorf("made: %v", err)
	}
	// The context is cancelled.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Add(ctx, Source{Path: unreadable}); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	spooled(t, b, 0)
	if s, err := b.Snapshot(t.Context()); err != nil || len(s.Items) != 0 {
		t.Errorf("%d items, %v", len(s.Items), err)
	}
}

// hooked calls a function after the first write of a copy.
type hooked struct {
	files
	once func()
}

func (h *hooked) Create(path string) (file, error) {
	f, err := h.files.Create(path)
	return &hookedFile{f, h}, err
}

type hookedFile struct {
	file
	h *hooked
}

func (f *hookedFile) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	if f.h.once != nil {
		f.h.once()
		f.h.once = nil
	}
	return n, err
}

// TestMade checks a file that is generated on its way into the spool.
func TestMade(t *testing.T) {
	var got []byte
	b := open(t, Options{Hub: to(answering(func(all [][]byte) (hub.Receipt, error) {
		got = all[0]
		return hub.Receipt{Status: 200, Answer: "ok"}, nil
	}))})
	a, err := b.Add(t.Context(), Source{Path: "/somewhere/made.zip", Intermediary: "x", Write: func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, "PK made")
		return err
	}})
	drive(t, b)
	if err != nil || a.Item.Name != "made.zip" || string(got) != "PK made" {
		t.Errorf("%+v %v %q", a, err, got)
	}
	later := func(_ context.Context, w io.Writer) error { _, err := io.WriteString(w, "PK later"); return err }
	a, err = b.Add(t.Context(), Source{Path: "/some\xffwhere/later.zip", GiveUpAfter: time.Hour, Write: later})
	if err != nil || !a.Item.Deadline.Equal(a.Item.Added.Add(time.Hour)) || a.Item.Path != "later.zip" {
		t.Errorf("%+v %v", a, err)
	}
	if _, _, err := DryRun(t.Context(), Source{Write: func(context.Context, io.Writer) error { return nil }}, b.spoolPath("absent"), nil); troubleIn(err) != SpoolGone {
		t.Errorf("tried with no folder: %v", err)
	}
}

// TestFindingsAreKept checks that the findings about an accepted file
// are stored, and those about a refused one returned with the error.
func TestFindingsAreKept(t *testing.T) {
	b := open(t, Options{Check: Inspect(false)})
	dir := t.TempDir()
	id := add(t, b, write(t, filepath.Join(dir, "other.zip"), zipped(t, "<Anders/>"))).ID
	found := get(t, b, id).Findings()
	if len(found) != 1 || found[0].Code != message.OtherType {
		t.Errorf("%v", found)
	}
	add2, err := b.Add(t.Context(), Source{Path: write(t, filepath.Join(dir, "text.zip"), []byte("no ZIP at all")), Intermediary: "x"})
	var r *RefusedError
	if !errors.As(err, &r) || r.Code != string(message.NotZIP) || len(r.Findings) != 1 {
		t.Errorf("%+v, %v", add2, err)
	}
	strict := open(t, Options{Check: Inspect(true)})
	warned := write(t, filepath.Join(dir, "empty.zip"), zipped(t, "<Contractdocument><VP_GEBDAT>1</VP_GEBDAT></Contractdocument>"))
	must.Get(b.Add(t.Context(), Source{Path: warned, Intermediary: "x"}))(t)
	if _, err := strict.Add(t.Context(), Source{Path: warned, Intermediary: "x"}); !errors.Is(err, ErrRefused) {
		t.Errorf("a warning, strictly: %v", err)
	}
	if pack(nil) != "" || (Item{packedFindings: "nonsense"}).Findings() != nil {
		t.Error("nothing is something")
	}
}

// TestConfigure: a new policy applies from the next item on.
func TestConfigure(t *testing.T) {
	b := open(t, Options{Hub: says(hub.Receipt{Status: 200, Answer: "ok", Truncated: true})})
	b.Configure(Policy{Duplicate: DuplicateSend, KeepSent: 3, Uncertain: UncertainRetry})
	path := write(t, "a.zip", zipped(t, "a"))
	ids := []string{add(t, b, path).ID, add(t, b, path).ID}
	if ids[0] == ids[1] || !b.rules().retry {
		t.Errorf("the policy of before: %v", ids)
	}
	work(t, b)
	until(t, b, func(all []Item) bool { return all[0].State == Delivered && all[1].State == Delivered })
	it := get(t, b, ids[0])
	if it.State != Delivered || !it.HasCopy {
		t.Errorf("%+v", it)
	}
	all, err := b.Receipts(t.Context(), ids[0])
	if err != nil || len(all) != 1 || !all[0].Truncated || all[0].Body != "ok" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestAskingIsNotWorking checks that asking whether a worker is running keeps none from starting.
func TestAskingIsNotWorking(t *testing.T) {
	b := open(t, Options{Hub: says(hub.Receipt{})})
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		for ctx.Err() == nil {
			b.Busy()
		}
	})
	stop := make(chan struct{})
	close(stop)
	for i := range 200 {
		if err := b.Work(ctx, stop); err != nil {
			t.Errorf("%d: %v", i, err)
			break
		}
	}
	cancel()
	asking.Wait()
}

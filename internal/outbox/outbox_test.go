package outbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"wiebelt/internal/hub"
	"wiebelt/internal/localhub"
	"wiebelt/internal/message"
	"wiebelt/internal/sqlitefile"
)

// TestDeliver: a file goes out as it was taken, its receipt stays, its copy goes.
func TestDeliver(t *testing.T) {
	h, c := startHub(t, localhub.Config{})
	b := open(t, Options{Hub: to(c)})
	content := zipped(t, "<Contractdocument/>")
	path := write(t, "bericht é.zip", content)
	before := time.Now()
	it := add(t, b, path)
	if u, err := uuid.Parse(it.ID); err != nil || u.Version() != 7 {
		t.Errorf("id %s: %v", it.ID, err)
	}
	if it.SHA256 != sumOf(content) || it.Size != int64(len(content)) || it.Name != "bericht é.zip" || it.State != Waiting {
		t.Errorf("%+v", it)
	}
	if err := os.WriteFile(path, []byte("something else"), 0o600); err != nil { // ours is a copy
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	worked := make(chan error, 1)
	go func() { worked <- b.Work(ctx, nil) }()
	got := until(t, b, allOver)[0]
	if got.State != Delivered || got.Attempts != 1 || got.Tries != 1 || got.Status != 200 || got.Kept || got.Decided.Before(before.Truncate(time.Microsecond)) {
		t.Errorf("%+v", got)
	}
	if !box(t, h)[sumOf(content)] {
		t.Error("the hub does not have it")
	}
	all, err := b.Receipts(t.Context(), it.ID)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d receipts, %v", len(all), err)
	}
	if r := all[0]; r.N != 1 || r.Status != 200 || r.Class != "done" || !strings.Contains(r.Body, sumOf(content)) || r.Ended.Before(r.Began) {
		t.Errorf("%+v", r)
	}
	end()
	if err := <-worked; err != nil { // which takes copies away after it has written down why
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.o.Dir, spoolName, "*")); len(left) != 0 {
		t.Errorf("left in the spool: %v", left)
	}
	if runtime.GOOS != "windows" {
		for _, dir := range []string{b.o.Dir, filepath.Join(b.o.Dir, spoolName)} {
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%s: %v %v", dir, info.Mode(), err)
			}
		}
	}
}

// TestKeepSent: copies of delivered and refused files stay as long as they are to.
func TestKeepSent(t *testing.T) {
	now := &clock{t: monday}
	d := answering(func(all [][]byte) (hub.Receipt, error) {
		if bytes.HasPrefix(all[0], []byte("bad")) {
			return hub.Receipt{Outcome: hub.Refused, Status: 422, Answer: "bad"}, nil
		}
		return hub.Receipt{Outcome: hub.Delivered, Status: 201, Answer: "ok"}, nil
	})
	b := open(t, Options{Hub: to(d), Now: now.now, KeepSent: 2, KeepRefused: 5})
	good, bad := add(t, b, write(t, "a.zip", []byte("good"))), add(t, b, write(t, "b.zip", []byte("bad")))
	drive(t, b)
	kept := func(it Item) bool {
		_, err := os.Stat(b.spool(it.ID))
		if got := get(t, b, it.ID).Kept; got != (err == nil) {
			t.Errorf("kept %v, the copy: %v", got, err)
		}
		return err == nil
	}
	bodies := func() (n int) {
		for _, it := range []Item{good, bad} {
			all, err := b.Receipts(t.Context(), it.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range all {
				if r.Body != "" {
					n++
				}
			}
		}
		return n
	}
	for _, c := range []struct {
		days      int
		good, bad bool
		bodies    int
	}{{0, true, true, 2}, {1, true, true, 2}, {2, false, true, 2}, {4, false, true, 2}, {5, false, false, 2}, {31, false, false, 0}} {
		now.mu.Lock()
		now.t = monday.AddDate(0, 0, c.days)
		now.mu.Unlock()
		if err := b.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		if kept(good) != c.good || kept(bad) != c.bad || bodies() != c.bodies {
			t.Errorf("after %d days: %v %v, %d bodies", c.days, kept(good), kept(bad), bodies())
		}
	}
	now.add(368 * 24 * time.Hour) // 399 days
	if err := b.Purge(t.Context()); err != nil || get(t, b, good.ID).State != Delivered {
		t.Errorf("after 399 days: %v", err)
	}
	now.add(2 * 24 * time.Hour)
	if err := b.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, it := range []Item{good, bad} {
		if _, err := b.Get(t.Context(), it.ID); !errors.Is(err, ErrNoItem) {
			t.Errorf("after 401 days: %v", err)
		}
		if all, err := b.Receipts(t.Context(), it.ID); err != nil || len(all) != 0 {
			t.Errorf("after 401 days: %d receipts, %v", len(all), err)
		}
	}
}

// TestPurgeLeavesTheUndecided: neither waiting nor maybe delivered items ever go
// by themselves.
func TestPurgeLeavesTheUndecided(t *testing.T) {
	now := &clock{t: monday}
	b := open(t, Options{Now: now.now, Hub: to(answering(func([][]byte) (hub.Receipt, error) { return hub.Receipt{Outcome: hub.Uncertain}, nil }))})
	maybe := add(t, b, write(t, "a.zip", []byte("a")))
	if _, _, err := b.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	waits := add(t, b, write(t, "b.zip", []byte("b")))
	old := monday.AddDate(-3, 0, 0)
	for _, it := range []Item{maybe, waits} {
		if err := os.Chtimes(b.spool(it.ID), old, old); err != nil {
			t.Fatal(err)
		}
	}
	stray := b.spool(uuid.NewString())
	part := strings.TrimSuffix(stray, ".zip") + ".part"
	for _, name := range []string{stray, part} {
		write(t, name, []byte("x"))
	}
	if err := b.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{stray, part} { // young: somebody may be adding it
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	now.add(5 * 365 * 24 * time.Hour)
	if err := b.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if it := get(t, b, maybe.ID); it.State != Uncertain || !it.Kept {
		t.Errorf("%+v", it)
	}
	if it := get(t, b, waits.ID); it.State != Waiting {
		t.Errorf("%+v", it)
	}
	for _, name := range []string{stray, part} {
		if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a stray file stays: %v", err)
		}
	}
	for _, it := range []Item{maybe, waits} {
		if _, err := os.Stat(b.spool(it.ID)); err != nil {
			t.Error(err)
		}
	}
}

// TestTheSameFileTwice: skip, send and refuse.
func TestTheSameFileTwice(t *testing.T) {
	content := []byte("PK twice")
	for _, c := range []struct {
		how      string
		requests int
	}{{DuplicateSkip, 1}, {"", 1}, {DuplicateSend, 2}, {DuplicateRefuse, 1}} {
		requests := 0
		d := answering(func([][]byte) (hub.Receipt, error) {
			requests++
			return hub.Receipt{Outcome: hub.Delivered, Status: 200, Answer: "ok"}, nil
		})
		b := open(t, Options{Hub: to(d), Duplicate: c.how})
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
		// Another message box is another matter.
		other, err := b.Add(t.Context(), Source{Path: write(t, "c.zip", content), Intermediary: "other"})
		if err != nil || other.Duplicate {
			t.Errorf("%s: another box: %+v %v", c.how, other, err)
		}
		if left, _ := filepath.Glob(filepath.Join(b.o.Dir, spoolName, "*")); len(left) != 1 {
			t.Errorf("%s: in the spool: %d", c.how, len(left))
		}
	}
}

// TestRefusedMayComeAgain: what was refused is no duplicate.
func TestRefusedMayComeAgain(t *testing.T) {
	status := 422
	b := open(t, Options{Hub: to(answering(func([][]byte) (hub.Receipt, error) {
		if status != 200 {
			return hub.Receipt{Outcome: hub.Refused, Status: status, Answer: "no"}, nil
		}
		return hub.Receipt{Outcome: hub.Delivered, Status: 200, Answer: "ok"}, nil
	})), KeepRefused: 30})
	it := add(t, b, write(t, "a.zip", []byte("PK")))
	drive(t, b)
	again := add(t, b, write(t, "b.zip", []byte("PK")))
	if again.ID == it.ID {
		t.Error("it is the refused one")
	}
	status = 200
	if _, err := b.Retry(t.Context(), it.ID); err != nil {
		t.Fatal(err)
	}
	drive(t, b)
	for _, id := range []string{it.ID, again.ID} {
		if got := get(t, b, id); got.State != Delivered {
			t.Errorf("%+v", got)
		}
	}
	if _, err := b.Retry(t.Context(), it.ID); !errors.Is(err, ErrState) {
		t.Errorf("a delivered one: %v", err)
	}
}

// TestFilesThatAreNotTaken: each with its reason, and nothing left behind.
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
		if err := os.Chmod(unreadable, 0); err != nil {
			t.Fatal(err)
		}
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
	// Made, and what makes it fails.
	broken := errors.New("broken")
	if _, err := b.Add(t.Context(), Source{Path: "x.zip", Write: func(context.Context, io.Writer) error { return broken }}); !errors.Is(err, broken) {
		t.Errorf("made: %v", err)
	}
	// Given up.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Add(ctx, Source{Path: unreadable}); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.o.Dir, spoolName, "*")); len(left) != 0 {
		t.Errorf("left in the spool: %v", left)
	}
	if s, err := b.Snapshot(t.Context()); err != nil || len(s.Items) != 0 {
		t.Errorf("%d items, %v", len(s.Items), err)
	}
}

// hooked does something after the first write of a copy.
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

// TestMade: a file that is made on its way into the spool.
func TestMade(t *testing.T) {
	var got []byte
	b := open(t, Options{Hub: to(answering(func(all [][]byte) (hub.Receipt, error) {
		got = all[0]
		return hub.Receipt{Outcome: hub.Delivered, Status: 200, Answer: "ok"}, nil
	}))})
	a, err := b.Add(t.Context(), Source{Path: "/somewhere/made.zip", Intermediary: "x", Write: func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, "PK made")
		return err
	}})
	drive(t, b)
	if err != nil || a.Item.Name != "made.zip" || string(got) != "PK made" {
		t.Errorf("%+v %v %q", a, err, got)
	}
}

// TestOneRefusedStopsNobody and holds stop everybody.
func TestOneRefusedStopsNobody(t *testing.T) {
	now := &clock{t: monday}
	mode := "mixed"
	var sent []string
	d := answering(func(all [][]byte) (hub.Receipt, error) {
		name := string(all[0])
		sent = append(sent, name)
		switch {
		case mode == "forbidden":
			return hub.Receipt{Outcome: hub.OnHold, Status: 403}, nil
		case name == "bad":
			return hub.Receipt{Outcome: hub.Refused, Status: 400, Answer: "bad"}, nil
		case name == "slow":
			return hub.Receipt{Outcome: hub.RetryLater, Status: 500}, nil
		}
		return hub.Receipt{Outcome: hub.Delivered, Status: 200, Answer: "ok"}, nil
	})
	b := open(t, Options{Hub: to(d), Now: now.now, first: time.Hour})
	ids := map[string]string{}
	for _, n := range []string{"bad", "slow", "good", "fine"} {
		ids[n] = add(t, b, write(t, n+".zip", []byte(n))).ID
	}
	drive(t, b)
	for n, want := range map[string]State{"bad": Refused, "slow": Waiting, "good": Delivered, "fine": Delivered} {
		if it := get(t, b, ids[n]); it.State != want {
			t.Errorf("%s: %s", n, it.State)
		}
	}
	if !slices.Equal(sent, []string{"bad", "slow", "good", "fine"}) {
		t.Errorf("sent: %v", sent)
	}
	mode, sent = "forbidden", nil
	for _, n := range []string{"one", "two", "three"} {
		ids[n] = add(t, b, write(t, n+".zip", []byte(n))).ID
	}
	drive(t, b)
	if len(sent) != 1 {
		t.Errorf("sent on hold: %v", sent)
	}
	for _, n := range []string{"one", "two", "three"} {
		if it := get(t, b, ids[n]); it.State != Waiting || it.Attempts != 0 || it.Tries != 0 {
			t.Errorf("%s: %+v", n, it)
		}
	}
	if s, err := b.Snapshot(t.Context()); err != nil || s.Queue.Held != Forbidden {
		t.Errorf("%+v %v", s.Queue, err)
	}
	// It is looked at again, with one item, after a quarter of an hour.
	now.add(probe)
	drive(t, b)
	if len(sent) != 2 {
		t.Errorf("sent after the probe: %v", sent)
	}
	mode, sent = "mixed", nil
	if err := b.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	drive(t, b)
	for _, n := range []string{"one", "two", "three"} {
		if it := get(t, b, ids[n]); it.State != Delivered {
			t.Errorf("%s: %+v", n, it)
		}
	}
}

// TestResolve: what is maybe delivered is decided by a person, with a note.
func TestResolve(t *testing.T) {
	answer := hub.Receipt{Outcome: hub.Uncertain}
	now := &clock{t: monday}
	b := open(t, Options{Hub: to(answering(func([][]byte) (hub.Receipt, error) { return answer, nil })), Now: now.now})
	one := add(t, b, write(t, "a.zip", []byte("a")))
	drive(t, b)
	now.add(time.Hour)
	two := add(t, b, write(t, "b.zip", []byte("b")))
	drive(t, b)
	for _, it := range []Item{one, two} {
		if got := get(t, b, it.ID); got.State != Uncertain || got.Reason != NoAnswer || !got.Kept {
			t.Fatalf("%+v", got)
		}
		if _, err := b.Retry(t.Context(), it.ID); !errors.Is(err, ErrState) {
			t.Errorf("retry of a maybe: %v", err)
		}
	}
	if got, err := b.Resolve(t.Context(), one.ID, true, "gebeld\nmet de beheerder"); err != nil || got.State != Delivered || got.Reason != ByPerson || got.Note != "gebeld met de beheerder" || got.Kept {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := b.Resolve(t.Context(), one.ID, false, "x"); !errors.Is(err, ErrState) {
		t.Errorf("twice: %v", err)
	}
	answer = hub.Receipt{Outcome: hub.Delivered, Status: 200, Answer: "ok"}
	if got, err := b.Resolve(t.Context(), two.ID, false, "niet ontvangen"); err != nil || got.State != Waiting {
		t.Errorf("%+v %v", got, err)
	}
	now.add(time.Hour)
	drive(t, b)
	if got := get(t, b, two.ID); got.State != Delivered || got.Note != "niet ontvangen" {
		t.Errorf("%+v", got)
	}
	if _, err := b.Resolve(t.Context(), "nobody", true, "x"); !errors.Is(err, ErrNoItem) {
		t.Errorf("nobody: %v", err)
	}
	if got, err := b.Get(t.Context(), two.ID[:20]); err != nil && one.ID[:20] != two.ID[:20] || err == nil && got.ID != two.ID {
		t.Errorf("a beginning: %v %v", got.ID, err)
	}
	if _, err := b.Get(t.Context(), two.ID[:2]); !errors.Is(err, ErrNoItem) {
		t.Errorf("a short beginning: %v", err)
	}
}

// TestForget: row, receipts, copy, and the name in the files of the database.
func TestForget(t *testing.T) {
	b := open(t, Options{Hub: to(answering(func([][]byte) (hub.Receipt, error) {
		return hub.Receipt{Outcome: hub.Delivered, Status: 200, Answer: "canary-answer"}, nil
	})), KeepSent: 10})
	it := add(t, b, write(t, "canary-name.zip", []byte("PK canary-content")))
	other := add(t, b, write(t, "other.zip", []byte("PK other")))
	drive(t, b)
	if err := b.Forget(t.Context(), it.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Forget(t.Context(), it.ID); !errors.Is(err, ErrNoItem) {
		t.Errorf("twice: %v", err)
	}
	err := filepath.WalkDir(b.o.Dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, word := range []string{"canary-name", "canary-answer", "canary-content", it.ID} {
			if bytes.Contains(content, []byte(word)) && word != "canary-answer" {
				t.Errorf("%s stands in %s", word, filepath.Base(path))
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if get(t, b, other.ID).State != Delivered {
		t.Error("another item went")
	}
	if n, err := b.ForgetDelivered(t.Context()); n != 1 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.o.Dir, spoolName, "*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestSeveralInOneRequest: as many as set, and one by one after a refusal.
func TestSeveralInOneRequest(t *testing.T) {
	h, c := startHub(t, localhub.Config{})
	b := open(t, Options{Hub: to(c), ItemsPerRequest: 3, KeepRefused: 30})
	var want []string
	for i := range 7 {
		content := zipped(t, fmt.Sprint(i))
		want = append(want, sumOf(content))
		add(t, b, write(t, names(i), content))
		if i == 3 {
			add(t, b, write(t, "slecht.zip", []byte("this is no ZIP file")))
		}
	}
	drive(t, b)
	there := box(t, h)
	for _, s := range want {
		if !there[s] {
			t.Error("a file did not arrive")
		}
	}
	if len(there) != 7 {
		t.Errorf("%d messages", len(there))
	}
	s, err := b.Snapshot(t.Context())
	if err != nil || s.Counts[Delivered] != 7 || s.Counts[Refused] != 1 {
		t.Errorf("%v %v", s.Counts, err)
	}
	// 3, then 3 refused and 3 alone, then 2.
	if n := h.Stats().Messages; n != 6 {
		t.Errorf("%d requests", n)
	}
}

// TestOneWorker: of several, one works; another takes over when it ends.
func TestOneWorker(t *testing.T) {
	release := make(chan struct{})
	d := answering(func([][]byte) (hub.Receipt, error) {
		<-release
		return hub.Receipt{Outcome: hub.Delivered, Status: 200, Answer: "ok"}, nil
	})
	a := open(t, Options{Hub: to(d)})
	b := open(t, Options{Dir: a.o.Dir, Hub: to(d)})
	if a.Busy() || b.Busy() {
		t.Error("busy without a worker")
	}
	stop := make(chan struct{})
	working := make(chan error, 1)
	go func() { working <- a.Work(t.Context(), stop) }()
	until(t, b, func([]Item) bool { return b.Busy() })
	for _, x := range []*Outbox{a, b} {
		if err := x.Work(t.Context(), nil); !errors.Is(err, ErrBusy) {
			t.Errorf("a second worker: %v", err)
		}
	}
	first := add(t, b, write(t, "a.zip", []byte("one"))) // handed over: a sends it
	until(t, b, func(all []Item) bool { return len(all) == 1 && all[0].State == Sending })
	if err := b.Forget(t.Context(), first.ID); !errors.Is(err, ErrState) {
		t.Errorf("forget while it is sent: %v", err)
	}
	second := add(t, b, write(t, "b.zip", []byte("two")))
	joined := make(chan error, 1)
	stopB := make(chan struct{})
	go func() { joined <- b.Join(t.Context(), stopB) }()
	close(stop) // the request under way is ended first
	close(release)
	if err := <-working; err != nil {
		t.Error(err)
	}
	if got := get(t, b, first.ID); got.State != Delivered {
		t.Errorf("%+v", got)
	}
	until(t, b, allOver)
	if got := get(t, a, second.ID); got.State != Delivered {
		t.Errorf("%+v", got)
	}
	close(stopB)
	if err := <-joined; err != nil {
		t.Error(err)
	}
}

// TestManyAdders: processes add at the same time; nothing is lost or mixed up.
func TestManyAdders(t *testing.T) {
	h, c := startHub(t, localhub.Config{})
	b := open(t, Options{Hub: to(c)})
	work(t, b)
	var wg sync.WaitGroup
	contents := map[string]bool{}
	var all [][]byte
	for i := range 40 {
		z := zipped(t, fmt.Sprint("m", i))
		contents[sumOf(z)] = true
		all = append(all, z)
	}
	for lane := range 4 {
		other, err := Open(t.Context(), Options{Dir: b.o.Dir})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		wg.Go(func() {
			defer other.Close()
			for i := lane; i < len(all); i += 4 {
				path := filepath.Join(dir, fmt.Sprint(i, ".zip"))
				if err := os.WriteFile(path, all[i], 0o600); err != nil {
					t.Error(err)
				}
				if _, err := other.Add(t.Context(), Source{Path: path, Intermediary: "intermediary"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	until(t, b, func(items []Item) bool { return len(items) == 40 && allOver(items) })
	if got := box(t, h); len(got) != 40 {
		t.Errorf("%d messages", len(got))
	}
}

// TestDamagedDatabase is put aside, and what lay in the spool is named.
func TestDamagedDatabase(t *testing.T) {
	for _, kind := range []string{"no database", "cut", "newer"} {
		t.Run(kind, func(t *testing.T) {
			b := open(t, Options{})
			content := []byte("PK kept")
			it := add(t, b, write(t, "a.zip", content))
			for i := range 60 {
				add(t, b, write(t, names(i), []byte(fmt.Sprint(i))))
			}
			dir := b.o.Dir
			if _, err := b.db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, DatabaseName)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			switch kind {
			case "no database":
				raw = bytes.Repeat([]byte("nothing of ours\n"), 1000)
			case "cut":
				raw = raw[:len(raw)/2]
			case "newer":
				db, err := sqlitefile.Open(path, "")
				if err == nil {
					_, err = db.Exec("PRAGMA user_version = 99")
					err = errors.Join(err, db.Close())
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err := Open(t.Context(), Options{Dir: dir}); !errors.Is(err, ErrNewer) {
					t.Errorf("%v", err)
				}
				return
			}
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			n := open(t, Options{Dir: dir})
			if n.SetAside() != path+".damaged" {
				t.Errorf("set aside: %q", n.SetAside())
			}
			s, err := n.Snapshot(t.Context())
			if err != nil || len(s.Items) != 61 || s.Counts[Uncertain] != 61 {
				t.Fatalf("%v %v", s.Counts, err)
			}
			if got := get(t, n, it.ID); got.Reason != Recovered || got.SHA256 != sumOf(content) || got.Size != int64(len(content)) || !got.Kept {
				t.Errorf("%+v", got)
			}
			if again := open(t, Options{Dir: dir}); again.SetAside() != "" {
				t.Error("set aside twice")
			}
		})
	}
}

// TestWatch: a snapshot for every change, whoever made it; none is changed later.
func TestWatch(t *testing.T) {
	b := open(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	seen := make(chan *Snapshot, 100)
	done := make(chan error, 1)
	go func() { done <- b.Watch(ctx, func(s *Snapshot) { seen <- s }) }()
	if s := <-seen; len(s.Items) != 0 || s.Working {
		t.Errorf("%+v", s)
	}
	it := add(t, b, write(t, "a.zip", []byte("a")))
	first := <-seen
	if len(first.Items) != 1 || first.Counts[Waiting] != 1 {
		t.Errorf("%+v", first)
	}
	other := open(t, Options{Dir: b.o.Dir}) // as another process would
	if err := other.Forget(t.Context(), it.ID); err != nil {
		t.Fatal(err)
	}
	if s := <-seen; len(s.Items) != 0 || len(first.Items) != 1 {
		t.Errorf("%+v", s)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// What this process changes is seen at once, not at the next tick.
func TestWatchSeesOwnChanges(t *testing.T) {
	b := open(t, Options{Tick: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	seen, done := make(chan *Snapshot, 100), make(chan error, 1)
	go func() { done <- b.Watch(ctx, func(s *Snapshot) { seen <- s }) }()
	<-seen
	add(t, b, write(t, "a.zip", []byte("a")))
	select {
	case s := <-seen:
		if len(s.Items) != 1 {
			t.Errorf("%+v", s)
		}
	case <-time.After(20 * time.Second):
		t.Error("not seen")
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

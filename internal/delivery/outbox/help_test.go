package outbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/hub"
	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

func TestMain(m *testing.M) {
	processtest.Main(roles)
	goleak.VerifyTestMain(m)
}

var monday = time.Date(2026, 9, 14, 3, 0, 0, 0, time.UTC)

// plainJitter applies no jitter.
func plainJitter(d time.Duration) time.Duration { return d }

func open(t testing.TB, o Options) *Outbox {
	t.Helper()
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "outbox")
	}
	if o.jitter == nil {
		o.jitter = plainJitter
	}
	o.Tick = cmp.Or(o.Tick, 10*time.Millisecond)
	o.firstWait = cmp.Or(o.firstWait, time.Millisecond)
	b := must.Get(Open(t.Context(), o))(t)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// zipped returns a ZIP file with one text in it.
func zipped(t testing.TB, text string) []byte {
	t.Helper()
	return messagetest.ZIP(t, "bericht.xml", text)
}

func write(t testing.TB, name string, content []byte) string {
	t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(t.TempDir(), name)
	}
	must.Do(t, os.WriteFile(name, content, 0o600))
	return name
}

func sumOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func add(t testing.TB, b *Outbox, path string) Item {
	t.Helper()
	a := must.Get(b.Add(t.Context(), Source{Path: path, Intermediary: "intermediary"}))(t)
	return a.Item
}

func get(t testing.TB, b *Outbox, id string) Item {
	t.Helper()
	return must.Get(b.Get(t.Context(), id))(t)
}

// drive steps the worker's loop by hand until nothing is due.
func drive(t testing.TB, b *Outbox) {
	t.Helper()
	for {
		again, _, err := b.step(t.Context())
		must.Do(t, err)
		if !again {
			return
		}
	}
}

// work runs the worker until the test ends.
func work(t testing.TB, b *Outbox) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Work(ctx, nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// until waits until want accepts the items.
func until(t testing.TB, b *Outbox, want func([]Item) bool) []Item {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	var last *Snapshot
	err := b.Watch(ctx, func(s *Snapshot) {
		if last = s; want(last.Items) {
			cancel()
		}
	})
	if err != nil || last == nil {
		t.Fatalf("nothing was seen: %v", err)
	}
	if !want(last.Items) {
		t.Fatalf("it did not come to that: %v, %+v", last.Counts, last.Queue)
	}
	return last.Items
}

func allOver(items []Item) bool {
	for _, it := range items {
		if !it.State.IsFinal() {
			return false
		}
	}
	return true
}

// answering is a Deliverer implemented by a function; it reads its input.
type answering func(items [][]byte) (hub.Receipt, error)

func (f answering) Deliver(_ context.Context, items []hub.Item) (hub.Receipt, error) {
	var all [][]byte
	for _, it := range items {
		b, err := readItem(it)
		if err != nil {
			return hub.Receipt{}, fmt.Errorf("%w: %w", hub.ErrItem, err)
		}
		all = append(all, b)
	}
	return f(all)
}

func readItem(it hub.Item) ([]byte, error) {
	r, err := it.Open()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// says makes a hub give the same answer to every request.
func says(r hub.Receipt) func(string) (Deliverer, error) {
	return to(answering(func([][]byte) (hub.Receipt, error) { return r, nil }))
}

// troubleIn returns the kind of trouble in an error, "" if there is none.
func troubleIn(err error) string {
	t, _ := errors.AsType[*Trouble](err)
	return t.kind()
}

// spooled checks how many files are in the spool.
func spooled(t testing.TB, b *Outbox, want int) {
	t.Helper()
	if all, _ := filepath.Glob(filepath.Join(b.spoolDir(), "*")); len(all) != want {
		t.Errorf("%d files in the spool, want %d: %v", len(all), want, all)
	}
}

func to(d Deliverer) func(string) (Deliverer, error) {
	return func(string) (Deliverer, error) { return d, nil }
}

// startHub runs a local hub and returns a client for it.
func startHub(t testing.TB, cfg localhub.Config) (*localhub.Hub, *hub.Client) {
	t.Helper()
	h := must.Get(localhub.Start(context.Background(), cfg))(t)
	t.Cleanup(func() { _ = h.Close() })
	must.Do(t, h.SetClientSecret(t.Context(), "office", "1234", "geheim"))
	return h, newClient(t, h.BaseURL())
}

func newClient(t testing.TB, base string) *hub.Client {
	t.Helper()
	c := must.Get(hub.New(hub.Config{BaseURL: base, ClientID: "office", OrganisationCode: "1234", Intermediary: "intermediary", Proxy: "none",
		Secret: func(context.Context) (string, error) { return "geheim", nil }}))(t)
	t.Cleanup(c.Close)
	return c
}

func box(t testing.TB, h *localhub.Hub) map[string]bool {
	t.Helper()
	all := must.Get(h.Messages(t.Context(), "", 100_000))(t)
	sums := map[string]bool{}
	for _, m := range all {
		sums[m.SHA256] = true
	}
	return sums
}

func names(n int) string { return fmt.Sprintf("bericht %d é.zip", n) }

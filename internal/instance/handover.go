package instance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"wiebelt/internal/call"
)

// answerIn is how long a phone's program waits for the running Wiebelt before
// the call goes into the inbox (corrections.md 20).
const answerIn = 10 * time.Millisecond

// event is a call on its way to the resident: parsed fields, no arguments.
type event struct {
	Kind      string    `json:"way"`
	State     string    `json:"state"`
	Direction string    `json:"direction"`
	Reason    string    `json:"reason,omitempty"`
	ID        string    `json:"id,omitempty"`
	Number    string    `json:"number"`
	Name      string    `json:"name,omitempty"`
	Line      string    `json:"line,omitempty"`
	Via       string    `json:"via,omitempty"`
	At        time.Time `json:"at"`
}

func encodeEvent(e call.Event) event {
	return event{e.Way.Kind, e.State.String(), e.Direction.String(), e.Reason.String(), e.ID, e.Number, e.Name, e.Line, e.Via, e.At}
}

// decodeEvent reads a handed-over call. Only the two ways that hand over may be
// named, so that nothing can pass for a link's report.
func decodeEvent(raw []byte) (call.Event, error) {
	var in event
	if err := json.Unmarshal(raw, &in); err != nil {
		return call.Event{}, errors.New("call is not understood")
	}
	s, ok := call.ParseState(in.State)
	if !ok || in.Kind != call.KindCommand && in.Kind != call.KindURL || in.At.IsZero() {
		return call.Event{}, errors.New("call is not understood")
	}
	if in.Kind == call.KindURL && (s == call.Ended || in.ID != "") {
		return call.Event{}, errors.New("a link may only ring")
	}
	e := call.Event{Way: call.Way{Kind: in.Kind, Tells: call.TellsRing}, State: s, Direction: call.ParseDirection(in.Direction),
		Reason: call.ParseReason(in.Reason), ID: in.ID, Number: in.Number, Name: in.Name, Line: in.Line, Via: in.Via, At: in.At}
	return e.Clean(), nil
}

// HandOver gives a call to the running Wiebelt. If nobody answers at once, the
// call is laid into the inbox and start is called to start Wiebelt; with a nil
// start, ErrNotRunning comes back instead. After the user has quit, ErrQuit.
func HandOver(ctx context.Context, cfg Config, e call.Event, start func() error) error {
	err := deliver(ctx, cfg, e)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, ErrNotRunning):
		return err
	case start == nil:
		return ErrNotRunning
	case wasQuit(cfg):
		return ErrQuit
	}
	if err := lay(cfg, e); err != nil {
		return err
	}
	return start()
}

func deliver(ctx context.Context, cfg Config, e call.Event) error {
	quick, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	c, _, err := Connect(quick, cfg, RoleRing)
	if err != nil {
		return err
	}
	defer c.Close()
	// It is there and it answers: now it may take the time it needs.
	_ = c.c.SetDeadline(time.Now().Add(ringTime))
	if err := c.Send("ring", encodeEvent(e)); err != nil {
		return fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	kind, raw, err := c.Receive()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	if kind != "ack" {
		var why string
		_ = json.Unmarshal(raw, &why)
		return fmt.Errorf("wiebelt did not take the call: %s", call.CleanText(why, 200))
	}
	return nil
}

// lay puts a call into the inbox, whole or not at all.
func lay(cfg Config, e call.Event) error {
	dir := filepath.Join(cfg.RunDir, "inbox")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the inbox: %w", err)
	}
	b, err := json.Marshal(encodeEvent(e))
	if err != nil {
		return err
	}
	if len(b) > inboxSize {
		return errors.New("call is too long")
	}
	if names, err := os.ReadDir(dir); err == nil && len(names) >= inboxLimit {
		return ErrInboxFull
	}
	f, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return fmt.Errorf("write to the inbox: %w", err)
	}
	_, err = f.Write(b)
	if e2 := f.Close(); err == nil {
		err = e2
	}
	// The name orders calls by the time they came in.
	name := fmt.Sprintf("%020d-%s.call", e.At.UnixNano(), strings.TrimPrefix(filepath.Base(f.Name()), "new-"))
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write to the inbox: %w", err)
	}
	return nil
}

// inbox takes calls that were laid down while nobody answered.
type inbox struct {
	cfg  Config
	dir  string
	h    Handler
	mu   sync.Mutex // one reader at a time
	wake chan struct{}
}

func newInbox(cfg Config, h Handler) *inbox {
	return &inbox{cfg: cfg, dir: filepath.Join(cfg.RunDir, "inbox"), h: h, wake: make(chan struct{}, 1)}
}

// poke has the inbox read soon.
func (b *inbox) poke() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// watch reads the inbox at once and whenever a file appears.
func (b *inbox) watch(ctx context.Context) {
	var appeared chan fsnotify.Event
	if w, err := fsnotify.NewWatcher(); err == nil {
		defer w.Close()
		if err = w.Add(b.dir); err == nil {
			appeared = w.Events
		}
	}
	if appeared == nil {
		b.cfg.log().Warn("the inbox is not watched; it is read whenever somebody connects")
	}
	b.read()
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-appeared:
			if !ok {
				appeared = nil
			} else if strings.HasSuffix(e.Name, ".call") {
				b.read()
			}
		case <-b.wake:
			b.read()
		}
	}
}

// read takes every call over, oldest first. A file goes only after its call was
// taken, or when it can never be taken.
func (b *inbox) read() {
	b.mu.Lock()
	defer b.mu.Unlock()
	files, err := os.ReadDir(b.dir)
	if err != nil {
		return
	}
	slices.SortFunc(files, func(x, y os.DirEntry) int { return strings.Compare(x.Name(), y.Name()) })
	for _, f := range files {
		path := filepath.Join(b.dir, f.Name())
		if !strings.HasSuffix(f.Name(), ".call") {
			continue
		}
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > inboxSize {
			_ = os.Remove(path)
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // another reader of the folder; tried again with the next file
		}
		e, err := decodeEvent(raw)
		if err == nil {
			if err := b.h.Ring(e); err != nil {
				return // going down: the next Wiebelt takes it
			}
		}
		_ = os.Remove(path)
	}
}

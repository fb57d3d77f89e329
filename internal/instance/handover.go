package instance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/text"
)

// residentTimeout is how long a phone's program waits for the first answer of the running
// Wiebelt. Without one the call goes into the inbox; after it, handOverTimeout applies.
const residentTimeout = 10 * time.Millisecond

// event is a call being handed to the resident: parsed fields, no arguments.
type event struct {
	// HandOverID identifies this hand-over: a call that arrives through both socket
	// and inbox is taken once.
	HandOverID string    `json:"hand_over,omitempty"`
	Kind       string    `json:"way"`
	State      string    `json:"state"`
	Direction  string    `json:"direction"`
	Reason     string    `json:"reason,omitempty"`
	ID         string    `json:"id,omitempty"`
	Number     string    `json:"number"`
	Name       string    `json:"name,omitempty"`
	Line       string    `json:"line,omitempty"`
	Via        string    `json:"via,omitempty"`
	At         time.Time `json:"at"`
	Reports    string    `json:"tells,omitempty"` // what the phone reports: "", "end" or "all"
}

var reports = map[string]call.ReportLevel{"end": call.RingAndEnd, "all": call.AllStates}

func reportsWord(t call.ReportLevel) string {
	return map[call.ReportLevel]string{call.RingAndEnd: "end", call.AllStates: "all"}[t]
}

func encodeEvent(e call.Event) event {
	return event{HandOverID: fmt.Sprintf("%016x%08x", rand.Uint64(), rand.Uint32()), Kind: e.Source.Kind, State: e.State.String(),
		Direction: e.Direction.String(), Reason: e.Reason.String(), ID: e.ID, Number: e.Number, Name: e.Name, Line: e.Line, Via: e.Via,
		At: e.At.UTC(), Reports: reportsWord(e.Source.ReportLevel)}
}

var errNotUnderstood = errors.New("call is not understood")

// decodeEvent reads a handed-over call and the hand-over's ID. Only the two kinds that
// hand over are accepted, so that nothing can pass for a link's report, and a URL may
// contain no more than package scheme allows.
func decodeEvent(raw []byte) (e call.Event, handOver string, err error) {
	var in event
	if err := json.Unmarshal(raw, &in); err != nil {
		return call.Event{}, "", errNotUnderstood
	}
	s, ok := call.ParseState(in.State)
	if !ok || in.Kind != call.KindCommand && in.Kind != call.KindURL || in.At.IsZero() || len(in.HandOverID) > 64 {
		return call.Event{}, "", errNotUnderstood
	}
	e = call.Event{Source: call.Source{Kind: in.Kind, ReportLevel: call.RingOnly}, State: s, Direction: call.ParseDirection(in.Direction),
		Reason: call.ParseReason(in.Reason), ID: in.ID, Number: in.Number, Name: in.Name, Line: in.Line, Via: in.Via, At: in.At.Local()}
	if in.Kind == call.KindCommand {
		e.Source.ReportLevel = reports[in.Reports] // unknown words mean the least
	}
	if in.Kind == call.KindURL && (s == call.Ended || in.ID+in.Name+in.Line+in.Via != "") {
		return call.Event{}, "", errors.New("a link may only say that a number rings or was answered")
	}
	// A call cannot be from the future; such a one would never count as late.
	if now := time.Now(); e.At.After(now) {
		e.At = now
	}
	return e.Clean(), in.HandOverID, nil
}

// HandOver passes a call to the running Wiebelt. If there is no immediate answer, or
// Wiebelt is ending, the call is put into the inbox, and start is called to start Wiebelt;
// an extra one is harmless, since it sees that it is not the first. It returns
//   - nil if the call was taken, or will be by the Wiebelt that start has started;
//   - ErrNotRunning if start is nil and none is running: nothing stays in the inbox;
//   - ErrLeftInInbox with start's error if that failed: the call waits in the inbox;
//   - ErrQuit after the user has quit;
//   - another error if the call was refused or could not be written to the inbox, and is lost.
func HandOver(ctx context.Context, cfg Config, e call.Event, start func() error) error {
	out := encodeEvent(e)
	err := deliver(ctx, cfg, out, residentTimeout)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, ErrNotRunning):
		return err
	case start == nil && noneRunning(cfg):
		return ErrNotRunning
	case wasQuit(cfg):
		return ErrQuit
	}
	file, err := writeCall(cfg, out)
	if err != nil {
		return err
	}
	err = ErrNotRunning
	if start != nil {
		err = start()
	}
	if err == nil || awaitTaken(ctx, file, cfg) {
		return nil
	}
	if start != nil {
		return fmt.Errorf("%w: %w", ErrLeftInInbox, err)
	}
	if errors.Is(os.Remove(file), os.ErrNotExist) {
		return nil // taken at the last moment
	}
	return err
}

// noneRunning reports whether no Wiebelt is running, starting or ending.
func noneRunning(cfg Config) bool {
	release, err := lock(cfg)
	if err == nil {
		release()
	}
	return !errors.Is(err, ErrRunning)
}

// awaitTaken reports whether a call is taken from the inbox, waiting while somebody still might.
func awaitTaken(ctx context.Context, file string, cfg Config) bool {
	for end := time.Now().Add(settleTime); ; {
		last := noneRunning(cfg) || time.Now().After(end) // checked first, since the taker may then end
		if _, err := os.Lstat(file); errors.Is(err, os.ErrNotExist) {
			return true
		}
		if last || wake.Pause(ctx, 10*time.Millisecond) != nil {
			return false
		}
	}
}

// deliver sends the call over the socket to a resident that answers within wait.
// ErrNotRunning means that it may have to be delivered in another way.
func deliver(ctx context.Context, cfg Config, out event, wait time.Duration) error {
	quick, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	b, err := line("ring", out)
	if err != nil {
		return err
	}
	// One that answers too late may have read the call; its ID prevents taking it twice.
	c, _, err := connect(quick, cfg, roleRing, b)
	if err != nil {
		return err
	}
	defer c.Close()
	// It has answered: now it may take its time.
	_ = c.c.SetDeadline(time.Now().Add(handOverTimeout))
	kind, raw, err := c.Receive()
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotRunning, err)
	case kind == "ack":
		return nil
	case kind == "later":
		return fmt.Errorf("%w: it is ending", ErrNotRunning)
	}
	var why string
	_ = json.Unmarshal(raw, &why)
	return text.Errorf(text.InstanceRefused, call.CleanText(why, 200))
}

// writeCall writes a call to the inbox, atomically, and returns its file.
func writeCall(cfg Config, out event) (path string, err error) {
	dir := inboxDir(cfg)
	if err := createRunDir(cfg); err != nil {
		return "", err
	}
	b, err := json.Marshal(out)
	if err != nil {
		return "", err
	}
	if len(b) > maxInboxFileSize {
		return "", text.Errorf(text.InstanceLong)
	}
	if err := checkSpace(dir); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, tempPrefix+"*")
	if err != nil {
		return "", fmt.Errorf("write to the inbox: %w", err)
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Close())
	// The name orders calls by time of arrival.
	name := fmt.Sprintf("%020d-%s%s", max(0, out.At.UnixNano()), strings.TrimPrefix(filepath.Base(f.Name()), tempPrefix), callSuffix)
	path = filepath.Join(dir, name)
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("write to the inbox: %w", err)
	}
	return path, nil
}

// checkSpace returns ErrInboxFull if the inbox is full. It first removes partial files of
// killed programs, and calls not collected within a day.
func checkSpace(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < maxInboxFiles {
		return err
	}
	left := len(files)
	for _, f := range files {
		info, err := f.Info()
		if err != nil { // taken meanwhile
			left--
			continue
		}
		old := time.Since(info.ModTime())
		if old > 24*time.Hour || old > time.Minute && strings.HasPrefix(f.Name(), tempPrefix) {
			if os.Remove(filepath.Join(dir, f.Name())) == nil {
				left--
			}
		}
	}
	if left >= maxInboxFiles {
		return ErrInboxFull
	}
	return nil
}

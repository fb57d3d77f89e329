//go:build linux

package linphone

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/linktest"
)

// hostile gives messages that no daemon sends: a table, and mutations of real
// ones by a fixed seed.
func hostile() []string {
	all := []string{
		"", "\n", "\n\n\n\n\n\n", "Status", "Status: ", "Status: Ok", "Status: Ok\n", "Status: Ok\n\n", "Status: Maybe\n\n", "status: ok\n\n", "Error\n", "Status: Error\n", "Status: Error\nReason:\n", "Status: Ok\r\n\r\nSize: 0\r\n\r\n",
		"Status: Ok\n\nSize: -1\n\n", "Status: Ok\n\nSize: 99999999999999999999\n\n", "Status: Ok\n\nSize:\n\n", "Status: Ok\n\nSize: x\nEvent-type: \n\n\n\n\n",
		"Status: Ok\n\nSize: 0\nEvent-type: call-state-changed\n\n\n\n\n", "Status: Ok\n\nSize: 0\nEvent-type: call-state-changed\n\nEvent:\nFrom:\nId:\n\n\n\n",
		"HTTP/1.1 400 Bad Request\r\n\r\n", "220 mail.example ESMTP\r\n", "\x00\x00\x00\x00", "\xff\xfe\xfd", strings.Repeat("a", maxAnswer+1), strings.Repeat("\n", maxAnswer+1), "Status: Ok\n\n" + strings.Repeat("x: y\n", maxAnswer),
		"Status: Ok\n\nSize: 0\nEvent-type: " + strings.Repeat("c", maxAnswer), idle + idle, idle + recorded[0], recorded[0] + recorded[0] + recorded[0], noID + recorded[0], strings.Repeat("Status: Ok\n", 100),
	}
	for _, id := range []string{"", "0", "-1", "+1", "1.5", "0x1", "1e3", " 1", "00000000001", "2147483648", "99999999999999999999", "１", "a", "1\x00", "1 2", "../1", strings.Repeat("1", 5000)} {
		all = append(all, event(0, "IncomingReceived", "<sip:1@x>", id), event(0, "Connected", "<sip:1@x>", id))
	}
	for _, from := range []string{"", "<", ">", "<>", "\"", "\"\"", "\"\\", "\"a\\\" <sip:1@x>", "\"a\" <sip:1@x", "<<sip:1@x>>", "sip:", "sip:@", "tel:", "<sip:1@x>\x00", "\"\u202egnol\u2066\" <sip:1@x>", "\"\xff\xfe\" <sip:\xff@x>",
		"\"" + strings.Repeat("ë", 3000) + "\" <sip:" + strings.Repeat("6", 3000) + "@x>", strings.Repeat("\\", 4000), strings.Repeat("<", 4000), "\"x\rEvent: LinphoneCallEnd\" <sip:1@x>", "%s%n%d"} {
		all = append(all, event(0, "IncomingReceived", from, "5"))
	}
	for _, state := range []string{"", "Idle", "incomingreceived", "IncomingReceived ", "Incoming", "State", "StateState", "PushIncomingReceived", "\x00", strings.Repeat("End", 2000)} {
		all = append(all, event(0, state, "<sip:1@x>", "6"))
	}
	return linktest.Mutate(all, 320, append([]string{idle, noID}, recorded...)...)
}

// Whatever comes, the next call is told: on the same connection, or on the next.
func TestHostile(t *testing.T) {
	messages := hostile()
	var log strings.Builder
	var same atomic.Int32
	logger := slog.New(slog.NewTextHandler(&log, nil)) // takes one record at a time
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			for n := i; n < len(messages); n += 40 {
				if survives(t, messages[n], logger) {
					same.Add(1)
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d messages, %d survived on the same connection", len(messages), same.Load())
	if len(messages) < 300 || int(same.Load()) < len(messages)/3 {
		t.Error("too few")
	}
	if !strings.Contains(log.String(), "cannot be read") {
		t.Error("nothing is in the log")
	}
	for _, secret := range []string{"0201234567", "31612345678", "Zoë", "Vries"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
}

// survives sends a message and then a call, which must be told, and reports
// whether that was on the same connection.
func survives(t *testing.T, message string, log *slog.Logger) bool {
	var serving sync.WaitGroup
	dials := 0
	p, err := New(Config{Address: "lp", Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		answers := []string{event(0, "IncomingReceived", "\"Zoë\" <sip:0201234567@pbx>", "1000000")}
		if dials++; dials == 1 {
			answers = append([]string{message}, answers...)
		}
		serving.Go(func() {
			defer theirs.Close()
			buf := make([]byte, 1<<10)
			for len(answers) > 0 {
				// Who waits for the rest of an answer is not left to wait.
				theirs.SetDeadline(time.Now().Add(time.Second))
				n, err := theirs.Read(buf)
				if err != nil {
					return
				}
				a := noID
				if string(buf[:n]) == "pop-event\n" {
					a, answers = answers[0], answers[1:]
				}
				if _, err := theirs.Write([]byte(a)); err != nil {
					return
				}
			}
		})
		return ours, nil
	}})
	if err != nil {
		t.Error(err)
		return false
	}
	told := false
	err = link.Once(t.Context(), link.Config{
		Log: log,
		Take: func(e call.Event) error {
			if e != e.Clean() || e.Source.Kind != registry.Linphone {
				t.Errorf("event %+v", e)
			}
			told = told || e.ID == "1000000" && e.Number == "sip:0201234567@pbx" && e.Name == "Zoë"
			return nil
		},
	}, untilTold{p, &told})
	serving.Wait()
	if !told {
		t.Errorf("the next call was not told (%v): %.200q", err, message)
	}
	return dials == 1
}

// untilTold connects again until told, at most three times.
type untilTold struct {
	link.Phone
	told *bool
}

func (u untilTold) Session(ctx context.Context, r *link.Reporter) (err error) {
	for range 3 {
		err = u.Phone.Session(ctx, r)
		if err != nil && strings.Contains(err.Error(), "0201234567") {
			return errors.New("a number is in an error")
		}
		if *u.told {
			return err
		}
	}
	return fmt.Errorf("three connections: %w", err)
}

// single is a phone whose session is a function.
type single func(r *link.Reporter) error

func (s single) Traits() link.Traits {
	return link.Traits{Source: call.Source{Kind: registry.Linphone, Conn: "/tmp/lp", Reports: call.AllStates}, Local: true}
}
func (s single) Session(_ context.Context, r *link.Reporter) error { return s(r) }

// answering is a connection that gives the same answer to every command.
type answering struct {
	net.Conn
	answer string
}

func (a *answering) Write(b []byte) (int, error)     { return len(b), nil }
func (a *answering) Read(b []byte) (int, error)      { return copy(b, a.answer), nil }
func (a *answering) SetDeadline(time.Time) error     { return nil }
func (a *answering) SetReadDeadline(time.Time) error { return nil }

func FuzzAnswer(f *testing.F) {
	for _, s := range append(recorded, idle, noCall, "Status: Ok\n\nState: LinphoneCallStreamsRunning\nFrom: <sip:1@x>\nDirection: in\nDuration: 6\n\n",
		"Status: Ok\n\nSize: 0\nEvent-type: message-received\n\nFrom: <sip:1@x>\nContent: \"hello\"\n\n\n\n") {
		f.Add(s, noID)
	}
	f.Fuzz(func(t *testing.T, text, status string) {
		a, whole := parse([]byte(text))
		for _, s := range []string{a.event, a.id, a.state, a.from, a.direction} {
			if strings.Contains(s, "\n") || s != "" && !a.ok {
				t.Fatalf("%+v", a)
			}
		}
		if !whole || a.foreign {
			return
		}
		if !plausible([]byte(text)) {
			t.Fatalf("%q is an answer", text)
		}
		// Only blank lines may follow what is whole.
		if b, still := parse([]byte(text + "\n")); !still || a != b {
			t.Fatalf("%+v is %+v with a further blank line", a, b)
		}
		if len(status) > maxAnswer/2 {
			return
		}
		if _, whole := parse([]byte(status)); !whole {
			status = noID
		}
		link.Once(t.Context(), link.Config{Take: func(e call.Event) error {
			if e != e.Clean() || e.ID == "" || e.Source.Kind != registry.Linphone {
				t.Fatalf("%+v", e)
			}
			return nil
		}}, single(func(r *link.Reporter) error {
			s := &session{d: daemon{conn: &answering{answer: status}}, r: r}
			if a.event != "" {
				return s.take(a)
			}
			return nil
		}))
	})
}

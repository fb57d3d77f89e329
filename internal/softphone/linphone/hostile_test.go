//go:build linux

package linphone

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
)

func answered(state, from, id string) string {
	return "Status: Ok\n\nSize: 0\n" + event(state, from, id)
}

// hostile returns messages that no daemon sends: a table, and mutations of real
// ones with a fixed seed.
func hostile() []string {
	all := []string{
		"", "\n", "\n\n\n\n\n\n", "Status", "Status: ", "Status: Ok", "Status: Ok\n", "Status: Ok\n\n", "Status: Maybe\n\n", "status: ok\n\n", "Error\n", "Status: Error\n", "Status: Error\nReason:\n", "Status: Ok\r\n\r\nSize: 0\r\n\r\n",
		"Status: Ok\n\nSize: -1\n\n", "Status: Ok\n\nSize: 99999999999999999999\n\n", "Status: Ok\n\nSize:\n\n", "Status: Ok\n\nSize: x\nEvent-type: \n\n\n\n\n",
		"Status: Ok\n\nSize: 0\nEvent-type: call-state-changed\n\n\n\n\n", "Status: Ok\n\nSize: 0\nEvent-type: call-state-changed\n\nEvent:\nFrom:\nId:\n\n\n\n",
		"HTTP/1.1 400 Bad Request\r\n\r\n", "220 mail.example ESMTP\r\n", "\x00\x00\x00\x00", "\xff\xfe\xfd", strings.Repeat("a", maxAnswer+1), strings.Repeat("\n", maxAnswer+1), "Status: Ok\n\n" + strings.Repeat("x: y\n", maxAnswer),
		"Status: Ok\n\nSize: 0\nEvent-type: " + strings.Repeat("c", maxAnswer), idle + idle, idle + recorded[0], recorded[0] + recorded[0] + recorded[0], noID + recorded[0], strings.Repeat("Status: Ok\n", 100),
	}
	for _, id := range []string{"", "0", "-1", "+1", "1.5", "0x1", "1e3", " 1", "00000000001", "2147483648", "99999999999999999999", "１", "a", "1\x00", "1 2", "../1", strings.Repeat("1", 5000)} {
		all = append(all, answered("IncomingReceived", "<sip:1@x>", id), answered("Connected", "<sip:1@x>", id))
	}
	for _, from := range []string{"", "<", ">", "<>", "\"", "\"\"", "\"\\", "\"a\\\" <sip:1@x>", "\"a\" <sip:1@x", "<<sip:1@x>>", "sip:", "sip:@", "tel:", "<sip:1@x>\x00", "\"\u202egnol\u2066\" <sip:1@x>", "\"\xff\xfe\" <sip:\xff@x>",
		"\"" + strings.Repeat("ë", 3000) + "\" <sip:" + strings.Repeat("6", 3000) + "@x>", strings.Repeat("\\", 4000), strings.Repeat("<", 4000), "\"x\rEvent: LinphoneCallEnd\" <sip:1@x>", "%s%n%d"} {
		all = append(all, answered("IncomingReceived", from, "5"))
	}
	for _, state := range []string{"", "Idle", "incomingreceived", "IncomingReceived ", "Incoming", "State", "StateState", "PushIncomingReceived", "\x00", strings.Repeat("End", 2000)} {
		all = append(all, answered(state, "<sip:1@x>", "6"))
	}
	return linktest.Mutate(all, 320, append([]string{idle, noID}, recorded...)...)
}

// TestHostile: whatever arrives, the next call is reported, on the same connection or the next.
func TestHostile(t *testing.T) {
	t.Parallel()
	linktest.Hostile(t, hostile(), func(_ int, message string, log *logtest.Buffer) bool {
		return survives(t, message, slog.New(slog.NewTextHandler(log, nil)))
	})
}

// survives sends a message and then a call, which must be reported.
// It reports whether the call arrived on the same connection.
func survives(t *testing.T, message string, log *slog.Logger) bool {
	d := newFake(t, "")
	defer d.Close()
	next := answered("IncomingReceived", "\"Zoë\" <sip:0201234567@pbx>", "1000000")
	answers := []string{message, next}
	d.answer = func(command, answer string) string {
		if command != "pop-event" {
			return answer
		}
		if len(answers) == 0 { // this connection has had them all
			answers = []string{next}
			return ""
		}
		answer, answers = answers[0], answers[1:]
		return answer
	}
	dials, told := 0, false
	p := newPhone(t, d.Address().Address)
	p.dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials++
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return impatient{conn}, err
	}
	err := link.RunOnce(t.Context(), link.Config{
		Log: log,
		Receive: func(e call.Event) error {
			if e != e.Clean() || e.Source.Kind != registry.Linphone {
				t.Errorf("event %+v", e)
			}
			told = told || e.ID == "1000000" && e.Number == "sip:0201234567@pbx" && e.Name == "Zoë"
			return nil
		},
	}, linktest.Scripted{Phone: p, Do: func(ctx context.Context, r *link.Reporter) (err error) {
		for began := time.Now(); !told && time.Since(began) < must.Patience; { // a busy machine may need several
			err = p.Session(ctx, r)
		}
		return err
	}})
	if !told || strings.Contains(fmt.Sprint(err), "0201234567") {
		t.Errorf("next call told: %v (%v): %.200q", told, err, message)
	}
	return dials == 1
}

// impatient is a connection with a short timeout for the rest of an answer, which arrives
// in pieces.
type impatient struct{ net.Conn }

func (i impatient) SetDeadline(time.Time) error {
	return i.Conn.SetDeadline(time.Now().Add(time.Second))
}
func (i impatient) Read(b []byte) (int, error) { return i.Conn.Read(b[:min(len(b), 77)]) }

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
	p := newPhone(f, "lp")
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
		// Only blank lines may follow a complete answer.
		if b, still := parse([]byte(text + "\n")); !still || a != b {
			t.Fatalf("%+v is %+v with a further blank line", a, b)
		}
		if len(status) > maxAnswer/2 {
			return
		}
		if _, whole := parse([]byte(status)); !whole {
			status = noID
		}
		linktest.Once(t, linktest.Scripted{Phone: p, Do: func(_ context.Context, r *link.Reporter) error {
			s := &session{d: daemon{conn: &answering{answer: status}}, r: r}
			if a.event != "" {
				return s.reportEvent(a)
			}
			return nil
		}})
	})
}

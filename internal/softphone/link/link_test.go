package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/core/call"
	"wiebelt/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a phone that is available or not, according to a list of sessions.
type script struct {
	traits   Traits
	sessions []session
	ended    time.Time       // when the last session ended
	waits    []time.Duration // from there to the next session
	seen     []State
	taken    []string
	stop     context.CancelFunc
}

// session is one connection: whether it was established, what it reported, how long it
// lasted and how it ended.
type session struct {
	dial    time.Duration // until the connection was established
	up      bool
	reports []call.Event
	lives   time.Duration
	err     error
}

func (s *script) Traits() Traits { return s.traits }

func (s *script) Session(_ context.Context, r *Reporter) error {
	if !s.ended.IsZero() {
		s.waits = append(s.waits, time.Since(s.ended))
	}
	if len(s.sessions) == 0 {
		s.stop()
		return context.Canceled
	}
	now := s.sessions[0]
	s.sessions = s.sessions[1:]
	time.Sleep(now.dial)
	if now.up {
		r.Up()
	}
	for _, e := range now.reports {
		r.Report(e)
	}
	time.Sleep(now.lives)
	s.ended = time.Now()
	return now.err
}

// play runs a link against the script, with its own clock, until no sessions are left.
func (s *script) play(t *testing.T) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s.stop = cancel
		s.traits.Source = call.Source{Kind: "script", ReportLevel: call.AllStates}
		l := newLink(Config{
			Receive: func(e call.Event) error {
				s.taken = append(s.taken, e.State.String()+" "+e.ID+" "+e.Reason.String())
				return nil
			},
			SourceGone:   func(call.Source) { s.taken = append(s.taken, "gone") },
			StateChanged: func(st State) { s.seen = append(s.seen, st) },
		}, s)
		l.jitter = func(d time.Duration) time.Duration { return d }
		l.run(ctx)
	})
}

func (s *script) phases() string {
	var all []string
	for _, st := range s.seen {
		all = append(all, st.Phase.String())
	}
	return strings.Join(all, " ")
}

func TestBackoff(t *testing.T) {
	times := func(n int, s session) []session {
		var all []session
		for range n {
			all = append(all, s)
		}
		return all
	}
	off := session{err: NotRunningError(errors.New("refused"))}
	hour := session{up: true, lives: time.Hour, err: ErrClosed}
	second := session{up: true, lives: time.Second, err: ErrClosed}
	odd := session{up: true, lives: 20 * time.Second, err: errors.New("no frame")}
	reset := session{up: true, err: errors.New("connection reset by peer")}
	late := session{dial: 600 * time.Millisecond, up: true, lives: time.Second, err: ErrClosed} // Windows retried
	anew := session{up: true, lives: time.Second, err: NotRunningError(errors.New("started anew"))}
	no := session{lives: time.Second, err: &Refusal{Why: "click allow"}}
	replaced := session{up: true, lives: time.Hour, err: ErrReplaced}
	here := Traits{Local: true, OneClient: true}
	for _, tt := range []struct {
		name     string
		traits   Traits
		sessions []session
		waits    string
		phases   string
	}{
		{"a local phone that is off", here, times(5, off), "[500ms 1s 1.5s 1.5s 1.5s]", "connecting waiting waiting waiting waiting waiting"},
		{"a phone elsewhere that is off", Traits{}, times(9, off), "[500ms 1s 2s 4s 8s 16s 32s 1m0s 1m0s]", ""},
		{"one that is dialled in vain for long", Traits{}, times(3, session{lives: time.Minute, err: off.err}), "[500ms 1s 2s]", ""},
		{"one that hangs up before it lets us in", Traits{}, times(3, session{err: ErrClosed}), "[500ms 1s 2s]", ""},
		{"the same on this computer", here, times(3, session{err: ErrClosed}), "[500ms 1s 1.5s]", ""},
		{"off, and then the computer sleeps", Traits{}, []session{off, off, {up: true, err: errWoken}, off}, "[500ms 1s 0s 500ms]", "connecting waiting waiting connected connecting waiting"},
		{"one of several that serve alike", Traits{RetryAfter: time.Millisecond}, []session{{up: true, lives: time.Hour, err: odd.err}, reset, {up: true, lives: time.Second, err: odd.err}, {up: true, lives: 3 * time.Second, err: odd.err}, off}, "[1ms 2ms 4ms 1ms 1s]", ""},
		{"restarted", here, []session{hour, off, off, hour}, "[1ms 500ms 1s 1ms]", "connecting connected waiting waiting waiting connected waiting"},
		{"restarted often is not kicked", here, []session{second, off, second, off, second, off, second, off}, "[1ms 500ms 1ms 500ms 1ms 500ms 1ms 500ms]", ""},
		{"restarted, and it ended while it let us in", here, []session{second, reset, second, reset, second, reset, second}, "[1ms 500ms 1ms 500ms 1ms 500ms 1ms]", ""},
		{"restarted while it was dialled", here, []session{hour, late, late, late, late}, "[1ms 1ms 1ms 1ms 1ms]", ""},
		{"known to be restarted", here, []session{hour, anew, anew, anew, anew}, "[1ms 500ms 500ms 500ms 500ms]", ""},
		{"kicked once", here, []session{hour, hour, hour}, "[1ms 1ms 1ms]", ""},
		{"kicked once, and then it broke", here, []session{hour, second, odd, second}, "[1ms 1ms 500ms 1ms]", ""},
		{"kicked once and then restarted", here, []session{hour, second, off, second, off, hour}, "[1ms 1ms 500ms 1ms 500ms 1ms]", ""},
		{"kicked for good", here, []session{hour, second, second, second, second, second, second, second},
			"[1ms 1ms 1m0s 1ms 2m0s 1ms 4m0s 1ms]", "connecting connected waiting connected waiting connected kicked connected waiting connected kicked connected waiting connected kicked connected waiting"},
		{"the wait does not grow for ever", here, times(13, second), "[1ms 1ms 1m0s 1ms 2m0s 1ms 4m0s 1ms 8m0s 1ms 10m0s 1ms 10m0s]", ""},
		{"kicked, and the phone restarted before it is asked again", here, []session{second, second, second, second, off, second, second, second}, "[1ms 1ms 1m0s 1ms 500ms 1ms 1ms 1m0s]", ""},
		{"kicked, then alone again", here, []session{second, second, second, hour, second}, "[1ms 1ms 1m0s 1ms 1ms]", ""},
		{"closed often, many clients", Traits{Local: true}, append(times(4, second), off, off), "[500ms 500ms 500ms 500ms 1s 1.5s]", ""},
		{"told that it was replaced", Traits{}, []session{replaced, replaced}, "[1m0s 1m0s]", "connecting connected kicked connected kicked"},
		{"something else listens there", here, times(5, odd), "[500ms 1s 1.5s 1.5s 1.5s]", ""},
		{"not let in, then let in", here, []session{no, no, off, no, hour, no}, "[10s 20s 500ms 10s 1ms 10s]", "connecting refused refused waiting refused connected waiting refused"},
		{"not let in for long", Traits{}, times(8, no), "[10s 20s 40s 1m20s 2m40s 5m0s 5m0s 5m0s]", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &script{traits: tt.traits, sessions: tt.sessions}
			s.play(t)
			if got := fmt.Sprint(s.waits); got != tt.waits {
				t.Errorf("waits %s, want %s", got, tt.waits)
			}
			if got := s.phases(); tt.phases != "" && got != tt.phases {
				t.Errorf("states %s\nwant   %s", got, tt.phases)
			}
			for _, st := range s.seen {
				if (st.Phase >= Waiting) != (st.Err != nil && !st.Retry.IsZero()) || st.Since.IsZero() {
					t.Errorf("state %+v", st)
				}
			}
		})
	}
}

func TestJitterStaysBelowTwoSeconds(t *testing.T) {
	for range 10000 {
		if d := jitter(localWait); d < time.Second || d >= 2*time.Second {
			t.Fatalf("local wait %v", d)
		}
	}
}

// TestCallsWhenTheLinkEnds: when the phone has exited, its calls have
// ended. While it may only have dropped us, their state is unknown.
func TestCallsWhenTheLinkEnds(t *testing.T) {
	a := call.Event{ID: "a", Number: "0612345678"}
	b := call.Event{ID: "b", Number: "0201234567"}
	answered := call.Event{ID: "a", State: call.Answered}
	s := &script{sessions: []session{{up: true, reports: []call.Event{a, answered, b}, err: ErrClosed}, {err: NotRunningError(errors.New("refused"))}}}
	s.play(t)
	got := strings.Join(s.taken, "; ")
	if !strings.HasPrefix(got, "ringing a ; answered a ; ringing b ; gone; ended ") || !strings.Contains(got, "ended a completed") || !strings.Contains(got, "ended b ") {
		t.Errorf("phone ended: %s", got)
	}
	over := call.Event{ID: "a", State: call.Ended}
	s = &script{sessions: []session{{up: true, reports: []call.Event{a}, err: ErrClosed}, {up: true, reports: []call.Event{over}, err: ErrClosed}}}
	s.play(t)
	if got := strings.Join(s.taken, "; "); got != "ringing a ; gone; ended a ; gone" {
		t.Errorf("dropped for a moment: %s", got)
	}
}

func TestReportCompletesEvents(t *testing.T) {
	var got []call.Event
	l := newLink(Config{Receive: func(e call.Event) error { got = append(got, e); return nil }}, &script{})
	r := &l.rep
	r.Report(call.Event{ID: "a", Number: "0612345678", Name: "J.\u202e Vries", Line: "0201234567", Via: "Anna", Extension: "101", At: time.Unix(1, 0)})
	r.Report(call.Event{ID: "a", State: call.Answered, Direction: call.DirectionUnknown})
	r.Report(call.Event{ID: "a", Number: "0687654321", Direction: call.Outgoing, Via: "Piet"})
	r.Report(call.Event{ID: "a", State: call.Answered, Number: "0687654321"})
	r.Report(call.Event{ID: "a", State: call.Answered, Number: "103", Name: "Carla"}) // nobody passed her on
	r.EndOthers(map[string]bool{"a": true})
	r.EndOthers(map[string]bool{"b": true})
	r.End("a", call.Missed) // it is over already
	r.Report(call.Event{ID: "b", Direction: call.DirectionUnknown})
	r.Report(call.Event{ID: "b", State: call.Answered, Direction: call.Outgoing})
	r.End("b", call.AnsweredElsewhere)
	want := []string{
		"ringing incoming 0612345678 J. Vries 0201234567 Anna 101 ",
		"answered incoming 0612345678 J. Vries 0201234567 Anna 101 ",
		"ringing incoming 0687654321  0201234567 Piet 101 ",
		"answered incoming 0687654321  0201234567 Piet 101 ",
		"answered incoming 103 Carla 0201234567  101 ",
		"ended incoming 103 Carla 0201234567  101 completed",
		"ringing unknown      ",
		"answered outgoing      ",
		"ended outgoing      elsewhere",
	}
	if len(got) != len(want) {
		t.Fatalf("%d events", len(got))
	}
	for i, e := range got {
		if s := fmt.Sprintf("%v %v %s %s %s %s %s %v", e.State, e.Direction, e.Number, e.Name, e.Line, e.Via, e.Extension, e.Reason); s != want[i] || e.At.Before(time.Unix(2, 0)) != (i == 0) {
			t.Errorf("%q at %v, want %q", s, e.At, want[i])
		}
	}
}

func TestCallsAreBounded(t *testing.T) {
	for many, most := range map[bool]int{false: maxCalls, true: maxManyCalls} {
		l := newLink(Config{Receive: func(call.Event) error { return nil }}, &script{traits: Traits{ManyExtensions: many}})
		for i := range most + 10 {
			l.rep.Report(call.Event{ID: fmt.Sprint(i)})
		}
		if len(l.rep.Calls()) != most {
			t.Errorf("%d calls remembered", len(l.rep.Calls()))
		}
	}
}

// TestUntakenIsLoggedOnce: events that are not accepted are
// logged once, until one is accepted again.
func TestUntakenIsLoggedOnce(t *testing.T) {
	var log strings.Builder
	var why error
	l := newLink(Config{Receive: func(call.Event) error { return why }, Log: slog.New(slog.NewTextHandler(&log, nil))}, &script{})
	for _, why = range []error{nil, io.EOF, io.EOF, nil, io.EOF, io.EOF} {
		l.rep.Report(call.Event{ID: "1"})
	}
	if n := strings.Count(log.String(), "was not taken"); n != 2 {
		t.Errorf("%d warnings", n)
	}
}

// TestLongIDsStayDifferent: ids that differ only after the
// length limit stay different, since callers can choose them.
func TestLongIDsStayDifferent(t *testing.T) {
	a, b := strings.Repeat("a", 200)+"1", strings.Repeat("a", 200)+"2"
	if CallID(a) == CallID(b) || len(CallID(a)) > call.MaxID {
		t.Errorf("%q and %q", CallID(a), CallID(b))
	}
	if CallID("x") != "x" || CallID("x\u202e") == CallID("x") {
		t.Error("an id that needs cleaning became another call's")
	}
}

// scripted is a phone whose session is a function.
type scripted struct {
	traits  Traits
	session func(context.Context, *Reporter) error
}

func (s scripted) Traits() Traits                                 { return s.traits }
func (s scripted) Session(ctx context.Context, r *Reporter) error { return s.session(ctx, r) }

// TestWake: after the computer has slept, a connection to
// another computer is renewed and a wait ends.
func TestWake(t *testing.T) {
	for _, off := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			wake := make(chan struct{}, 1)
			ctx, cancel := context.WithCancel(t.Context())
			sessions, began := 0, time.Now()
			Run(ctx, Config{Wake: wake, StateChanged: func(s State) {
				if s.Phase == Connected || s.Phase == Waiting {
					wake <- struct{}{}
				}
			}}, scripted{session: func(ctx context.Context, r *Reporter) error {
				if sessions++; sessions == 20 {
					cancel()
				}
				if off {
					return NotRunningError(errors.New("refused"))
				}
				r.Up()
				<-ctx.Done()
				return ctx.Err()
			}})
			if waited := time.Since(began); sessions != 20 || waited > 0 {
				t.Errorf("off: %v, %d sessions, waited %v", off, sessions, waited)
			}
		})
	}
}

// TestWakeIsNotKept: a wake-up during a session with a phone on this computer does
// not cut a later wait short: a link that stands back must not reconnect at once.
func TestWakeIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		sessions, retry := 0, time.Time{}
		Run(ctx, Config{Wake: wake, StateChanged: func(now State) { retry = now.Retry }}, scripted{Traits{Local: true}, func(ctx context.Context, r *Reporter) error {
			if time.Now().Before(retry) {
				t.Error("a wake was kept")
			}
			r.Up()
			select {
			case wake <- struct{}{}:
			case <-time.After(time.Minute):
				t.Error("nobody hears that the computer has slept")
				cancel()
			}
			if ctx.Err() != nil {
				t.Error("a session on this computer was ended")
			}
			if sessions++; sessions == 20 {
				cancel()
			}
			return ErrClosed
		}})
		if sessions != 20 {
			t.Errorf("%d sessions", sessions)
		}
	})
}

// TestCauses: each error has a cause, and each cause has a sentence about it and one on
// what to do, in both languages.
func TestCauses(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want Cause
	}{
		{nil, NoCause},
		{ErrReplaced, NoCause},
		{ErrClosed, NoCause},
		{errors.New("it broke"), NoCause},
		{NotRunningError(errors.New("refused")), CauseNotListening},
		{fmt.Errorf("read: %w", &Refusal{Why: "no", Cause: CauseDenied}), CauseDenied},
		{fmt.Errorf("dial: %w", &net.DNSError{Err: "no such host", IsNotFound: true}), CauseNotResolved},
		{fmt.Errorf("dial: %w", context.DeadlineExceeded), CauseSilent},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ETIMEDOUT)}, CauseSilent},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, NoCause},
		{x509.UnknownAuthorityError{}, CauseCertAuthority},
		{x509.HostnameError{Certificate: &x509.Certificate{}, Host: "x"}, CauseCertHost},
		{x509.CertificateInvalidError{Reason: x509.Expired}, CauseCertExpired},
		{x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign}, CauseTLS},
		{&tls.CertificateVerificationError{Err: x509.SystemRootsError{}}, CauseTLS},
		{fmt.Errorf("dial: %w", tls.RecordHeaderError{}), CauseTLS},
		{fmt.Errorf("dial: %w", http.ErrSchemeMismatch), CauseTLS},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, CauseNotListening},
	} {
		if got := CauseOf(tt.err); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.err, got, tt.want)
		}
	}
	for _, c := range Causes() {
		for _, l := range []text.Language{text.Dutch, text.English} {
			for _, k := range []text.Key{text.LinkWhy(string(c)), text.LinkDo(string(c))} {
				if l.T(k) == string(k) {
					t.Errorf("%s in %s is missing", k, l)
				}
			}
		}
	}
	if text.LinkTrouble(text.Dutch, "unheard of") != "" || text.LinkTrouble(text.Dutch, "") != "" {
		t.Error("words for a cause that is none")
	}
}

// TestStateTellsWhy: every state of a link that is not connected has its cause. A
// new cause is reported even within the same phase, but logged only once. A link
// dropped after the computer slept does not count as connected until it is again.
func TestStateTellsWhy(t *testing.T) {
	var states []State
	var log strings.Builder
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{}, 1)
		ctx, cancel := context.WithCancel(t.Context())
		errs := []error{&Refusal{Why: "no", Cause: CauseDenied}, &Refusal{Why: "no", Cause: CauseRights}, &Refusal{Why: "no", Cause: CauseRights}}
		p := scripted{session: func(ctx context.Context, r *Reporter) error {
			if len(errs) > 0 {
				err := errs[0]
				errs = errs[1:]
				return err
			}
			if states[len(states)-1].Phase == Connecting { // reconnecting after the sleep
				cancel()
				return ctx.Err()
			}
			r.Up()
			wake <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}}
		Run(ctx, Config{Wake: wake, StateChanged: func(s State) { states = append(states, s) }, Log: slog.New(slog.NewTextHandler(&log, nil))}, p)
	})
	want := []State{{Phase: Connecting}, {Phase: Refused, Cause: CauseDenied}, {Phase: Refused, Cause: CauseRights}, {Phase: Refused, Cause: CauseRights}, {Phase: Connected}, {Phase: Connecting}}
	if len(states) != len(want) {
		t.Fatalf("%+v", states)
	}
	for i, s := range states {
		if s.Phase != want[i].Phase || s.Cause != want[i].Cause {
			t.Errorf("state %d is %s %q, want %s %q", i, s.Phase, s.Cause, want[i].Phase, want[i].Cause)
		}
	}
	if states[3].Since != states[1].Since || strings.Count(log.String(), "why=denied") != 1 || strings.Count(log.String(), "why=rights") != 1 {
		t.Errorf("refused since %v and %v\n%s", states[1].Since, states[3].Since, log.String())
	}
}

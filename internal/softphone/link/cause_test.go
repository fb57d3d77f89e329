package link

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"wiebelt/internal/text"
)

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
		{NotThere(errors.New("refused")), CauseNobody},
		{fmt.Errorf("read: %w", &Refusal{Why: "no", Cause: CauseDenied}), CauseDenied},
		{fmt.Errorf("dial: %w", &net.DNSError{Err: "no such host", IsNotFound: true}), CauseName},
		{fmt.Errorf("dial: %w", context.DeadlineExceeded), CauseSilent},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ETIMEDOUT)}, CauseSilent},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, NoCause},
		{x509.UnknownAuthorityError{}, CauseAuthority},
		{x509.HostnameError{Certificate: &x509.Certificate{}, Host: "x"}, CauseHost},
		{x509.CertificateInvalidError{Reason: x509.Expired}, CauseExpired},
		{x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign}, CauseTLS},
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
		p := phoneFunc(func(ctx context.Context, r *Reporter) error {
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
		})
		Run(ctx, Config{Wake: wake, State: func(s State) { states = append(states, s) }, Log: slog.New(slog.NewTextHandler(&log, nil))}, p)
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

type phoneFunc func(context.Context, *Reporter) error

func (phoneFunc) Traits() Traits { return Traits{} }

func (f phoneFunc) Session(ctx context.Context, r *Reporter) error { return f(ctx, r) }

package doctor

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/hub"
)

const (
	reachTimeout    = 4 * time.Second // part of hubTimeout; the rest is for the tokens
	clockWarn       = time.Minute
	clockFail       = 5 * time.Minute // from here on servers may refuse
	certificateDays = 30              // days before a certificate's end
)

// hubState is the result of one visit to the hub, shared by all checks of the hub.
type hubState struct {
	notSetUp      bool // not set up
	reached       hub.ProbeResult
	reachErr      error // before any token was requested
	noSecret      bool
	tokenLifetime time.Duration
	tokenErr      error // with the secret that has worked before
	secretWaits   bool  // a new secret waits beside it
	newTokenErr   error // with the new one
	deliveryErr   error
	lookedUp      bool // a number was to be looked up, and there was a token for it
	contactCount  int
	lookupTime    time.Duration
	lookupErr     error
}

// probeHub contacts the hub like a lookup does.
func (e *exam) probeHub(ctx context.Context) hubState {
	if len(e.Settings.Hub.Missing()) > 0 {
		return hubState{notSetUp: true}
	}
	with := func(pick func(storedSecret) string) (*hub.Client, error) {
		return hubtrial.NewClient(e.Dirs, e.Settings.Hub, func(ctx context.Context) (string, error) { // the store is asked once, here and there
			k, in := e.fromStore.wait(ctx, secretTimeout)
			if !in {
				return "", secret.ErrLocked
			}
			return pick(k), k.err
		}, nil)
	}
	c, err := with(func(k storedSecret) string { return k.value })
	if err != nil {
		return hubState{notSetUp: true}
	}
	defer c.Close()
	var j hubState
	near, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	if j.reached, j.reachErr = c.Probe(near); j.reachErr != nil {
		return j
	}
	k, in := e.fromStore.wait(ctx, secretTimeout)
	if !in || k.err != nil || k.value == "" {
		j.noSecret = true
		return j
	}
	j.tokenLifetime, j.tokenErr = c.Check(ctx)
	if j.secretWaits = k.next != ""; j.secretWaits {
		newer, err := with(func(k storedSecret) string { return k.next })
		if err != nil {
			return hubState{notSetUp: true}
		}
		defer newer.Close()
		var life time.Duration
		if life, j.newTokenErr = newer.Check(ctx); j.newTokenErr == nil { // lookups use it first
			c, j.tokenLifetime = newer, life
		}
	}
	if !j.hasToken() {
		return j
	}
	if e.Settings.Hub.Intermediary != "" {
		j.deliveryErr = c.CheckDeliveryToken(ctx)
	}
	if e.Number != "" {
		j.lookedUp = true
		found, took, err := hubtrial.LookUp(ctx, c, e.Settings, e.Number)
		j.contactCount, j.lookupTime, j.lookupErr = len(found), took, err
	}
	return j
}

func (j hubState) hasToken() bool { return j.tokenErr == nil || j.secretWaits && j.newTokenErr == nil }

// The steps on the way to the hub, in order.
const (
	stepName = iota
	stepConnection
	stepCertificate
	stepClock
	stepPassed
)

func (j hubState) step() int {
	if j.reachErr == nil {
		return stepPassed
	}
	switch f := contact.FailureOf(j.reachErr); {
	case f == contact.ClockWrong:
		return stepClock
	case slices.Contains([]contact.Failure{contact.TLSFailed, contact.CertificateUnknown, contact.CertificateExpired, contact.CertificateMismatch}, f):
		return stepCertificate
	case f == contact.NameNotResolved, !j.reached.Resolved && !j.reached.Proxy:
		return stepName
	}
	return stepConnection
}

// atStep is the check of one step: it reports a failure at this step or before; otherwise
// it reports what passed returns.
func atStep(step int, passed func(*exam, hubState) []finding) func(*exam, context.Context) []finding {
	return ifRead(func(e *exam, ctx context.Context) []finding {
		j, in := e.fromHub.wait(ctx, hubTimeout)
		if !in {
			return []finding{timedOut(hubTimeout)}
		}
		switch end := j.step(); {
		case j.notSetUp:
			return oneFinding(Off, "hub.off")
		case j.reachErr != nil && step == end:
			return failureFinding(Fail, "hub.failed", j.reachErr)
		case j.reachErr != nil && (step > end || step == stepCertificate && end == stepClock):
			return oneFinding(Off, "hub.before")
		}
		return passed(e, j)
	})
}

func (e *exam) hubName(j hubState) []finding {
	switch {
	case j.reached.Proxy && j.step() == stepConnection:
		return oneFinding(Off, "hub.name.behind")
	case j.reached.TestHub:
		return oneFinding(OK, "hub.name.test")
	case j.reached.Proxy:
		return oneFinding(OK, "hub.name.proxy")
	}
	return oneFinding(OK, "hub.name.ok")
}

func (e *exam) hubConnection(j hubState) []finding {
	if j.reached.Proxy {
		return oneFinding(OK, "hub.connection.proxy")
	}
	return oneFinding(OK, "hub.connection.ok")
}

func (e *exam) hubCertificate(j hubState) []finding {
	if j.reached.TestHub {
		return oneFinding(OK, "hub.certificate.test")
	}
	days := int(j.reached.Expires.Sub(e.now).Hours() / 24)
	if days < certificateDays {
		return countFinding(Warn, "hub.certificate.soon", days)
	}
	return countFinding(OK, "hub.certificate.ok", days)
}

func (e *exam) hubClock(j hubState) []finding {
	state := OK
	switch by := j.reached.ClockAhead.Abs(); {
	case !j.reached.HasDate:
		return oneFinding(Off, "hub.clock.untold")
	case by >= clockFail:
		state = Fail
	case by >= clockWarn:
		state = Warn
	default:
		return oneFinding(OK, "hub.clock.ok")
	}
	if j.reached.ClockAhead > 0 {
		return oneFinding(state, "hub.clock.ahead", int(j.reached.ClockAhead.Seconds()))
	}
	return oneFinding(state, "hub.clock.behind", int(-j.reached.ClockAhead.Seconds()))
}

func (e *exam) hubToken(j hubState) []finding {
	switch {
	case j.noSecret:
		return oneFinding(Off, "hub.token.secret")
	case !j.hasToken():
		lines := failureFinding(Fail, "hub.token.failed", j.tokenErr)
		if j.secretWaits {
			lines = append(lines, failureFinding(Fail, "hub.token.next.failed", j.newTokenErr)...)
		}
		return lines
	}
	lines := oneFinding(OK, "hub.token.ok", int(math.Ceil(j.tokenLifetime.Minutes())))
	switch {
	case j.secretWaits && j.newTokenErr == nil && e.Settings.Hub.SecretStore == secret.KindMachine: // users cannot replace it
		lines = append(lines, oneFinding(OK, "hub.token.machine")...)
	case j.secretWaits && j.tokenErr == nil && j.newTokenErr == nil:
		lines = append(lines, oneFinding(OK, "hub.token.both")...)
	case j.secretWaits && j.newTokenErr == nil:
		lines = append(lines, oneFinding(OK, "hub.token.next")...)
	case j.secretWaits && contact.FailureOf(j.newTokenErr) == contact.CredentialsRefused:
		lines = append(lines, oneFinding(OK, "hub.token.old")...)
	case j.secretWaits:
		lines = append(lines, failureFinding(Warn, "hub.token.next.failed", j.newTokenErr)...)
	}
	if j.deliveryErr != nil {
		lines = append(lines, failureFinding(Fail, "hub.token.delivery", j.deliveryErr)...)
	}
	return lines
}

func (e *exam) hubLookup(ctx context.Context) []finding {
	if e.Number == "" {
		return oneFinding(Off, "hub.lookup.off")
	}
	return atStep(stepPassed, (*exam).lookupFindings)(e, ctx)
}

func (e *exam) lookupFindings(j hubState) []finding {
	switch {
	case errors.Is(j.lookupErr, hubtrial.ErrNumber):
		return oneFinding(Fail, "hub.lookup.bad")
	case !j.lookedUp:
		return oneFinding(Off, "hub.before")
	case j.lookupErr != nil:
		return failureFinding(Fail, "hub.lookup.failed", j.lookupErr)
	}
	return oneFinding(OK, "hub.lookup.ok", j.contactCount, int(j.lookupTime.Milliseconds()))
}

package doctor

import (
	"context"
	"math"
	"slices"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/hub"
)

// Limits of the checks of the hub.
const (
	reachIn     = 4 * time.Second // part of hubIn; the rest is for the tokens
	clockWarn   = time.Minute
	clockFail   = 5 * time.Minute // from here on servers may refuse
	certificate = 30              // days before a certificate's end
)

// hubState is the result of one visit to the hub, shared by all checks of the hub.
type hubState struct {
	notSetUp      bool // not set up
	reached       hub.Reached
	failed        error // before any token was requested
	noSecret      bool
	life          time.Duration
	token         error // with the secret that has worked before
	secretWaits   bool  // a new secret waits beside it
	newer         error // with the new one
	delivery      error
	asked         bool // a number was looked up
	neverLookedUp bool // such a number is not looked up
	found         int
	took          time.Duration
	lookup        error
}

// probeHub contacts the hub like a lookup does.
func (e *exam) probeHub(ctx context.Context) hubState {
	if len(e.Settings.Hub.Missing()) > 0 {
		return hubState{notSetUp: true}
	}
	cfg, err := fromsettings.Hub(e.Dirs, e.Settings.Hub)
	if err != nil && cfg.BaseURL == "" {
		return hubState{notSetUp: true}
	}
	with := func(pick func(storedSecret) string) (*hub.Client, error) {
		cfg.SecretAnswered = nil                                 // this trial changes nothing
		cfg.Secret = func(ctx context.Context) (string, error) { // the store is asked once, here and there
			k, in := e.fromStore.wait(ctx, secretIn)
			if !in {
				return "", secret.ErrLocked
			}
			return pick(k), k.err
		}
		return hub.New(cfg)
	}
	c, err := with(func(k storedSecret) string { return k.value })
	if err != nil {
		return hubState{notSetUp: true}
	}
	defer c.Close()
	var j hubState
	near, cancel := context.WithTimeout(ctx, reachIn)
	defer cancel()
	if j.reached, j.failed = c.Reach(near); j.failed != nil {
		return j
	}
	k, in := e.fromStore.wait(ctx, secretIn)
	if !in || k.err != nil || k.value == "" {
		j.noSecret = true
		return j
	}
	j.life, j.token = c.Check(ctx)
	if j.secretWaits = k.next != ""; j.secretWaits {
		newer, err := with(func(k storedSecret) string { return k.next })
		if err != nil {
			return hubState{notSetUp: true}
		}
		defer newer.Close()
		var life time.Duration
		if life, j.newer = newer.Check(ctx); j.newer == nil { // lookups use it first
			c, j.life = newer, life
		}
	}
	if !j.served() {
		return j
	}
	if e.Settings.Hub.Intermediary != "" {
		j.delivery = c.CheckDelivery(ctx)
	}
	if e.Number != "" {
		e.lookOneUp(ctx, c, &j)
	}
	return j
}

// served reports whether lookups get a token.
func (j hubState) served() bool { return j.token == nil || j.secretWaits && j.newer == nil }

func (e *exam) lookOneUp(ctx context.Context, c *hub.Client, j *hubState) {
	rules, err := fromsettings.NumberRules(e.Settings)
	if err != nil {
		j.neverLookedUp = true
		return
	}
	n := rules.Parse(e.Number, "")
	if !n.Lookup() {
		j.neverLookedUp = true
		return
	}
	began := time.Now()
	found, err := c.Lookup(ctx, n.Query())
	j.asked, j.found, j.took, j.lookup = true, len(found), time.Since(began), err
}

// The steps on the way to the hub, in order.
const (
	atName = iota
	atConnection
	atCertificate
	atClock
	beyond
)

// step returns the step that failed.
func (j hubState) step() int {
	if j.failed == nil {
		return beyond
	}
	switch f := contact.FailureOf(j.failed); {
	case f == contact.ClockWrong:
		return atClock
	case slices.Contains([]contact.Failure{contact.TLSFailed, contact.CertificateUnknown, contact.CertificateExpired, contact.CertificateName}, f):
		return atCertificate
	case f == contact.NameNotResolved, !j.reached.Resolved && !j.reached.Proxy:
		return atName
	}
	return atConnection
}

// atStep is the check of one step: it reports a failure at this step or before; otherwise
// it reports what passed returns.
func atStep(step int, passed func(*exam, hubState) []finding) func(*exam, context.Context) []finding {
	return func(e *exam, ctx context.Context) []finding {
		j, in := e.fromHub.wait(ctx, hubIn)
		if !in {
			return []finding{timedOut(hubIn)}
		}
		switch end := j.step(); {
		case j.notSetUp:
			return say(Off, "hub.off")
		case j.failed != nil && step == end:
			return sayWhy(Fail, "hub.failed", j.failed)
		case j.failed != nil && (step > end || step == atCertificate && end == atClock):
			return say(Off, "hub.before")
		}
		return passed(e, j)
	}
}

func (e *exam) hubName(j hubState) []finding {
	switch {
	case j.reached.Proxy && j.step() == atConnection:
		return say(Off, "hub.name.behind")
	case j.reached.TestHub:
		return say(OK, "hub.name.test")
	case j.reached.Proxy:
		return say(OK, "hub.name.proxy")
	}
	return say(OK, "hub.name.ok")
}

func (e *exam) hubConnection(j hubState) []finding {
	if j.reached.Proxy {
		return say(OK, "hub.connection.proxy")
	}
	return say(OK, "hub.connection.ok")
}

func (e *exam) hubCertificate(j hubState) []finding {
	if j.reached.TestHub {
		return say(OK, "hub.certificate.test")
	}
	days := int(j.reached.Expires.Sub(e.now).Hours() / 24)
	if days < certificate {
		return sayN(Warn, "hub.certificate.soon", days)
	}
	return sayN(OK, "hub.certificate.ok", days)
}

func (e *exam) hubClock(j hubState) []finding {
	state := OK
	switch by := j.reached.Ahead.Abs(); {
	case !j.reached.Dated:
		return say(Off, "hub.clock.untold")
	case by >= clockFail:
		state = Fail
	case by >= clockWarn:
		state = Warn
	default:
		return say(OK, "hub.clock.ok")
	}
	if j.reached.Ahead > 0 {
		return say(state, "hub.clock.ahead", int(j.reached.Ahead.Seconds()))
	}
	return say(state, "hub.clock.behind", int(-j.reached.Ahead.Seconds()))
}

func (e *exam) hubToken(j hubState) []finding {
	switch {
	case j.noSecret:
		return say(Off, "hub.token.secret")
	case !j.served():
		lines := sayWhy(Fail, "hub.token.failed", j.token)
		if j.secretWaits {
			lines = append(lines, sayWhy(Fail, "hub.token.next.failed", j.newer)...)
		}
		return lines
	}
	lines := say(OK, "hub.token.ok", int(math.Ceil(j.life.Minutes())))
	switch {
	case j.secretWaits && j.newer == nil && e.Settings.Hub.SecretStore == secret.KindMachine: // users cannot replace it
		lines = append(lines, say(OK, "hub.token.machine")...)
	case j.secretWaits && j.token == nil && j.newer == nil:
		lines = append(lines, say(OK, "hub.token.both")...)
	case j.secretWaits && j.newer == nil:
		lines = append(lines, say(OK, "hub.token.next")...)
	case j.secretWaits && contact.FailureOf(j.newer) == contact.CredentialsRefused:
		lines = append(lines, say(OK, "hub.token.old")...)
	case j.secretWaits:
		lines = append(lines, sayWhy(Warn, "hub.token.next.failed", j.newer)...)
	}
	if j.delivery != nil {
		lines = append(lines, sayWhy(Fail, "hub.token.delivery", j.delivery)...)
	}
	return lines
}

func (e *exam) hubLookup(ctx context.Context) []finding {
	if e.Number == "" {
		return say(Off, "hub.lookup.off")
	}
	return atStep(beyond, (*exam).lookedUp)(e, ctx)
}

func (e *exam) lookedUp(j hubState) []finding {
	switch {
	case j.neverLookedUp:
		return say(Fail, "hub.lookup.bad")
	case !j.asked:
		return say(Off, "hub.before")
	case j.lookup != nil:
		return sayWhy(Fail, "hub.lookup.failed", j.lookup)
	}
	return say(OK, "hub.lookup.ok", j.found, int(j.took.Milliseconds()))
}

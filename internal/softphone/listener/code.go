package listener

import (
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// code is why something was refused. WebSocket and HTTP use the same codes.
type code string

const (
	none          code = ""
	badRequest    code = "bad_request"
	badNumber     code = "bad_number"
	badState      code = "bad_state"
	unfilledMacro code = "unfilled_macro"
	badToken      code = "bad_token"
	badOrigin     code = "bad_origin"
	badMethod     code = "bad_method"
	notFound      code = "not_found"
	tooLarge      code = "too_large"
	wrongHost     code = "wrong_host"
	slowDown      code = "slow_down"
	stopping      code = "stopping"
)

// codeDetails gives every code its HTTP status and a sentence for whoever sets up a
// phone. The sentences are fixed: they never contain what was sent.
var codeDetails = map[code]struct {
	status  int
	message string
}{
	badRequest:    {http.StatusBadRequest, "the request is not of the documented form"},
	badNumber:     {http.StatusBadRequest, "number is not a telephone number or SIP address"},
	badState:      {http.StatusBadRequest, "state is ringing, answered or ended"},
	unfilledMacro: {http.StatusBadRequest, "the phone did not fill in its placeholder for the number"},
	badToken:      {http.StatusUnauthorized, "the token is missing or wrong"},
	badOrigin:     {http.StatusForbidden, "web pages may not report calls"},
	badMethod:     {http.StatusMethodNotAllowed, "use GET or POST"},
	notFound:      {http.StatusNotFound, "there is nothing here"},
	tooLarge:      {http.StatusRequestEntityTooLarge, "the request is too large"},
	wrongHost:     {http.StatusMisdirectedRequest, "the Host header is not this computer's loopback address and port"},
	slowDown:      {http.StatusTooManyRequests, "too many at once"},
	stopping:      {http.StatusServiceUnavailable, "the program is stopping"},
}

// refusalLog logs refusals, at most one line a minute per code, so that nobody can fill the
// disk with refused requests. It is safe for concurrent use.
type refusalLog struct {
	log *slog.Logger
	now func() time.Time

	mu   sync.Mutex // protects seen
	seen map[code]refusalCount
}

type refusalCount struct {
	last  time.Time
	count int // since last
}

func (l *refusalLog) note(c code) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil {
		l.seen = map[code]refusalCount{}
	}
	r := l.seen[c]
	r.count++
	if now := l.now(); now.Sub(r.last) >= time.Minute {
		l.log.Warn("call report refused", "code", string(c), "times", r.count)
		r = refusalCount{last: now}
	}
	l.seen[c] = r
}

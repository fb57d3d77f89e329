package outbox

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/hub"
)

var (
	errMissing = errors.New("the copy is gone")
	errDamaged = errors.New("the copy is not what was taken")
)

// class is how a request ended, as named in receipts.
type class string

const (
	safe      class = "safe"      // the hub does not have all of it: sent again
	done      class = "done"      // delivered
	unknown   class = "unknown"   // all was sent, outcome unknown
	permanent class = "permanent" // this item is unacceptable
	hold      class = "hold"      // no item is acceptable until an administrator acts
	conflict  class = "conflict"  // the hub may already have it
	later     class = "later"     // the hub asks to retry later
	odd       class = "odd"       // anything else
	local     class = "local"     // our copy is gone or damaged
	unread    class = "unread"    // our copy is currently unreadable
	split     class = "split"     // a request of several was refused: each is sent alone
	cut       class = "cut"       // we aborted the request
)

// outcome is the result of a request for one of its items.
type outcome struct {
	class  class
	reason Reason
	status int
	after  time.Duration // the delay the hub asks for
}

// classify returns what the end of a request means for one of its items. whole means that
// the client was given all of the item, ended that we aborted the request ourselves.
func classify(r hub.Receipt, err error, whole, ended bool) outcome {
	switch {
	case errors.Is(err, errMissing):
		return outcome{class: local, reason: CopyMissing}
	case errors.Is(err, errDamaged):
		return outcome{class: local, reason: CopyDamaged}
	case err != nil && ended: // before ErrItem, since aborting at a file's last byte yields one
		return outcome{class: cut}
	case errors.Is(err, hub.ErrItem):
		return outcome{class: unread, reason: CopyUnread}
	case err != nil:
		if why := holdReason(contact.FailureOf(err)); why != "" {
			return outcome{class: hold, reason: why}
		}
		return outcome{class: safe, reason: Unreachable}
	case r.Status == 0 && !whole && ended:
		return outcome{class: cut}
	case r.Status == 0 && !whole:
		// The hub cannot have what was not sent.
		return outcome{class: safe, reason: Unreachable, after: r.RetryAfter}
	case r.Status == 0:
		return outcome{class: unknown, reason: NoAnswer}
	}
	o := outcome{status: r.Status, after: r.RetryAfter}
	o.class, o.reason = classOfStatus(r.Status)
	switch {
	case o.class != done:
	case r.Broken:
		o.class, o.reason = unknown, NoAnswer
	case r.Page || r.Early || !plausibleAnswer(r.Status, r.Answer, r.Cut):
		o.class, o.reason = unknown, NotAnAnswer
	}
	return o
}

// classOfStatus returns the class of a status. The hub documents none.
func classOfStatus(s int) (class, Reason) {
	switch s {
	case 400, 404, 405, 410, 411, 413, 414, 415, 422, 431, 501:
		return permanent, ByHub
	case http.StatusUnauthorized: // the token was already renewed
		return hold, CredentialsOff
	case http.StatusForbidden:
		return hold, Forbidden
	case http.StatusProxyAuthRequired:
		return hold, ProxyLogin
	case http.StatusConflict, http.StatusPreconditionFailed:
		return conflict, Conflict
	case http.StatusRequestTimeout, http.StatusMisdirectedRequest, http.StatusTooEarly, http.StatusTooManyRequests:
		return later, Busy
	}
	switch {
	case s >= 200 && s < 300:
		return done, NoReason
	case s >= 300 && s < 400:
		return hold, Redirected
	case s >= 500 && s < 600:
		return later, Busy
	}
	return odd, Odd
}

// holdReason returns the reason to hold the queue after a failure before the request; "" for none.
func holdReason(f contact.Failure) Reason {
	switch f {
	case contact.CredentialsRefused:
		return CredentialsOff
	case contact.ScopeRefused:
		return Forbidden
	case contact.ProxyLogin:
		return ProxyLogin
	case contact.CertificateUnknown, contact.CertificateExpired, contact.CertificateName, contact.ClockWrong:
		return Certificate
	case contact.NotSetUp, contact.SecretNoRight:
		return NotSetUp
	}
	return ""
}

// ofPages are tags found in web pages, including captive portals, but not
// in answers of a hub.
var ofPages = []string{"<!doctype html", "<html", "<head", "<body", "<title", "<meta", "<script", "<form", "<noscript"}

// plausibleAnswer reports whether the body of a successful response can
// be the hub's answer: it is not empty unless the status says so, not a
// web page, and not truncated JSON unless we truncated it ourselves.
func plausibleAnswer(status int, body string, cut bool) bool {
	if body == "" {
		return status == http.StatusNoContent || status == http.StatusResetContent
	}
	switch body[0] {
	case '<':
		page := strings.ToLower(body)
		return !slices.ContainsFunc(ofPages, func(tag string) bool { return strings.Contains(page, tag) })
	case '{', '[':
		return cut || json.Valid([]byte(body))
	}
	return true
}

// itemStatuses returns the statuses of a request's items if the answer
// has one for every item, else nil. unclear means that the answer is
// about items but leaves open which ones, or is too long to tell.
func itemStatuses(r hub.Receipt, items int) (all []int, unclear bool) {
	if r.Status >= 300 {
		return nil, false
	}
	if r.Unread {
		return nil, items > 1
	}
	named, bad := 0, false
	for _, s := range r.Items {
		if s != 0 {
			named++
			bad = bad || s >= 300
		}
	}
	if len(r.Items) == items && named == items {
		return r.Items, false
	}
	return nil, bad
}

// classifyAll is classify for every item of a request.
func classifyAll(r hub.Receipt, err error, whole []bool, ended bool) []outcome {
	all := make([]outcome, len(whole))
	per, unclear := itemStatuses(r, len(whole))
	for i := range all {
		one := r
		if per != nil {
			one.Status = per[i]
		}
		all[i] = classify(one, err, whole[i], ended)
		c := all[i].class
		if unclear && c == done {
			all[i].class, all[i].reason = unknown, Unclear
		}
		if per != nil && c == hold {
			// The hub accepted the request but not this item, so the queue is unaffected.
			all[i].class, all[i].reason = permanent, ByHub
		}
		if len(all) > 1 && per == nil && (c == permanent || c == local || c == unread || c == conflict || c == odd) {
			all[i].class, all[i].reason = split, Separately
		}
	}
	return all
}

// isMissing distinguishes a missing copy from a failing disk.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

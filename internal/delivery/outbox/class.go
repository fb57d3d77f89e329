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

// class is a kind of ending of a request, as receipts name it.
type class string

const (
	safe      class = "safe"      // the hub has not the whole: sent again
	done      class = "done"      // delivered
	unknown   class = "unknown"   // all was sent, and nobody knows
	permanent class = "permanent" // this item will not do
	hold      class = "hold"      // no item will do until an administrator acts
	conflict  class = "conflict"  // maybe the hub has it already
	later     class = "later"     // the hub says: later
	odd       class = "odd"       // anything else
	local     class = "local"     // our copy is gone or damaged
	unread    class = "unread"    // our copy cannot be read now
	split     class = "split"     // a request of several was refused: each is sent alone
	cut       class = "cut"       // we ended the request ourselves
)

// outcome is what came of a request for one of its items.
type outcome struct {
	class  class
	reason Reason
	status int
	after  time.Duration // the hub asks for so much time
}

// classify tells what an ended request means for one of its items, of which all
// was handed over if whole; ended tells that we ended the request ourselves.
func classify(r hub.Receipt, err error, whole, ended bool) outcome {
	switch {
	case errors.Is(err, errMissing):
		return outcome{class: local, reason: CopyMissing}
	case errors.Is(err, errDamaged):
		return outcome{class: local, reason: CopyDamaged}
	case err != nil && ended: // before ErrItem: what we end at a file's last byte is one
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
		// What was not handed over, the hub cannot have.
		return outcome{class: safe, reason: Unreachable, after: r.RetryAfter}
	case r.Status == 0:
		return outcome{class: unknown, reason: NoAnswer}
	}
	o := outcome{status: r.Status, after: r.RetryAfter}
	o.class, o.reason = ofStatus(r.Status)
	switch {
	case o.class != done:
	case r.Broken:
		o.class, o.reason = unknown, NoAnswer
	case r.Page || r.Early || !answers(r.Status, r.Answer, r.Cut):
		o.class, o.reason = unknown, NotAnAnswer
	}
	return o
}

// ofStatus is the class of a status. The hub documents none.
func ofStatus(s int) (class, Reason) {
	switch s {
	case 400, 404, 405, 410, 411, 413, 414, 415, 422, 431, 501:
		return permanent, ByHub
	case http.StatusUnauthorized: // the token was renewed already
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

// holdReason is why a failure before the request stops the queue; "" if it does
// not.
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

// ofPages is what web pages have in them, those of captive portals too, and
// answers of a hub have not.
var ofPages = []string{"<!doctype html", "<html", "<head", "<body", "<title", "<meta", "<script", "<form", "<noscript"}

// answers reports whether what came with a success can be an answer of the hub:
// not nothing, unless the status says that there is nothing, no web page, and no
// half JSON, unless we cut it ourselves.
func answers(status int, body string, cut bool) bool {
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

// each gives the statuses of the items of a request where its answer names one
// for every item; nil if it does not. unclear is an answer that speaks of items
// and leaves open of which, or that is too long to know.
func each(r hub.Receipt, items int) (all []int, unclear bool) {
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

// judge is classify for every item of a request.
func judge(r hub.Receipt, err error, whole []bool, ended bool) []outcome {
	all := make([]outcome, len(whole))
	per, unclear := each(r, len(whole))
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
			// The hub took the request and refuses this item: no matter of the queue.
			all[i].class, all[i].reason = permanent, ByHub
		}
		if len(all) > 1 && per == nil && (c == permanent || c == local || c == unread || c == conflict || c == odd) {
			all[i].class, all[i].reason = split, Separately
		}
	}
	return all
}

// isMissing tells a copy that is gone from a disk that fails.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

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
	classUnsent         class = "safe"      // the hub does not have all of it: sent again
	classDelivered      class = "done"      // delivered
	classUnknown        class = "unknown"   // all was sent, outcome unknown
	classPermanent      class = "permanent" // this item is unacceptable
	classHold           class = "hold"      // no item is acceptable until an administrator acts
	classConflict       class = "conflict"  // the hub may already have it
	classRetryLater     class = "later"     // the hub asks to retry later
	classOddStatus      class = "odd"       // anything else
	classCopyLost       class = "local"     // our copy is gone or damaged
	classCopyUnreadable class = "unread"    // our copy is currently unreadable
	classSplit          class = "split"     // a request of several was refused: each is sent alone
	classAborted        class = "cut"       // we aborted the request
)

// outcome is the result of a request for one of its items.
type outcome struct {
	class      class
	reason     Reason
	status     int
	retryAfter time.Duration // the delay the hub asks for
	mayHave    bool          // the hub may have it, although it reports an error
}

// classify returns what the end of a request means for one of its items. whole means that
// the client was given all of the item, ended that we aborted the request ourselves.
func classify(r hub.Receipt, err error, whole, ended bool) outcome {
	switch {
	case errors.Is(err, errMissing):
		return outcome{class: classCopyLost, reason: CopyMissing}
	case errors.Is(err, errDamaged):
		return outcome{class: classCopyLost, reason: CopyDamaged}
	case err != nil && ended: // before ErrItem, since aborting at a file's last byte yields one
		return outcome{class: classAborted}
	case errors.Is(err, hub.ErrItem):
		return outcome{class: classCopyUnreadable, reason: CopyUnreadable}
	case err != nil:
		if why := holdReason(contact.FailureOf(err)); why != "" {
			return outcome{class: classHold, reason: why}
		}
		return outcome{class: classUnsent, reason: Unreachable}
	case r.Status == 0 && !whole && ended:
		return outcome{class: classAborted}
	case r.Status == 0 && !whole:
		// The hub cannot have what was not sent.
		return outcome{class: classUnsent, reason: Unreachable, retryAfter: r.RetryAfter}
	case r.Status == 0:
		return outcome{class: classUnknown, reason: NoAnswer}
	}
	return classifyAnswer(r, whole && !r.Early)
}

// classifyAnswer is classify for an answer.
func classifyAnswer(r hub.Receipt, whole bool) outcome {
	o := outcome{status: r.Status, retryAfter: r.RetryAfter}
	o.class, o.reason = classOfStatus(r.Status)
	switch {
	case r.Status == http.StatusGatewayTimeout && whole: // from a gateway whose hub did not answer
		// In an outage each item sent becomes uncertain: there are to be few.
		o.class, o.reason, o.retryAfter = classUnknown, NoAnswer, max(o.retryAfter, probeAfter)
	case o.class == classRetryLater:
		// A hub that is busy or full says that it did not take the item.
		o.mayHave = whole && r.Status >= 500 && r.Status != http.StatusServiceUnavailable && r.Status != http.StatusInsufficientStorage
	case o.class != classDelivered:
	case r.Broken:
		o.class, o.reason = classUnknown, NoAnswer
	case r.WebPage || r.Early || !plausibleAnswer(r):
		o.class, o.reason = classUnknown, NotAnAnswer
	case r.NamesError:
		o.class, o.reason = classUnknown, ErrorNamed
	}
	return o
}

// classOfStatus returns the class of a status. The hub documents none.
func classOfStatus(s int) (class, Reason) {
	switch s {
	case 400, 404, 405, 410, 411, 413, 414, 415, 422, 431, 501:
		return classPermanent, RefusedByHub
	case http.StatusUnauthorized: // the token was already renewed
		return classHold, CredentialsRefused
	case http.StatusForbidden:
		return classHold, Forbidden
	case http.StatusProxyAuthRequired:
		return classHold, ProxyLogin
	case http.StatusConflict, http.StatusPreconditionFailed:
		return classConflict, Conflict
	case http.StatusRequestTimeout, http.StatusMisdirectedRequest, http.StatusTooEarly, http.StatusTooManyRequests:
		return classRetryLater, RetryLater
	}
	switch {
	case s >= 200 && s < 300:
		return classDelivered, NoReason
	case s >= 300 && s < 400:
		return classHold, Redirected
	case s >= 500 && s < 600:
		return classRetryLater, RetryLater
	}
	return classOddStatus, OddStatus
}

// holdReason returns the reason to hold the queue after a failure before the request; "" for none.
func holdReason(f contact.Failure) Reason {
	switch f {
	case contact.CredentialsRefused:
		return CredentialsRefused
	case contact.ScopeRefused:
		return Forbidden
	case contact.ProxyLogin:
		return ProxyLogin
	case contact.CertificateUnknown, contact.CertificateExpired, contact.CertificateMismatch, contact.ClockWrong:
		return Certificate
	case contact.NotSetUp, contact.SecretNotForUser, contact.SecretUnreadable:
		return NotSetUp
	}
	return ""
}

// pageTags are tags found in web pages, including captive portals, but not
// in answers of a hub.
var pageTags = []string{"<!doctype html", "<html", "<head", "<body", "<title", "<meta", "<script", "<form", "<noscript"}

// plausibleAnswer reports whether the body of a successful response can
// be the hub's answer: it is not empty unless the status or the answer itself says
// so, not a web page, and not truncated JSON unless we truncated it ourselves.
func plausibleAnswer(r hub.Receipt) bool {
	if r.Answer == "" {
		return r.Empty || slices.Contains([]int{201, 202, 204, 205}, r.Status)
	}
	switch r.Answer[0] {
	case '<':
		page := strings.ToLower(r.Answer)
		return !slices.ContainsFunc(pageTags, func(tag string) bool { return strings.Contains(page, tag) })
	case '{', '[':
		return r.Truncated || json.Valid([]byte(r.Answer))
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
	if r.AnswerTooLong {
		return nil, items > 1
	}
	named, bad := 0, false
	for _, s := range r.ItemStatuses {
		if s != 0 {
			named++
			bad = bad || s >= 300
		}
	}
	if len(r.ItemStatuses) == items && named == items {
		return r.ItemStatuses, false
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
			one.NamesError = r.NamesError && slices.Max(per) < 300 // else that error is an item's
		}
		all[i] = classify(one, err, whole[i], ended)
		c := all[i].class
		if unclear && c == classDelivered {
			all[i].class, all[i].reason = classUnknown, Unclear
		}
		if per != nil && c == classHold {
			// The hub accepted the request but not this item, so the queue is unaffected.
			all[i].class, all[i].reason = classPermanent, RefusedByHub
		}
		if len(all) > 1 && per == nil && (c == classPermanent || c == classCopyLost || c == classCopyUnreadable ||
			c == classConflict || c == classOddStatus) {
			all[i].class, all[i].reason = classSplit, SentAlone
		}
	}
	return all
}

// isMissing distinguishes a missing copy from a failing disk.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

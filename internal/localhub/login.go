package localhub

import (
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"wiebelt/internal/text"
)

type loginView struct {
	Lead, Next, Name, Password, Error string
	Demo                              bool
}

// loginTarget returns a page of ours that a login may lead to: the start page, a customer
// file, the message box or a message. Anything else, above all another site,
// becomes the start page.
func loginTarget(raw string) string {
	if id, ok := strings.CutPrefix(raw, filePath); ok && validID(id) || raw == boxPath {
		return raw
	}
	if id, ok := strings.CutPrefix(raw, boxPath+"/"); ok && len(id) == 36 && uuid.Validate(id) == nil {
		return raw
	}
	return "/"
}

func (h *Hub) showLogin(w http.ResponseWriter, r *http.Request, who User) error {
	to := loginTarget(r.URL.Query().Get("next"))
	if who.Name != "" {
		http.Redirect(w, r, to, http.StatusSeeOther)
		return nil
	}
	return h.loginForm(w, r, http.StatusOK, loginView{Next: to})
}

func (h *Hub) loginForm(w http.ResponseWriter, r *http.Request, status int, l loginView) error {
	if h.cfg.Demo {
		l.Demo, l.Name, l.Password = true, DemoUser, demoPassword
	}
	lead := text.LocalhubLoginLead
	switch {
	case strings.HasPrefix(l.Next, filePath):
		lead = text.LocalhubLoginLeadFile
	case strings.HasPrefix(l.Next, boxPath):
		lead = text.LocalhubLoginLeadBox
	}
	lang := language(r)
	l.Lead = lang.T(lead)
	return h.show(w, r, status, "login", lang.T(text.LocalhubLogin), User{}, l)
}

func (h *Hub) doLogin(w http.ResponseWriter, r *http.Request, _ User) error {
	name, password := normaliseName(r.PostForm.Get("user")), r.PostForm.Get("password")
	if len(name) > 100 {
		name = ""
	}
	l := loginView{Next: loginTarget(r.PostForm.Get("next")), Name: name}
	ok, wait, err := h.tryPassword(r, name, password)
	switch {
	case errors.Is(err, errTooMany):
		return h.showRetryLater(w, r, l, http.StatusTooManyRequests, wait)
	case errors.Is(err, errBusy):
		return h.showRetryLater(w, r, l, http.StatusServiceUnavailable, wait)
	case err != nil:
		return err
	case !ok:
		l.Error = language(r).T(text.LocalhubLoginWrong)
		return h.loginForm(w, r, http.StatusUnauthorized, l)
	}
	if err := h.beginSession(r.Context(), w, name); err != nil {
		return err
	}
	http.Redirect(w, r, l.Next, http.StatusSeeOther)
	return nil
}

// errTooMany reports that too many wrong passwords were tried.
var errTooMany = errors.New("local hub: too many wrong passwords")

// tryPassword reports whether the password is the user's, if the sender is allowed to
// try. With errTooMany or errBusy it was not checked, and wait says how long to hold off.
func (h *Hub) tryPassword(r *http.Request, name, password string) (ok bool, wait time.Duration, err error) {
	known := h.isKnown(r, name)
	keys := []limitKey{{name: name, known: true}}
	if known {
		wait, ok = h.limits.try(h.now(), keys...)
	}
	if !ok {
		from := network(r.RemoteAddr)
		keys = []limitKey{{name: name, network: from}, {network: from}}
		wait, ok = h.limits.try(h.now(), keys...)
	}
	if !ok {
		return false, wait, errTooMany
	}
	ok, err = h.checkPassword(r.Context(), name, password, known)
	if ok || err != nil {
		h.limits.refund(ok, keys...)
	}
	return ok, time.Second, err
}

// showRetryLater shows when to try again.
func (h *Hub) showRetryLater(w http.ResponseWriter, r *http.Request, l loginView, status int, wait time.Duration) error {
	seconds := inSeconds(wait)
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	l.Error = language(r).N(text.LocalhubLoginWaitSeconds, seconds)
	if seconds > 90 {
		l.Error = language(r).N(text.LocalhubLoginWait, (seconds+59)/60)
	}
	return h.loginForm(w, r, status, l)
}

func (h *Hub) doLogout(w http.ResponseWriter, r *http.Request, who User) error {
	if who.Name != "" {
		if err := h.change(r.Context(), "session", nil, "DELETE FROM sessions WHERE token = ?", tokenHash(h.cookie(r, "session"))); err != nil {
			return err
		}
	}
	// Despite no-store, Chromium keeps pages for going back until one of their
	// cookies changes, not counting the changes that came with a page. After a
	// file opened by a login, this takes more changes than the login made.
	for range 2 {
		h.setCookie(w, "session", newToken(), SessionLife)
	}
	h.setCookie(w, "session", "", 0)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
	return nil
}

const (
	limitWindow     = 5 * time.Minute // the longest wait; twice that without a try resets a counter
	limitPerUser    = 5               // wrong passwords for a name from one network, or from browsers known for it
	limitPerNetwork = 50              // from one network, for any names
	maxCounters     = 10_000
)

// limiter slows down password guessing. It counts per name and network, and per
// network: others who guess a name's password do not lock out its user. Beyond the
// limit the wait doubles with every try. If there are too many counters, the least
// recently used are dropped.
type limiter struct {
	mu            sync.Mutex
	recent, older map[limitKey]*counter // recently used, and before; each at most half of maxCounters
}

// limitKey identifies what is counted: the tries for a name from a network, or from browsers
// in which that user has logged in (known); without a name, all tries from a network.
type limitKey struct {
	name    string
	network netip.Prefix
	known   bool
}

func (k limitKey) limit() int {
	if k.name == "" {
		return limitPerNetwork
	}
	return limitPerUser
}

type counter struct {
	tries     int
	next, end time.Time // earliest next try; when everything is forgotten
}

// network groups addresses: whoever has one address of an
// IPv6 network has all of them, and often several in a /24.
func network(remote string) netip.Prefix {
	a, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	bits := 64
	addr := a.Addr().Unmap().WithZone("")
	if addr.Is4() {
		bits = 24
	}
	p, _ := addr.Prefix(bits) // bits is valid
	return p
}

// try uses up a try for all keys before the password is checked, so
// that concurrent requests cannot get past the limit. If any key has
// no tries left, it uses up nothing and returns how long to wait.
func (l *limiter) try(now time.Time, keys ...limitKey) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		if c := l.find(k); c != nil {
			wait = max(wait, c.next.Sub(now))
		}
	}
	if wait > 0 {
		return wait, false
	}
	for _, k := range keys {
		c := l.find(k)
		if c == nil || !now.Before(c.end) {
			c = &counter{}
			l.keep(k, c)
		}
		c.tries++
		if over := c.tries - k.limit(); over >= 0 {
			c.next = now.Add(min(time.Second<<min(over, 10), limitWindow))
		}
		c.end = now.Add(2 * limitWindow)
	}
	return 0, true
}

// find returns a counter and marks it as recently used; nil if there is none.
func (l *limiter) find(k limitKey) *counter {
	c := l.recent[k]
	if c == nil && l.older[k] != nil {
		c = l.older[k]
		l.keep(k, c)
	}
	return c
}

func (l *limiter) keep(k limitKey, c *counter) {
	if l.recent == nil || len(l.recent) == maxCounters/2 {
		l.recent, l.older = map[limitKey]*counter{}, l.recent
	}
	l.recent[k] = c
}

// refund returns a try that was not checked. A correct password returns
// all tries of its name.
func (l *limiter) refund(right bool, keys ...limitKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		if c := l.find(k); c != nil {
			c.tries, c.next = max(c.tries-1, 0), time.Time{}
			if right && k.name != "" {
				c.tries = 0
			}
		}
	}
}

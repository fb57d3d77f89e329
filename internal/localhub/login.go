package localhub

import (
	"errors"
	"maps"
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
	case errors.Is(err, errBusy):
		return h.showRetryLater(w, r, l, http.StatusServiceUnavailable, time.Second)
	case err != nil:
		return err
	case wait > 0:
		return h.showRetryLater(w, r, l, http.StatusTooManyRequests, wait)
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

// tryPassword reports whether the password is the user's. With a wait, it was not
// checked: too many wrong ones were tried.
func (h *Hub) tryPassword(r *http.Request, name, password string) (ok bool, wait time.Duration, err error) {
	who, now := guesser{name: name}, h.now()
	known := h.isKnown(r, name)
	if known {
		wait = h.guard.try(who, now)
	}
	if !known || wait > 0 {
		who.network = network(r.RemoteAddr)
		wait = h.guard.try(who, now)
	}
	if wait > 0 {
		return false, wait, nil
	}
	ok, err = h.checkPassword(r.Context(), name, password)
	switch {
	case ok:
		h.guard.forgive(who)
	case err != nil: // it was not checked
		h.guard.refund(who)
	}
	return ok, 0, err
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
	freeGuesses = 5               // wrong passwords before the first wait
	longestWait = 5 * time.Minute // twice that without a try, and a guesser is forgotten
	maxGuessers = 10_000
)

// guard slows down guessing: after five wrong passwords the wait doubles with every further
// one, from a second up to five minutes. It counts for each name and network, so that
// nobody can lock out a user elsewhere, and once more for the browsers known for that user.
type guard struct {
	mu  sync.Mutex
	all map[guesser]guesses
}

// guesser is who tries passwords for a name: a network or, without one, all browsers in
// which that user has logged in before. Those may also use the tries of their network.
type guesser struct {
	name    string
	network netip.Prefix
}

type guesses struct {
	tries      int
	last, next time.Time // the last try, and the earliest next one
}

// try uses up a try, before the password is checked: concurrent requests cannot get past the
// limit. Until there is one it returns how long to wait.
func (g *guard) try(who guesser, now time.Time) (wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t, known := g.all[who]
	if t.next.After(now) {
		return t.next.Sub(now)
	}
	if now.Sub(t.last) > 2*longestWait {
		t = guesses{}
	}
	if !known && len(g.all) >= maxGuessers {
		g.forgetSome(now)
	}
	t.tries, t.last = t.tries+1, now
	if over := t.tries - freeGuesses; over >= 0 {
		t.next = now.Add(min(time.Second<<min(over, 10), longestWait))
	}
	g.all[who] = t
	return 0
}

// forgetSome forgets at least half of the guessers, so that it is seldom needed: first those
// who need not wait. More than half are rarely left after that: whoever has to wait has had
// five passwords checked.
func (g *guard) forgetSome(now time.Time) {
	maps.DeleteFunc(g.all, func(_ guesser, t guesses) bool { return !t.next.After(now) })
	for who := range g.all {
		if len(g.all) <= maxGuessers/2 {
			return
		}
		delete(g.all, who)
	}
}

// refund returns a try with which no password was checked.
func (g *guard) refund(who guesser) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.all[who]
	if t.tries--; t.tries <= 0 {
		delete(g.all, who)
		return
	}
	t.next = time.Time{}
	g.all[who] = t
}

// forgive returns all tries to one who knew the password.
func (g *guard) forgive(who guesser) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.all, who)
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

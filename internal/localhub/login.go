package localhub

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
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

func (h *Hub) showLogin(w http.ResponseWriter, r *http.Request, who visitor) error {
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
	return h.show(w, r, status, "login", lang.T(text.LocalhubLogin), visitor{}, l)
}

func (h *Hub) doLogin(w http.ResponseWriter, r *http.Request, _ visitor) error {
	name, password := userName(r.PostForm.Get("user")), r.PostForm.Get("password")
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
		l.Error = language(r).T(text.LocalhubWrong)
		return h.loginForm(w, r, http.StatusUnauthorized, l)
	}
	if err := h.begin(r.Context(), w, name); err != nil {
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
	l.Error = language(r).N(text.LocalhubWaitSeconds, seconds)
	if seconds > 90 {
		l.Error = language(r).N(text.LocalhubWait, (seconds+59)/60)
	}
	return h.loginForm(w, r, status, l)
}

func (h *Hub) doLogout(w http.ResponseWriter, r *http.Request, who visitor) error {
	if who.Name != "" {
		if err := h.change(r.Context(), "session", nil, "DELETE FROM sessions WHERE token = ?", tokenHash(who.token)); err != nil {
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

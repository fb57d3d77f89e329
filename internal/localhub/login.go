package localhub

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"wiebelt/internal/text"
)

type loginView struct {
	Lead, Next, Name, Password, Error string
	Demo                              bool
}

// next is a page of ours that a login may lead to: the start page, a customer
// file, the message box or a message. Anything else, above all another site,
// becomes the start page.
func next(raw string) string {
	if id, ok := strings.CutPrefix(raw, filePath); ok && validID(id) || raw == boxPath {
		return raw
	}
	if id, ok := strings.CutPrefix(raw, boxPath+"/"); ok && len(id) == 36 && uuid.Validate(id) == nil {
		return raw
	}
	return "/"
}

type userPage func(w http.ResponseWriter, r *http.Request, who user, token string)

// loggedIn shows the login page first when nobody is logged in (hub-api.md 1.9).
func (h *Hub) loggedIn(show userPage) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, token, err := h.user(r)
		if err != nil {
			h.failed(w, r, "session", err)
			return
		}
		if who.name == "" {
			to := "/login"
			// A ZIP file leads to its message: it can be saved from there.
			if n := next(strings.TrimSuffix(r.URL.Path, "/zip")); n != "/" {
				to += "?next=" + url.QueryEscape(n)
			}
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
		show(w, r, who, token)
	}
}

func (h *Hub) showLogin(w http.ResponseWriter, r *http.Request) {
	who, _, err := h.user(r)
	if err != nil {
		h.failed(w, r, "session", err)
		return
	}
	to := next(r.URL.Query().Get("next"))
	if who.name != "" {
		http.Redirect(w, r, to, http.StatusSeeOther)
		return
	}
	h.loginForm(w, r, http.StatusOK, loginView{Next: to})
}

// loginForm shows the form, tied to a cookie that the browser has or gets.
func (h *Hub) loginForm(w http.ResponseWriter, r *http.Request, status int, l loginView) {
	cookie := h.cookie(r, "login")
	if cookie == "" {
		cookie = newToken()
		h.setCookie(w, "login", cookie, time.Hour)
	}
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
	l.Lead = tongue(r).T(lead)
	h.show(w, r, status, "login", view{Title: string(text.LocalhubLogin), Form: h.formToken("login", cookie), Login: l})
}

func (h *Hub) doLogin(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	if err := r.ParseForm(); err != nil {
		h.message(w, r, http.StatusBadRequest, user{}, "", text.LocalhubFailed, text.LocalhubUnreadable)
		return
	}
	lang := tongue(r)
	name, password := userName(r.PostForm.Get("user")), r.PostForm.Get("password")
	if len(name) > 100 {
		name = ""
	}
	l := loginView{Next: next(r.PostForm.Get("next")), Name: name}
	if !h.formTokenFits(r, "login", h.cookie(r, "login")) {
		l.Error = lang.T(text.LocalhubAgain)
		h.loginForm(w, r, http.StatusForbidden, l)
		return
	}
	ok, wait, err := h.tryPassword(r, name, password)
	switch {
	case errors.Is(err, errTooMany):
		h.later(w, r, l, http.StatusTooManyRequests, wait)
		return
	case errors.Is(err, errBusy):
		h.later(w, r, l, http.StatusServiceUnavailable, wait)
		return
	case err != nil:
		h.failed(w, r, "login", err)
		return
	}
	if !ok {
		l.Error = lang.T(text.LocalhubWrong)
		h.loginForm(w, r, http.StatusUnauthorized, l)
		return
	}
	if err := h.begin(r.Context(), w, name); err != nil {
		h.failed(w, r, "login", err)
		return
	}
	h.setCookie(w, "login", "", 0) // the next login has a form of its own
	http.Redirect(w, r, l.Next, http.StatusSeeOther)
}

// errTooMany means that too many wrong passwords were tried.
var errTooMany = errors.New("local hub: too many wrong passwords")

// tryPassword reports whether the password is the user's, as far as whoever sent
// the request may try: with errTooMany and errBusy it was not looked at, and wait
// is how long to wait.
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
		h.limits.back(ok, keys...)
	}
	return ok, time.Second, err
}

// later says when to try again.
func (h *Hub) later(w http.ResponseWriter, r *http.Request, l loginView, status int, wait time.Duration) {
	seconds := int((wait + time.Second - 1) / time.Second)
	w.Header().Set("Retry-After", fmt.Sprint(seconds))
	l.Error = tongue(r).N(text.LocalhubWaitSeconds, seconds)
	if seconds > 90 {
		l.Error = tongue(r).N(text.LocalhubWait, (seconds+59)/60)
	}
	h.loginForm(w, r, status, l)
}

func (h *Hub) doLogout(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	if err := r.ParseForm(); err != nil {
		h.message(w, r, http.StatusBadRequest, user{}, "", text.LocalhubFailed, text.LocalhubUnreadable)
		return
	}
	who, token, err := h.user(r)
	if err != nil {
		h.failed(w, r, "logout", err)
		return
	}
	if who.name != "" {
		if !h.formTokenFits(r, "logout", token) {
			h.message(w, r, http.StatusForbidden, who, token, text.LocalhubFailed, text.LocalhubAgain)
			return
		}
		if err := h.change(r.Context(), "session", nil, "DELETE FROM sessions WHERE token = ?", stored(token)); err != nil {
			h.failed(w, r, "logout", err)
			return
		}
	}
	// Chromium keeps pages for the way back, no-store or not, until a cookie of
	// theirs changes, and takes the changes that came with a page off that: the
	// file that a login led to needs more changes than the login made.
	for range 2 {
		h.setCookie(w, "session", newToken(), SessionLife)
	}
	h.setCookie(w, "session", "", 0)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

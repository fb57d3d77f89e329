package localhub

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/text/language"

	"wiebelt/internal/contact"
	"wiebelt/internal/phone"
	"wiebelt/internal/text"
)

//go:embed web
var web embed.FS

const filePath = "/contacts/viewcontact/" // hub-api.md 2.3

// parsePages reads the templates, each page within the same frame.
func parsePages() (map[string]*template.Template, error) {
	frame, err := template.ParseFS(web, "web/frame.html")
	if err != nil {
		return nil, fmt.Errorf("local hub: pages: %w", err)
	}
	pages := map[string]*template.Template{}
	for _, name := range []string{"login", "home", "file", "box", "parcel", "message"} {
		t, err := template.Must(frame.Clone()).ParseFS(web, "web/"+name+".html")
		if err != nil {
			return nil, fmt.Errorf("local hub: pages: %w", err)
		}
		pages[name] = t
	}
	return pages, nil
}

// routes is everything the hub answers.
func (h *Hub) routes() http.Handler {
	m := http.NewServeMux()
	m.Handle("/identity/token", h.faults.at(AtToken, http.HandlerFunc(h.serveToken)))
	m.Handle("/transaction/{intermediary}", h.faults.at(AtTransaction, only(http.MethodPost, h.bearer(scopeMessages, h.serveTransaction))))
	m.Handle("/contact/contacts/telephony", h.faults.at(AtLookup, only(http.MethodGet, h.bearer(scopeBasic, h.serveLookup))))

	m.HandleFunc("GET /openapi.json", h.serveOpenAPI)

	p := http.NewServeMux()
	p.HandleFunc("GET /login", h.showLogin)
	p.HandleFunc("POST /login", h.doLogin)
	p.HandleFunc("POST /logout", h.doLogout)
	p.HandleFunc("GET /{$}", h.loggedIn(h.showHome))
	p.HandleFunc("GET "+filePath+"{id}", h.loggedIn(h.showFile))
	p.HandleFunc("GET "+boxPath, h.administered(h.showBox))
	p.HandleFunc("GET "+boxPath+"/{id}", h.administered(h.showParcel))
	p.HandleFunc("GET "+boxPath+"/{id}/zip", h.administered(h.sendParcel))
	p.HandleFunc("GET /backoffice/{relation}", h.loggedIn(h.showBackOffice))
	p.HandleFunc("GET /web/{name}", h.showAsset)
	p.HandleFunc("GET /", h.showNothing)
	m.Handle("/", h.faults.at(AtPages, pageHeaders(http.NewCrossOriginProtection().Handler(p))))
	return h.logged(h.guardHost(m))
}

func only(method string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method {
			w.Header().Set("Allow", method)
			writeError(w, http.StatusMethodNotAllowed, "invalid_request", "not with this method")
			return
		}
		next(w, r)
	}
}

// logged writes one line a request: never a path, which may hold a contact's
// id, nor a query, which holds numbers.
func (h *Hub) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		s := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			h.log.Debug("local hub answered", "method", known(r.Method), "part", part(r.URL.Path), "status", s.status, "took", time.Since(began))
		}()
		next.ServeHTTP(s, r)
	})
}

func known(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodHead:
		return method
	}
	return "other"
}

func part(path string) string {
	for _, p := range []string{"/identity/token", "/contact/contacts/telephony", "/transaction/", filePath, "/login", "/logout", "/web/"} {
		if strings.HasPrefix(path, p) {
			return p
		}
	}
	return "other"
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func pageHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("X-Frame-Options", "DENY")
		// Not no-referrer: that makes a form's Origin "null" in some browsers.
		head.Set("Referrer-Policy", "same-origin")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		head.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// view is what a page shows.
type view struct {
	Lang    text.Language
	Title   string
	User    user   // logged in
	Form    string // form token of the page's form
	Local   bool   // invented contacts: say so
	Login   loginView
	File    fileView
	Box     boxView
	Message messageView

	Examples []otherView // contacts to try the hub with
}

// Who is the name of who is logged in, for the templates.
func (v view) Who() string { return v.User.name }

// Admin reports whether who is logged in sees the message box.
func (v view) Admin() bool { return v.User.admin }

// T is a text in the page's language, for the templates.
func (v view) T(key string, args ...any) string { return v.Lang.T(text.Key(key), args...) }

type loginView struct {
	Next, Name, Password, Error string
	Demo                        bool
}

type fileView struct {
	Contact    contact.Contact
	Relation   string
	Address    []string
	Phones     []phoneView
	Emails     []string
	Others     []otherView
	BackOffice template.URL // checked when it is made
}

type phoneView struct{ Shown, Dial string }

type otherView struct{ ID, Name, Detail string }

type messageView struct{ Heading, Body string }

// tongues is made on first use: programs that only link this package do not
// pay for it.
var tongues = sync.OnceValue(func() language.Matcher {
	return language.NewMatcher([]language.Tag{language.Dutch, language.English})
})

func tongue(r *http.Request) text.Language {
	if _, i := language.MatchStrings(tongues(), r.Header.Get("Accept-Language")); i == 1 {
		return text.English
	}
	return text.Dutch
}

func (h *Hub) show(w http.ResponseWriter, r *http.Request, status int, page string, v view) {
	v.Lang = tongue(r)
	v.Title = v.T(v.Title)
	var b bytes.Buffer
	if err := h.pages[page].Execute(&b, v); err != nil {
		h.broken(w, "page", err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", string(v.Lang))
	w.Header().Set("Vary", "Accept-Language")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

func (h *Hub) showAsset(w http.ResponseWriter, r *http.Request) {
	kind, ok := map[string]string{"hub.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"}[r.PathValue("name")]
	b, err := fs.ReadFile(web, "web/"+r.PathValue("name"))
	if !ok || err != nil {
		h.showNothing(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(b)
}

func (h *Hub) showNothing(w http.ResponseWriter, r *http.Request) {
	h.message(w, r, http.StatusNotFound, user{}, "", text.LocalhubNothing, text.LocalhubNothingBody)
}

func (h *Hub) message(w http.ResponseWriter, r *http.Request, status int, who user, token string, heading, body text.Key) {
	l := tongue(r)
	v := view{Title: string(heading), User: who, Message: messageView{l.T(heading), l.T(body)}}
	if who.name != "" {
		v.Form = h.formToken("logout", token)
	}
	h.show(w, r, status, "message", v)
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
			h.broken(w, "session", err)
			return
		}
		if who.name == "" {
			to := "/login"
			if n := next(r.URL.Path); n != "/" {
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
		h.broken(w, "session", err)
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
	h.show(w, r, status, "login", view{Title: string(text.LocalhubLogin), Form: h.formToken("login", cookie), Local: h.cfg.Demo, Login: l})
}

func (h *Hub) doLogin(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	if err := r.ParseForm(); err != nil {
		h.message(w, r, http.StatusBadRequest, user{}, "", text.LocalhubNothing, text.LocalhubUnreadable)
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
	address, _, _ := net.SplitHostPort(r.RemoteAddr)
	if wait, ok := h.limits.try(h.now(), name, address); !ok {
		minutes := int((wait + time.Minute - 1) / time.Minute)
		w.Header().Set("Retry-After", fmt.Sprint(int((wait+time.Second-1)/time.Second)))
		l.Error = lang.N(text.LocalhubWait, minutes)
		h.loginForm(w, r, http.StatusTooManyRequests, l)
		return
	}
	ok, err := h.checkPassword(r.Context(), name, password)
	if err != nil {
		h.broken(w, "login", err)
		return
	}
	if !ok {
		l.Error = lang.T(text.LocalhubWrong)
		h.loginForm(w, r, http.StatusUnauthorized, l)
		return
	}
	h.limits.succeeded(name, address)
	if err := h.begin(r.Context(), w, name); err != nil {
		h.broken(w, "login", err)
		return
	}
	h.setCookie(w, "login", "", 0) // the next login has a form of its own
	http.Redirect(w, r, l.Next, http.StatusSeeOther)
}

func (h *Hub) doLogout(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	if err := r.ParseForm(); err != nil {
		h.message(w, r, http.StatusBadRequest, user{}, "", text.LocalhubNothing, text.LocalhubUnreadable)
		return
	}
	who, token, err := h.user(r)
	if err != nil {
		h.broken(w, "logout", err)
		return
	}
	if who.name != "" {
		if !h.formTokenFits(r, "logout", token) {
			h.message(w, r, http.StatusForbidden, who, token, text.LocalhubNothing, text.LocalhubAgain)
			return
		}
		if err := h.store.endSession(r.Context(), stored(token)); err != nil {
			h.broken(w, "logout", err)
			return
		}
	}
	h.setCookie(w, "session", "", 0)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// examples is how many invented contacts the demo's start page offers.
const examples = 5

func (h *Hub) showHome(w http.ResponseWriter, r *http.Request, who user, token string) {
	l := tongue(r)
	v := view{Title: string(text.LocalhubHome), User: who, Form: h.formToken("logout", token), Local: h.cfg.Demo,
		Message: messageView{l.T(text.LocalhubHome), l.T(text.LocalhubHomeBody)}}
	if h.cfg.Demo {
		some, err := h.store.first(r.Context(), examples)
		if err != nil {
			h.broken(w, "start page", err)
			return
		}
		for _, c := range some {
			v.Examples = append(v.Examples, otherView{c.ID, c.Name(), c.Address.ShortLine()})
		}
	}
	h.show(w, r, http.StatusOK, "home", v)
}

// showBackOffice stands where the back-office client would open: there is none
// beside this hub.
func (h *Hub) showBackOffice(w http.ResponseWriter, r *http.Request, who user, token string) {
	h.message(w, r, http.StatusOK, who, token, text.LocalhubBackOffice, text.LocalhubBackOfficeBody)
}

func (h *Hub) showFile(w http.ResponseWriter, r *http.Request, who user, token string) {
	rec, others, found, err := h.store.byID(r.Context(), r.PathValue("id"))
	if err != nil {
		h.broken(w, "file", err)
		return
	}
	if !found {
		h.message(w, r, http.StatusNotFound, who, token, text.LocalhubNoFile, text.LocalhubNoFileBody)
		return
	}
	h.stats.files.Add(1)
	f := fileView{
		Contact: rec.Contact, Relation: contact.GroupDigits(rec.RelationNumber), Emails: rec.Emails,
		Address: addressLines(rec.Address), BackOffice: h.backOffice(rec.RelationNumber),
	}
	if rules, err := phone.NewRules(phone.Config{}); err == nil {
		for _, n := range rec.Numbers {
			p := rules.Parse(n, "")
			f.Phones = append(f.Phones, phoneView{orElse(p.Display(), n), digitsOf(n)})
		}
	}
	for _, o := range others {
		f.Others = append(f.Others, otherView{o.ID, o.Name(), o.Address.ShortLine()})
	}
	h.show(w, r, http.StatusOK, "file", view{
		Title: string(text.LocalhubFile), User: who, Form: h.formToken("logout", token), Local: h.cfg.Demo, File: f,
	})
}

// backOffice is the click-through of hub-api.md 1.8.
func (h *Hub) backOffice(relation string) template.URL {
	if h.cfg.BackOfficeURL == "" {
		return template.URL("/backoffice/" + url.PathEscape(orElse(relation, "-")))
	}
	return template.URL(strings.ReplaceAll(h.cfg.BackOfficeURL, "{relation}", url.QueryEscape(relation)))
}

// addressLines is an address as on an envelope.
func addressLines(a contact.Address) []string {
	var lines []string
	if s := a.StreetLine(); s != "" {
		lines = append(lines, s)
	}
	place := contact.Address{PostalCode: a.PostalCode, City: a.City}.Line()
	if place != "" {
		lines = append(lines, place)
	}
	if a.Country != "" && a.Country != "NL" {
		lines = append(lines, a.Country)
	}
	return lines
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

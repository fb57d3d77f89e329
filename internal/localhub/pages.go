package localhub

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/language"

	"wiebelt/internal/call"
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
	m.Handle("/transaction/{intermediary}", heard(h.faults.at(AtTransaction, only(http.MethodPost, h.bearer(scopeMessages, h.serveTransaction)))))
	m.Handle("/contact/contacts/telephony", h.faults.at(AtLookup, only(http.MethodGet, h.bearer(scopeBasic, h.serveLookup))))

	m.HandleFunc("GET /openapi.json", h.serveOpenAPI)
	for _, api := range []string{"/identity/", "/transaction/", "/contact/"} { // programs ask there, and read no pages
		m.HandleFunc(api, func(w http.ResponseWriter, _ *http.Request) {
			writeError(w, http.StatusNotFound, "not_found", "there is nothing here: see /openapi.json")
		})
	}

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
	for _, p := range []string{"/identity/token", "/contact/contacts/telephony", "/transaction/", filePath, boxPath, "/login", "/logout", "/web/"} {
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
	Where   string // what hub this is, at the foot
	Login   loginView
	File    fileView
	Box     boxView
	Message messageView

	Examples []otherView // contacts to try the hub with
}

// Who is the name of who is logged in, for the templates.
func (v view) Who() string { return legible(v.User.name) }

// Admin reports whether who is logged in sees the message box.
func (v view) Admin() bool { return v.User.admin }

// T is a text in the page's language, for the templates.
func (v view) T(key string, args ...any) string { return v.Lang.T(text.Key(key), args...) }

type otherView struct{ ID, Name, Detail string }

type messageView struct{ Heading, Body string }

// page begins the view of a page for who is logged in.
func (h *Hub) page(title text.Key, who user, token string) view {
	v := view{Title: string(title), User: who}
	if who.name != "" {
		v.Form = h.formToken("logout", token)
	}
	return v
}

// longestShown is how many bytes of a name or a word are shown.
const longestShown = 300

// legible is text from outside without what could make a page lie, such as
// characters that turn the order of others around.
func legible(s string) string {
	clean := call.CleanText(s, longestShown)
	if len(s) > longestShown {
		clean += "…"
	}
	return clean
}

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
	switch {
	case h.cfg.Demo:
		v.Where = v.T(string(text.LocalhubInvented))
	case h.place.loopback:
		v.Where = v.T(string(text.LocalhubLocal))
	default:
		v.Where = v.T(string(text.LocalhubShared))
	}
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
	v := h.page(heading, who, token)
	v.Message = messageView{l.T(heading), l.T(body)}
	h.show(w, r, status, "message", v)
}

// failed is the page for a failure of our own.
func (h *Hub) failed(w http.ResponseWriter, r *http.Request, what string, err error) {
	h.log.Error("local hub: page failed", "what", what, "error", err)
	h.message(w, r, http.StatusInternalServerError, user{}, "", text.LocalhubFailed, text.LocalhubFailedBody)
}

// examples is how many invented contacts the demo's start page offers.
const examples = 5

func (h *Hub) showHome(w http.ResponseWriter, r *http.Request, who user, token string) {
	l := tongue(r)
	v := h.page(text.LocalhubHome, who, token)
	v.Message = messageView{l.T(text.LocalhubHome), l.T(text.LocalhubHomeBody)}
	if h.cfg.Demo {
		some, err := h.first(r.Context(), examples)
		if err != nil {
			h.failed(w, r, "start page", err)
			return
		}
		for _, c := range some {
			v.Examples = append(v.Examples, otherView{c.ID, legible(c.Name()), legible(c.Address.ShortLine())})
		}
	}
	h.show(w, r, http.StatusOK, "home", v)
}

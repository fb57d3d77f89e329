package localhub

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	tags "golang.org/x/text/language"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/text"
)

//go:embed web
var web embed.FS

const filePath = "/contacts/viewcontact/" // path of the deep links in the Contact API's answers

// routes returns the handler for everything the hub answers.
func (h *Hub) routes() http.Handler {
	m := http.NewServeMux()
	for _, o := range []struct {
		path, method string
		at           Endpoint
		scope        string // "" asks for no token
		do           operation
	}{
		{"/identity/token", http.MethodPost, EndpointToken, "", h.issueToken},
		{"/contact/contacts/telephony", http.MethodGet, EndpointLookup, scopeBasic, h.lookUp},
		{"/transaction/{intermediary}", http.MethodPost, EndpointTransaction, scopeMessages, h.receiveDelivery},
	} {
		handler := h.withFaults(o.at, h.api(o.method, o.scope, o.do))
		if o.at == EndpointTransaction {
			handler = answerFirst(handler)
		}
		m.Handle(o.path, handler)
	}
	m.HandleFunc("GET /openapi.json", h.serveOpenAPI)
	for _, api := range []string{"/identity/", "/transaction/", "/contact/"} { // for programs, which do not read pages
		m.HandleFunc(api, func(w http.ResponseWriter, _ *http.Request) {
			notFound.write(w)
		})
	}

	p := http.NewServeMux()
	for pattern, handler := range map[string]http.HandlerFunc{
		"GET /login":                   h.page(h.showLogin),
		"POST /login":                  h.page(h.doLogin),
		"POST /logout":                 h.page(h.doLogout),
		"GET /{$}":                     h.requireLogin(h.showHome),
		"GET " + filePath + "{id}":     h.requireLogin(h.showFile),
		"GET " + boxPath:               h.requireAdmin(h.showBox),
		"GET " + boxPath + "/{id}":     h.requireAdmin(h.showMessage),
		"GET " + boxPath + "/{id}/zip": h.requireAdmin(h.sendMessage),
		"GET /backoffice/{relation}":   h.requireLogin(h.showBackOffice),
		"GET /web/{name}":              h.showAsset,
		"GET /":                        h.showNothing,
	} {
		p.Handle(pattern, h.withFaults(EndpointPages, handler))
	}
	m.Handle("/", pageHeaders(http.NewCrossOriginProtection().Handler(p)))
	return h.logRequests(h.guardHost(m))
}

// logRequests logs one line per request: never a path, which may contain a contact's ID,
// nor a query, which contains numbers.
func (h *Hub) logRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		s := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			h.log.Debug("local hub answered", "part", r.Pattern, "status", s.status, "took", time.Since(began))
		}()
		next.ServeHTTP(s, r)
	})
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap gives http.ResponseController access to the connection.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func pageHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("X-Frame-Options", "DENY")
		// Not no-referrer: with it some browsers send "null" as a form's Origin.
		head.Set("Referrer-Policy", "same-origin")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		head.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// pageHandler shows a page or processes a form. If it returns an error, that is shown instead.
type pageHandler func(w http.ResponseWriter, r *http.Request, who User) error

// pageError is shown instead of a page, and says why.
type pageError struct {
	status        int
	heading, body text.Key
}

func (e *pageError) Error() string { return string(e.heading) }

// page identifies the visitor, reads the form and shows errors.
func (h *Hub) page(show pageHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := h.visitor(r)
		if err == nil && r.Method == http.MethodPost {
			r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
			if r.ParseForm() != nil {
				err = &pageError{http.StatusBadRequest, text.LocalhubFailed, text.LocalhubUnreadable}
			}
		}
		if err == nil {
			err = show(w, r, who)
		}
		if err == nil {
			return
		}
		var said *pageError
		if !errors.As(err, &said) {
			h.logFailure(r, "local hub: page failed", err)
			said, who = &pageError{http.StatusInternalServerError, text.LocalhubFailed, text.LocalhubFailedBody}, User{}
		}
		h.message(w, r, said.status, who, said.heading, said.body)
	}
}

// requireLogin shows the login page first if nobody is logged in.
func (h *Hub) requireLogin(show pageHandler) http.HandlerFunc {
	return h.page(func(w http.ResponseWriter, r *http.Request, who User) error {
		if who.Name != "" {
			return show(w, r, who)
		}
		to := "/login"
		// A ZIP file leads to its message, where it can be saved.
		if n := loginTarget(strings.TrimSuffix(r.URL.Path, "/zip")); n != "/" {
			to += "?next=" + url.QueryEscape(n)
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
		return nil
	})
}

// requireAdmin shows a page to administrators only.
func (h *Hub) requireAdmin(show pageHandler) http.HandlerFunc {
	return h.requireLogin(func(w http.ResponseWriter, r *http.Request, who User) error {
		if !who.Admin {
			return &pageError{http.StatusForbidden, text.LocalhubNotAdmin, text.LocalhubNotAdminBody}
		}
		return show(w, r, who)
	})
}

type view struct {
	Lang  text.Language
	Title string
	User  User   // the logged-in one
	Where string // which hub this is, shown at the foot
	Data  any    // specific to the page
}

// For the templates: a text, a time and a size, each in the page's language.

func (v view) T(key string) string { return v.Lang.T(text.Key(key)) }

func (v view) Moment(t time.Time) string {
	if v.Lang == text.English {
		return t.Local().Format("2 Jan 2006 15:04")
	}
	return t.Local().Format("02-01-2006 15:04")
}

func (v view) Size(n int64) string { return v.Lang.Size(n) }

// linkView is a link to a contact, or a file of a message.
type linkView struct{ ID, Name, Detail string }

// legible returns up to 300 characters of a text from outside, without characters that
// could make a page misleading, such as those that reverse the order of others.
func legible(s string) string { return displaytext.Truncate(s, 300) }

// Both are created on first use, so that programs
// that merely link this package do not pay for them.
var (
	languages = sync.OnceValue(func() tags.Matcher { return tags.NewMatcher([]tags.Tag{tags.Dutch, tags.English}) })
	templates = sync.OnceValues(func() (*template.Template, error) {
		return template.New("").Funcs(template.FuncMap{"legible": legible}).ParseFS(web, "web/*.html")
	})
)

func language(r *http.Request) text.Language {
	if _, i := tags.MatchStrings(languages(), r.Header.Get("Accept-Language")); i == 1 {
		return text.English
	}
	return text.Dutch
}

func (h *Hub) show(w http.ResponseWriter, r *http.Request, status int, page, title string, who User, data any) error {
	v := view{Lang: language(r), Title: title, User: who, Data: data}
	where := text.LocalhubShared
	switch {
	case h.cfg.Demo:
		where = text.LocalhubInvented
	case h.origin.loopback:
		where = text.LocalhubLocal
	}
	v.Where = v.Lang.T(where)
	pages, err := templates()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, page+".html", v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", string(v.Lang))
	w.Header().Set("Vary", "Accept-Language")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a browser that went away does not matter
	return nil
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
	h.message(w, r, http.StatusNotFound, User{}, text.LocalhubNothing, text.LocalhubNothingBody)
}

func (h *Hub) message(w http.ResponseWriter, r *http.Request, status int, who User, heading, body text.Key) {
	lang := language(r)
	if err := h.show(w, r, status, "message", lang.T(heading), who, lang.T(body)); err != nil {
		h.fail(w, r, err)
	}
}

// showHome shows the start page. In a demo it offers some contacts to try.
func (h *Hub) showHome(w http.ResponseWriter, r *http.Request, who User) error {
	lang := language(r)
	var examples []linkView
	if h.cfg.Demo {
		some, err := h.oldestContacts(r.Context(), 5)
		if err != nil {
			return err
		}
		examples = linksOf(lang, some)
	}
	return h.show(w, r, http.StatusOK, "home", lang.T(text.LocalhubHome), who, examples)
}

func linksOf(lang text.Language, all []contact.Contact) (links []linkView) {
	for _, c := range all {
		links = append(links, linkView{c.ID, cmp.Or(legible(c.Name()), lang.T(text.LocalhubFileNoName)), legible(c.Address.ShortLine())})
	}
	return links
}

type fileView struct {
	Name, Relation    string
	Address           []string
	Phones, Emails    []string
	Producer, Changed contact.CodedValue
	Others            []linkView   // contacts with the same numbers and addresses
	BackOffice        template.URL // checked in checkBackOffice
}

func (h *Hub) showFile(w http.ResponseWriter, r *http.Request, who User) error {
	rec, others, found, err := h.byID(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if !found {
		return &pageError{http.StatusNotFound, text.LocalhubNoFile, text.LocalhubNoFileBody}
	}
	h.stats.files.Add(1)
	lang := language(r)
	v := fileView{
		Name: legible(rec.Name()), Relation: legible(contact.GroupDigits(rec.RelationNumber)), Address: addressLines(rec.Address), Emails: rec.Emails, Others: linksOf(lang, others),
		Producer: rec.Producer, Changed: rec.LastModifiedBy, BackOffice: h.backOffice(rec.RelationNumber),
	}
	rules := phone.DefaultRules()
	for _, n := range rec.Numbers {
		v.Phones = append(v.Phones, cmp.Or(rules.Parse(n, "").Display(), n))
	}
	return h.show(w, r, http.StatusOK, "file", cmp.Or(v.Name, lang.T(text.LocalhubFile)), who, v)
}

// showBackOffice replaces the back-office client, which this hub does not have.
func (h *Hub) showBackOffice(w http.ResponseWriter, r *http.Request, who User) error {
	h.message(w, r, http.StatusOK, who, text.LocalhubBackOffice, text.LocalhubBackOfficeBody)
	return nil
}

func (h *Hub) backOffice(relation string) template.URL {
	if h.cfg.BackOfficeURL == "" {
		return template.URL("/backoffice/" + url.PathEscape(cmp.Or(relation, "-")))
	}
	return template.URL(strings.ReplaceAll(h.cfg.BackOfficeURL, "{relation}", url.QueryEscape(relation)))
}

// addressLines returns an address as on an envelope.
func addressLines(a contact.Address) (lines []string) {
	country := a.Country
	if country == "NL" {
		country = ""
	}
	for _, line := range []string{a.StreetLine(), contact.Address{PostalCode: a.PostalCode, City: a.City}.Line(), country} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

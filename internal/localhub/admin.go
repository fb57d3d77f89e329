package localhub

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The admin interface answers on a port of its own, always on loopback,
// whatever the hub listens on. Its address holds a secret of 256 random bits as
// the first part of the path, so that other users of the computer cannot use
// it; pages in a browser are kept out by Host, Origin and Content-Type as well.

const (
	maxAdminBody = 4 << 10
	adminAbout   = `The admin interface of a local hub. Everything below this address:

GET    /faults             what is broken on purpose
PUT    /faults/<endpoint>  break token, lookup, transaction or pages
DELETE /faults/<endpoint>  mend it
POST   /faults/reset       mend everything
GET    /stats              requests so far

Requests with PUT and POST are application/json. A fault is an object with any of:
  delay "2s", drop true, status 503, retry_after "30s", expired true,
  body "html" | "truncated" | "cut" | "empty" | "wrong" | "large", size 1000000 (of "large"),
  content_type "text/plain", slow "10/1s" (bytes/pause), times 3
`
)

// admin is a running admin interface.
type admin struct {
	hub    *Hub
	addr   string // host:port
	secret string
	url    string
	srv    *http.Server
	served chan struct{} // closed when the accept loop has ended
}

func (h *Hub) startAdmin() (*admin, error) {
	l, err := listen("127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	a := &admin{hub: h, addr: l.Addr().String(), secret: newToken(), served: make(chan struct{})}
	a.url = "http://" + a.addr + "/" + a.secret
	a.srv = &http.Server{
		Handler:           h.tracked(a.guard(a.routes())),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    8 << 10,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() {
		defer close(a.served)
		if err := a.srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			h.log.Error("local hub: the admin interface stopped listening", "error", err)
		}
	}()
	return a, nil
}

// close ends the admin interface, requests included.
func (a *admin) close() {
	_ = a.srv.Close()
	<-a.served
}

// guard lets through what knows the secret and is no page in a browser, with
// the secret taken off the path.
func (a *admin) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Cache-Control", "no-store")
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		if r.Host != a.addr {
			writeError(w, http.StatusMisdirectedRequest, "invalid_host", "the admin interface is reached by its address only")
			return
		}
		site := r.Header.Get("Sec-Fetch-Site")
		if len(r.Header.Values("Origin")) > 0 || site != "" && site != "none" {
			writeError(w, http.StatusForbidden, "invalid_origin", "not for pages in a browser")
			return
		}
		secret, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if subtle.ConstantTimeCompare([]byte(secret), []byte(a.secret)) != 1 {
			writeError(w, http.StatusNotFound, "not_found", "there is nothing here")
			return
		}
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); (r.Method == http.MethodPut || r.Method == http.MethodPost) &&
			(err != nil || kind != "application/json") {
			writeError(w, http.StatusUnsupportedMediaType, "invalid_content_type", "the body is application/json")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxAdminBody)
		inner := r.Clone(r.Context())
		inner.URL.Path, inner.URL.RawPath = "/"+path, ""
		next.ServeHTTP(w, inner)
	})
}

func (a *admin) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, adminAbout)
	})
	m.HandleFunc("GET /faults", func(w http.ResponseWriter, _ *http.Request) { a.showFaults(w) })
	m.HandleFunc("PUT /faults/{endpoint}", a.putFault)
	m.HandleFunc("DELETE /faults/{endpoint}", func(w http.ResponseWriter, r *http.Request) {
		if e, ok := a.endpoint(w, r); ok {
			a.hub.faults.Clear(e)
			a.hub.log.Info("local hub: mended", "endpoint", e)
			a.showFaults(w)
		}
	})
	m.HandleFunc("POST /faults/reset", func(w http.ResponseWriter, r *http.Request) {
		if !emptyObject(r.Body) {
			writeError(w, http.StatusBadRequest, "invalid_request", "a reset has an empty body or {}")
			return
		}
		if err := a.hub.faults.Reset(); err != nil {
			writeError(w, http.StatusConflict, "port_taken", "another program took the hub's port")
			return
		}
		a.hub.log.Info("local hub: everything mended")
		a.showFaults(w)
	})
	m.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		s := a.hub.Stats()
		writeJSON(w, http.StatusOK, struct {
			Tokens   int64 `json:"tokens"`
			Lookups  int64 `json:"lookups"`
			Messages int64 `json:"messages"`
			Files    int64 `json:"files"`
			Faults   int64 `json:"faults"`
		}{s.Tokens, s.Lookups, s.Messages, s.Files, s.Faults})
	})
	m.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, http.StatusNotFound, "not_found", "there is nothing here")
	})
	return m
}

func (a *admin) endpoint(w http.ResponseWriter, r *http.Request) (Endpoint, bool) {
	e := Endpoint(r.PathValue("endpoint"))
	if !slices.Contains(Endpoints, e) {
		writeError(w, http.StatusNotFound, "unknown_endpoint", errEndpoint.Error())
		return "", false
	}
	return e, true
}

func (a *admin) putFault(w http.ResponseWriter, r *http.Request) {
	e, ok := a.endpoint(w, r)
	if !ok {
		return
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		writeError(w, http.StatusRequestEntityTooLarge, "too_large", "the body is too long or incomplete")
		return
	}
	x, err := faultOf(b, e)
	if err != nil {
		writeError(w, http.StatusBadRequest, "invalid_fault", err.Error())
		return
	}
	a.hub.faults.Set(e, x)
	a.hub.log.Info("local hub: broken on purpose", "endpoint", e, "fault", x)
	a.showFaults(w)
}

func (a *admin) showFaults(w http.ResponseWriter) {
	f, waiting := a.hub.faults, map[Endpoint]int{}
	for _, e := range Endpoints {
		if n := f.Pending(e); n > 0 {
			waiting[e] = n
		}
	}
	writeJSON(w, http.StatusOK, struct {
		Faults  map[Endpoint]Fault `json:"faults"`
		Waiting map[Endpoint]int   `json:"waiting"` // requests that a delay holds up just now
	}{f.All(), waiting})
}

func emptyObject(r io.Reader) bool {
	b, err := io.ReadAll(r)
	b = bytes.TrimSpace(b)
	return err == nil && (len(b) == 0 || string(b) == "{}")
}

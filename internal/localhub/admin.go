package localhub

import (
	"bytes"
	"crypto/subtle"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// The admin interface has a port of its own, always on loopback, whatever the hub
// listens on. The first part of its path is a secret of 256 random bits, so that other
// users of the computer cannot use it; pages in a browser are also rejected by Host,
// Origin and Content-Type.

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
	*Hub
	host   string // and port
	secret string
}

func (h *Hub) startAdmin() error {
	l, err := listen("127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("admin: %w", err)
	}
	a := &admin{Hub: h, host: l.Addr().String(), secret: newToken()}
	h.adminURL = "http://" + a.host + "/" + a.secret
	h.others = append(h.others, h.serve(l, h.trackRequests(a)))
	return nil
}

// ServeHTTP answers requests that include the secret and do not come from a page in a browser.
func (a *admin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	var answer any
	path, err := a.allowed(r)
	if err == nil {
		answer, err = a.answer(r.Method, path, http.MaxBytesReader(w, r.Body, maxAdminBody))
	}
	a.respond(w, r, answer, err)
}

// allowed returns the path after the secret.
func (a *admin) allowed(r *http.Request) (path string, err error) {
	if r.Host != a.host {
		return "", refuse(http.StatusMisdirectedRequest, "invalid_host", "the admin interface is reached by its address only")
	}
	site := r.Header.Get("Sec-Fetch-Site")
	if len(r.Header.Values("Origin")) > 0 || site != "" && site != "none" {
		return "", refuse(http.StatusForbidden, "invalid_origin", "not for pages in a browser")
	}
	secret, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(secret), []byte(a.secret)) != 1 {
		return "", notFound
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); (r.Method == http.MethodPut || r.Method == http.MethodPost) &&
		(err != nil || kind != "application/json") {
		return "", refuse(http.StatusUnsupportedMediaType, "invalid_content_type", "the body is application/json")
	}
	return path, nil
}

// answer returns a value for respond.
func (a *admin) answer(method, path string, body io.Reader) (_ any, err error) {
	name, one := strings.CutPrefix(path, "faults/")
	switch op := method + " " + path; {
	case op == "GET ":
		return adminAbout, nil
	case op == "GET stats":
		return a.Stats(), nil
	case op == "POST faults/reset":
		err = a.reset(body)
	case one && (method == http.MethodPut || method == http.MethodDelete):
		err = a.change(method, Endpoint(name), body)
	case op != "GET faults":
		err = notFound
	}
	return a.faults.state(), err
}

func (a *admin) reset(body io.Reader) error {
	b, err := io.ReadAll(body)
	if b = bytes.TrimSpace(b); err != nil || len(b) > 0 && string(b) != "{}" {
		return refuse(http.StatusBadRequest, "invalid_request", "a reset has an empty body or {}")
	}
	if a.faults.Reset() != nil {
		return refuse(http.StatusConflict, "port_taken", "another program took the hub's port")
	}
	a.log.Info("local hub: everything mended")
	return nil
}

// change sets or clears the fault of an endpoint.
func (a *admin) change(method string, e Endpoint, body io.Reader) error {
	if !slices.Contains(endpoints, e) {
		return refuse(http.StatusNotFound, "unknown_endpoint", errEndpoint.Error())
	}
	if method == http.MethodDelete {
		a.faults.Clear(e)
		a.log.Info("local hub: mended", "endpoint", e)
		return nil
	}
	b, err := io.ReadAll(body)
	if err != nil {
		return refuse(http.StatusRequestEntityTooLarge, "too_large", "the body is too long or incomplete")
	}
	words, ok := faultPartsOf(b)
	if !ok {
		return refuse(http.StatusBadRequest, "invalid_fault", "the body is one JSON object with the fields of a fault, see GET on this address")
	}
	x, err := parseFaultParts(words, e)
	if err != nil {
		return refuse(http.StatusBadRequest, "invalid_fault", err.Error())
	}
	a.faults.Set(e, x)
	a.log.Info("local hub: broken on purpose", "endpoint", e, "fault", x)
	return nil
}

package localhub

import (
	"bytes"
	"crypto/subtle"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// The admin interface has a port of its own, always on loopback, whatever the hub
// listens on. The first part of its path is a secret of 256 random bits, so that neither other
// users of the computer nor pages in a browser can use it.

const (
	maxAdminBody = 4 << 10
	adminAbout   = `The admin interface of a local hub. Everything below this address:

GET    /faults             what is broken on purpose
PUT    /faults/<endpoint>  break token, lookup, transaction or pages
DELETE /faults/<endpoint>  mend it
POST   /faults/reset       mend everything
GET    /stats              requests so far

The body of PUT is a fault in JSON, an object with any of:
  delay "2s", drop true, status 503, retry_after "30s", expired true,
  body "html" | "truncated" | "cut" | "empty" | "wrong" | "large", size 1000000 (of "large"),
  content_type "text/plain", slow "10/1s" (bytes/pause), times 3
`
)

type admin struct {
	*Hub
	secret string
}

func (h *Hub) startAdmin() error {
	l, err := listen("127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("admin: %w", err)
	}
	a := &admin{Hub: h, secret: newToken()}
	h.adminURL = "http://" + l.Addr().String() + "/" + a.secret
	h.others = append(h.others, h.serve(l, h.trackRequests(a)))
	return nil
}

// ServeHTTP answers requests that include the secret.
func (a *admin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secret, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(secret), []byte(a.secret)) != 1 {
		notFound.write(w)
		return
	}
	answer, err := a.answer(r.Method, path, http.MaxBytesReader(w, r.Body, maxAdminBody))
	a.respond(w, r, answer, err)
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

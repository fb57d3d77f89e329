package hubtrial

import (
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/testutil/must"
)

const (
	pickyClient = "office"
	pickySecret = "a+b/c d%"
	usualScopes = "Basic P0boxadministrator orgCode:1234"
)

// picky is a hub that accepts credentials in only one form.
type picky struct {
	encoding, parameter, scopes string
	refusal                     int // status for other scopes
	field                       string
	tokens                      atomic.Int64
}

func (p *picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/identity/token":
		asked := p.tokens.Add(1)
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		id, value := pickyClient, pickySecret
		if p.encoding == "rfc6749" {
			id, value = url.QueryEscape(id), url.QueryEscape(value)
		}
		switch {
		case r.Header.Get("Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(id+":"+value)):
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":"invalid_client","error_description":"request %d"}`, asked)
		case form.Get(p.parameter) != p.scopes:
			w.WriteHeader(p.refusal)
			_, _ = io.WriteString(w, map[int]string{http.StatusBadRequest: `{"error":"invalid_scope"}`}[p.refusal])
		default:
			_, _ = io.WriteString(w, `{"access_token":"t","expires_in":300}`)
		}
	case "/contact/contacts/telephony":
		_, _ = io.WriteString(w, `{"data":{"items":[{"id":"c","`+p.field+`":"100200","achternaam":"Vries"}]}}`)
	}
}

// TestVariants checks that other values are tried, few and only where they may help, that those
// that work are returned, and that a failure is about the unchanged settings.
func TestVariants(t *testing.T) {
	usual := func() *picky {
		return &picky{encoding: "plain", parameter: "scopes", scopes: usualScopes, refusal: http.StatusBadRequest, field: "xrelatienummer"}
	}
	hub := func(change func(*picky)) *picky { p := usual(); change(p); return p }
	same := func(*Trial) {}
	fixed := func(x *Trial) { x.KeysToVary = nil }
	for name, c := range map[string]struct {
		hub    *picky
		change func(*Trial)
		better string
		failed string // the step that fails, and what the hub says
		tokens int64  // requested
	}{
		"as documented":        {usual(), same, "", "", 1},
		"encoded":              {hub(func(p *picky) { p.encoding = "rfc6749" }), same, "hub.basic_auth_encoding=rfc6749", "", 2},
		"back to plain":        {usual(), func(x *Trial) { x.Hub.BasicAuthEncoding = "rfc6749" }, "hub.basic_auth_encoding=plain", "", 2},
		"encoded, not to vary": {hub(func(p *picky) { p.encoding = "rfc6749" }), fixed, "", "token request 1 · invalid_client", 1},
		"the standard name":    {hub(func(p *picky) { p.parameter = "scope" }), same, "hub.scope_parameter=scope", "", 2},
		"back to its name":     {usual(), func(x *Trial) { x.Hub.ScopeParameter = "scope" }, "hub.scope_parameter=scopes", "", 2},
		"it breaks on a name":  {hub(func(p *picky) { p.parameter, p.refusal = "scope", 500 }), same, "hub.scope_parameter=scope", "", 3},
		"a name, not to vary":  {hub(func(p *picky) { p.parameter = "scope" }), fixed, "", "scopes invalid_scope", 1},
		"not understood":       {hub(func(p *picky) { p.parameter, p.refusal = "scope", 200 }), same, "", "token ", 1},
		"both": {hub(func(p *picky) { p.encoding, p.parameter = "rfc6749", "scope" }), same,
			"hub.basic_auth_encoding=rfc6749 hub.scope_parameter=scope", "", 4},
		"the usual scopes": {usual(), func(x *Trial) { x.Hub.ContactScopes = "Basic" },
			"hub.contact_scopes=" + settings.Defaults().Hub.ContactScopes, "", 3},
		"scopes, not to vary": {usual(), func(x *Trial) { x.Hub.ContactScopes, x.KeysToVary = "Basic", []string{"hub.scope_parameter"} },
			"", "scopes invalid_scope", 2},
		"nothing helps": {hub(func(p *picky) { p.scopes, p.encoding = "Other", "none" }), func(x *Trial) { x.Secret = "a+b" },
			"", "token request 1 · invalid_client", 4},
		"nothing to encode":    {usual(), func(x *Trial) { x.Secret = "aZ09-._~" }, "", "token request 1 · invalid_client", 2},
		"any field":            {usual(), func(x *Trial) { x.Hub.RelationField = "nummer" }, "hub.relation_number_field=", "", 2},
		"the right field":      {usual(), func(x *Trial) { x.Hub.RelationField = "xrelatienummer" }, "", "", 1},
		"no such field":        {hub(func(p *picky) { p.field = "x" }), func(x *Trial) { x.Hub.RelationField = "nummer" }, "", "", 2},
		"a field, not to vary": {usual(), func(x *Trial) { x.Hub.RelationField, x.KeysToVary = "nummer", nil }, "", "", 1},
		"nothing to deliver":   {usual(), func(x *Trial) { x.Hub.DeliveryScopes = "Deliver" }, "", "", 2},
		"no right to deliver": {usual(), func(x *Trial) { x.Hub.DeliveryScopes, x.Hub.Intermediary = "Deliver", "x" },
			"", "scopes invalid_scope", 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(c.hub)
			t.Cleanup(s.Close)
			set := settings.Defaults()
			set.Hub.BaseURL, set.Hub.HubURL, set.Hub.SecretStore = s.URL, s.URL, secret.KindFile
			set.Hub.ClientID, set.Hub.OrganisationCode = pickyClient, "1234"
			x := Trial{Dirs: must.Get(profile.Find(t.TempDir()))(t), Settings: set, Hub: set.Hub, Secret: pickySecret, Number: "0612345678",
				KeysToVary: []string{"hub.basic_auth_encoding", "hub.scope_parameter", "hub.contact_scopes", "hub.relation_number_field"}}
			c.change(&x)
			var last Step
			better, ok := x.Run(t.Context(), func(s Step) { last = s })
			var got []string
			for _, key := range slices.Sorted(maps.Keys(better)) {
				got = append(got, key+"="+better[key])
			}
			if strings.Join(got, " ") != c.better || ok != (c.failed == "") || c.hub.tokens.Load() != c.tokens {
				t.Errorf("%q, %v after %d requests", got, ok, c.hub.tokens.Load())
			}
			if !ok && last.Name+" "+last.HubMessage != c.failed || ok && (last.Found != 1 || last.Duration <= 0) {
				t.Errorf("%+v", last)
			}
		})
	}
}

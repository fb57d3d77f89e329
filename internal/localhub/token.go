package localhub

import (
	"cmp"
	"context"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

// The scopes in addition to orgCode:<organisation_code>.
const (
	scopeBasic     = "Basic"
	scopeMessages  = "P0boxadministrator"
	scopeOrgPrefix = "orgCode:"
)

const maxTokenBody = 16 << 10

type claims struct {
	jwt.RegisteredClaims
	Client       string `json:"client_id"`
	Scope        string `json:"scope"`
	Organisation string `json:"organisation_code"`
	// Secret identifies the client's secret for which the token was issued, without revealing it.
	Secret string `json:"secret_id"`
}

func (h *Hub) issueToken(w http.ResponseWriter, r *http.Request, _ client) (any, error) {
	h.stats.tokens.Add(1)
	w.Header().Set("Pragma", "no-cache")
	c, scopes, err := h.readTokenRequest(w, r)
	if err != nil {
		return nil, err
	}
	return h.grant(r.Context(), c, scopes)
}

func (h *Hub) readTokenRequest(w http.ResponseWriter, r *http.Request) (client, []string, error) {
	form, err := tokenForm(w, r)
	if err != nil {
		return client{}, nil, err
	}
	readings := basicCredentials(r)
	if len(readings) > 0 && form.Has("client_secret") {
		return client{}, nil, badToken("invalid_request", "credentials stand in the header and in the body")
	}
	c, known, err := h.authenticate(r.Context(), readings)
	switch grant := form.Get("grant_type"); {
	case err != nil:
		return client{}, nil, err
	case !known || h.faults.refused():
		w.Header().Set("WWW-Authenticate", `Basic realm="hub", charset="UTF-8"`)
		return client{}, nil, refuse(http.StatusUnauthorized, "invalid_client", "client id or secret is not right, or there is no Basic header")
	case grant == "":
		return client{}, nil, badToken("invalid_request", "grant_type is missing")
	case grant != "client_credentials":
		return client{}, nil, badToken("unsupported_grant_type", "grant_type is client_credentials")
	}
	scopes, err := scopesOf(form, c)
	return c, scopes, err
}

func badToken(code, about string) error { return refuse(http.StatusBadRequest, code, about) }

// tokenForm reads the fields of a token request, each allowed once in its body.
// The query is ignored.
func tokenForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, badToken("invalid_request", "the body is application/x-www-form-urlencoded")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxTokenBody)
	r.URL.RawQuery = "" // ParseForm would reject an invalid one
	if r.ParseForm() != nil {
		return nil, badToken("invalid_request", "the body is too long, incomplete or not form-encoded")
	}
	for _, v := range r.PostForm {
		if len(v) > 1 {
			return nil, badToken("invalid_request", "a field stands there twice")
		}
	}
	return r.PostForm, nil
}

func scopesOf(form url.Values, c client) ([]string, error) {
	if form.Has("scopes") && form.Has("scope") && form.Get("scopes") != form.Get("scope") {
		return nil, badToken("invalid_request", "scopes and scope differ")
	}
	scopes := strings.Fields(cmp.Or(form.Get("scopes"), form.Get("scope")))
	if len(scopes) == 0 {
		return nil, badToken("invalid_scope", "scopes are missing")
	}
	for _, s := range scopes {
		if s != scopeBasic && s != scopeMessages && s != scopeOrgPrefix+c.organisation {
			return nil, badToken("invalid_scope", "a scope is unknown or not this client's")
		}
	}
	return scopes, nil
}

func (h *Hub) grant(ctx context.Context, c client, scopes []string) (any, error) {
	now, left := h.now(), h.cfg.TokenLifetime
	if ctx.Value(expiredKey{}) != nil {
		now, left = now.Add(-left-time.Minute), 0
	}
	slices.Sort(scopes)
	scope := strings.Join(slices.Compact(scopes), " ")
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			ID: uuid.NewString(), Issuer: h.BaseURL(), Subject: c.id,
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(h.cfg.TokenLifetime)),
		},
		Client: c.id, Scope: scope, Organisation: c.organisation, Secret: c.secret,
	}).SignedString(h.jwtKey)
	return struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int64  `json:"expires_in"`
		Scope       string `json:"scope"`
	}{token, "Bearer", int64(left / time.Second), scope}, err
}

// bearerClient returns the client whose token came with a request. The token must be ours,
// unexpired, issued for the client's current secret, and include the scope.
func (h *Hub) bearerClient(w http.ResponseWriter, r *http.Request, scope string) (client, error) {
	challenge := func(more string) { w.Header().Set("WWW-Authenticate", `Bearer realm="hub"`+more) }
	kind, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
	if !found || !strings.EqualFold(kind, "Bearer") {
		challenge("")
		return client{}, refuse(http.StatusUnauthorized, "invalid_token", "a bearer token is missing")
	}
	var c claims
	_, err := jwt.ParseWithClaims(strings.TrimLeft(token, " "), &c, func(*jwt.Token) (any, error) { return h.jwtKey, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithExpirationRequired(), jwt.WithTimeFunc(h.now))
	live := false
	if err == nil && !h.faults.refused() {
		if live, err = h.tokenValid(r.Context(), &c); err != nil {
			return client{}, err
		}
	}
	if !live {
		challenge(`, error="invalid_token"`)
		return client{}, wrongToken
	}
	if !slices.Contains(strings.Fields(c.Scope), scope) {
		challenge(`, error="insufficient_scope", scope="` + scope + `"`)
		return client{}, refuse(http.StatusForbidden, "insufficient_scope", "the token lacks a scope")
	}
	return client{id: c.Client, organisation: c.Organisation}, nil
}

// tokenValid reports whether a token's client still exists, with the token's organisation
// and the secret it was issued for.
func (h *Hub) tokenValid(ctx context.Context, c *claims) (bool, error) {
	now, found, err := h.credential(ctx, c.Client)
	return found && now.organisation == c.Organisation && secretID(now.salt) == c.Secret, err
}

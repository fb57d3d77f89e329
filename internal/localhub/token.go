package localhub

import (
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

// The scopes beside orgCode:<organisation_code>.
const (
	scopeBasic     = "Basic"
	scopeMessages  = "P0boxadministrator"
	scopeOrgPrefix = "orgCode:"
)

const maxTokenBody = 16 << 10

// claims are what a token says.
type claims struct {
	jwt.RegisteredClaims
	Client       string `json:"client_id"`
	Scope        string `json:"scope"`
	Organisation string `json:"organisation_code"`
	// Secret names the client's secret that the token was given for, and tells
	// nothing of it.
	Secret string `json:"secret_id"`
}

// serveToken answers POST /identity/token.
func (h *Hub) serveToken(w http.ResponseWriter, r *http.Request) error {
	h.stats.tokens.Add(1)
	w.Header().Set("Pragma", "no-cache")
	c, scopes, err := h.readTokenRequest(w, r)
	if err != nil {
		return err
	}
	return h.grant(r.Context(), w, c, scopes)
}

func (h *Hub) readTokenRequest(w http.ResponseWriter, r *http.Request) (client, []string, error) {
	refuse := func(code, about string) (client, []string, error) {
		return client{}, nil, refuse(http.StatusBadRequest, code, about)
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return refuse("invalid_request", "the body is application/x-www-form-urlencoded")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxTokenBody))
	if err != nil {
		return refuse("invalid_request", "the body is too long or incomplete")
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return refuse("invalid_request", "the body is not form-encoded")
	}
	for _, v := range form {
		if len(v) > 1 {
			return refuse("invalid_request", "a field stands there twice")
		}
	}
	readings := basicCredentials(r.Header.Get("Authorization"))
	if len(readings) > 0 && form.Has("client_secret") {
		return refuse("invalid_request", "credentials stand in the header and in the body")
	}
	c, ok, err := h.authenticate(r.Context(), readings)
	if err != nil {
		return client{}, nil, err
	}
	if !ok || h.faults.refused() {
		w.Header().Set("WWW-Authenticate", `Basic realm="hub", charset="UTF-8"`)
		return client{}, nil, unauthorized("invalid_client", "client id or secret is not right, or there is no Basic header")
	}
	switch form.Get("grant_type") {
	case "client_credentials":
	case "":
		return refuse("invalid_request", "grant_type is missing")
	default:
		return refuse("unsupported_grant_type", "grant_type is client_credentials")
	}
	scopes, err := scopesOf(form, c)
	return c, scopes, err
}

// scopesOf are the scopes that a client asks for.
func scopesOf(form url.Values, c client) ([]string, error) {
	if form.Has("scopes") && form.Has("scope") && form.Get("scopes") != form.Get("scope") {
		return nil, refuse(http.StatusBadRequest, "invalid_request", "scopes and scope differ")
	}
	scopes := strings.Fields(form.Get("scopes"))
	if !form.Has("scopes") {
		scopes = strings.Fields(form.Get("scope"))
	}
	if len(scopes) == 0 {
		return nil, refuse(http.StatusBadRequest, "invalid_scope", "scopes are missing")
	}
	for _, s := range scopes {
		if s != scopeBasic && s != scopeMessages && s != scopeOrgPrefix+c.organisation {
			return nil, refuse(http.StatusBadRequest, "invalid_scope", "a scope is unknown or not this client's")
		}
	}
	return scopes, nil
}

func unauthorized(code, about string) error { return refuse(http.StatusUnauthorized, code, about) }

func (h *Hub) grant(ctx context.Context, w http.ResponseWriter, c client, scopes []string) error {
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
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int64  `json:"expires_in"`
		Scope       string `json:"scope"`
	}{token, "Bearer", int64(left / time.Second), scope})
	return nil
}

// bearer lets a request through whose token is ours, alive, given for the secret
// that its client has now, and has the scope.
func (h *Hub) bearer(scope string, next func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithExpirationRequired(), jwt.WithTimeFunc(h.now))
	key := func(*jwt.Token) (any, error) { return h.jwtKey, nil }
	return func(w http.ResponseWriter, r *http.Request) error {
		kind, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
		if !found || !strings.EqualFold(kind, "Bearer") {
			w.Header().Set("WWW-Authenticate", `Bearer realm="hub"`)
			return unauthorized("invalid_token", "a bearer token is missing")
		}
		var c claims
		_, err := parser.ParseWithClaims(strings.TrimLeft(token, " "), &c, key)
		live := false
		if err == nil && !h.faults.refused() {
			if live, err = h.live(r.Context(), &c); err != nil {
				return err
			}
		}
		if !live {
			w.Header().Set("WWW-Authenticate", `Bearer realm="hub", error="invalid_token"`)
			return unauthorized("invalid_token", "the token is not valid, or no longer")
		}
		if !slices.Contains(strings.Fields(c.Scope), scope) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="hub", error="insufficient_scope", scope="`+scope+`"`)
			return refuse(http.StatusForbidden, "insufficient_scope", "the token lacks a scope")
		}
		return next(w, r.WithContext(context.WithValue(r.Context(), senderKey{}, client{id: c.Client, organisation: c.Organisation})))
	}
}

type senderKey struct{}

// senderOf is the client whose token came with a request that bearer let
// through.
func senderOf(ctx context.Context) client {
	c, _ := ctx.Value(senderKey{}).(client)
	return c
}

// live reports whether the client of a token is still there, of the organisation
// that the token names and with the secret that it was given for.
func (h *Hub) live(ctx context.Context, c *claims) (bool, error) {
	now, found, err := h.credential(ctx, c.Client)
	return found && now.organisation == c.Organisation && secretID(now.salt) == c.Secret, err
}

package localhub

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/store/sqlitefile"
	"wiebelt/internal/text"
)

// AddClient creates an OAuth client of an organisation and returns its secret, which is
// stored only as a hash and cannot be retrieved again. An existing client of that name gets
// the new secret and organisation.
func (d *Data) AddClient(ctx context.Context, id, organisationCode string) (secret string, err error) {
	secret = newToken()
	return secret, d.SetClientSecret(ctx, id, organisationCode, secret)
}

// SetClientSecret is AddClient with a given secret, for tests. A fast hash protects
// AddClient's secrets, which have 256 random bits; one made up by a person is protected less.
func (d *Data) SetClientSecret(ctx context.Context, id, organisationCode, secret string) error {
	switch {
	case id == "" || len(id) > 200 || strings.Contains(id, ":") || !printable(id):
		return text.Errorf(text.LocalhubBadClientID)
	case organisationCode == "" || len(organisationCode) > 100 || !scopeToken(organisationCode):
		return text.Errorf(text.LocalhubBadCode)
	case secret == "" || len(secret) > 1000 || !printable(secret):
		return text.Errorf(text.LocalhubBadSecret)
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt)
	return d.change(ctx, "clients", nil, `INSERT INTO clients (id, organisation, salt, hash, made) VALUES (?1, ?2, ?3, ?4, ?5)
 ON CONFLICT DO UPDATE SET organisation = ?2, salt = ?3, hash = ?4, made = ?5`, id, organisationCode, salt, hashSecret(salt, secret), d.now().UnixMilli())
}

// Client is an OAuth client, without its secret.
type Client struct {
	ID               string     `json:"id"`
	OrganisationCode string     `json:"organisation_code"`
	Made             *time.Time `json:"made"` // when it got its secret, in UTC; nil if unknown
}

// ErrNoClient reports that there is no client of that name.
var ErrNoClient = text.Errorf(text.OutputHubNoClient)

// Clients returns all clients ordered by name, never nil.
func (d *Data) Clients(ctx context.Context) ([]Client, error) {
	return d.clients(ctx, "ORDER BY id")
}

// Client returns the client of that name, or ErrNoClient.
func (d *Data) Client(ctx context.Context, id string) (Client, error) {
	found, err := d.clients(ctx, "WHERE id = ?", id)
	if err != nil || len(found) == 0 {
		return Client{}, cmp.Or(err, error(ErrNoClient))
	}
	return found[0], nil
}

func (d *Data) clients(ctx context.Context, which string, args ...any) ([]Client, error) {
	return collectRows("clients", func(row sqlitefile.Row) (c Client, err error) {
		var ms int64
		if err = row.Scan(&c.ID, &c.OrganisationCode, &ms); ms > 0 {
			made := time.UnixMilli(ms).UTC()
			c.Made = &made
		}
		return c, err
	})(d.readDB.QueryContext(ctx, "SELECT id, organisation, made FROM clients "+which, args...))
}

// RotateClient replaces a client's secret and returns the new one. The old one is no longer
// accepted, and tokens issued for it become invalid at once.
func (d *Data) RotateClient(ctx context.Context, id string) (secret string, err error) {
	c, err := d.Client(ctx, id)
	if err != nil {
		return "", err
	}
	return d.AddClient(ctx, id, c.OrganisationCode)
}

// RemoveClient removes a client; its tokens become invalid at once.
func (d *Data) RemoveClient(ctx context.Context, id string) error {
	return d.change(ctx, "clients", ErrNoClient, "DELETE FROM clients WHERE id = ?", id)
}

type credential struct {
	organisation string
	salt, hash   []byte
}

func (d *Data) credential(ctx context.Context, id string) (c credential, found bool, err error) {
	err = d.findCredential.QueryRowContext(ctx, id).Scan(&c.organisation, &c.salt, &c.hash)
	if errors.Is(err, sql.ErrNoRows) {
		return c, false, nil
	}
	return c, err == nil, wrapError("clients", err)
}

func hashSecret(salt []byte, secret string) []byte {
	sum := sha256.Sum256(slices.Concat(salt, []byte(secret)))
	return sum[:]
}

// secretID identifies a secret by its salt, which is unique.
func secretID(salt []byte) string {
	return base64.RawURLEncoding.EncodeToString(hashSecret(salt, ""))[:16]
}

// client is the client that requested a token, with the secret it used.
type client struct{ id, organisation, secret string }

func (h *Hub) authenticate(ctx context.Context, readings []credentials) (client, bool, error) {
	for _, said := range readings {
		c, known, err := h.credential(ctx, said.id)
		if err != nil {
			return client{}, false, err
		}
		if !known {
			c.salt, c.hash = make([]byte, 16), make([]byte, sha256.Size) // the same work as for a known one
		}
		if subtle.ConstantTimeCompare(hashSecret(c.salt, said.secret), c.hash) == 1 && known {
			return client{said.id, c.organisation, secretID(c.salt)}, true, nil
		}
	}
	return client{}, false, nil
}

type credentials struct{ id, secret string }

// basicCredentials reads a request's credentials in every possible way: literally, and
// form-encoded inside (RFC 6749 2.3.1). None means that they are unreadable.
func basicCredentials(r *http.Request) []credentials {
	id, secret, ok := r.BasicAuth()
	if !ok || id == "" || !printable(id) || !printable(secret) {
		return nil
	}
	all := []credentials{{id, secret}}
	id2, err1 := url.QueryUnescape(id)
	secret2, err2 := url.QueryUnescape(secret)
	if err1 == nil && err2 == nil && (id2 != id || secret2 != secret) && id2 != "" && printable(id2) && printable(secret2) {
		all = append(all, credentials{id2, secret2})
	}
	return all
}

// printable reports whether s is valid text without invisible control characters.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, displaytext.IsHidden)
}

// scopeToken reports whether s is valid in a scope (RFC 6749 3.3).
func scopeToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= 0x20 || r >= 0x7f || r == '"' || r == '\\' })
}

package localhub

import (
	"context"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/crypto/bcrypt"
)

func init() { hashCost = bcrypt.MinCost }

// What tests outside the package may reach.

// DemoPassword is the demo user's.
const DemoPassword = demoPassword

// Exec runs a statement.
func (h *Hub) Exec(statement string, args ...any) error {
	_, err := h.w.ExecContext(context.Background(), statement, args...)
	return err
}

// Sign makes a token with the hub's key, or another.
func (h *Hub) Sign(method jwt.SigningMethod, key any, client, organisation, scope string, expires *time.Time) (string, error) {
	c := claims{Client: client, Organisation: organisation, Scope: scope}
	if known, found, err := h.credential(context.Background(), client); err == nil && found {
		c.Secret = secretID(known.salt)
	}
	if expires != nil {
		c.ExpiresAt = jwt.NewNumericDate(*expires)
	}
	if key == nil {
		key = h.jwtKey
	}
	return jwt.NewWithClaims(method, c).SignedString(key)
}

// Uploads is how many deliveries are being taken of each client.
func (h *Hub) Uploads() map[string]int {
	h.uploads.mu.Lock()
	defer h.uploads.mu.Unlock()
	return maps.Clone(h.uploads.of)
}

// Contact gives what is stored of a contact.
func (d *Data) Contact(ctx context.Context, id string) (r Record, found bool, err error) {
	r, _, found, err = d.byID(ctx, id)
	return r, found, err
}

// Dir is the folder.
func (d *Data) Dir() string { return d.dir }

// Number gives the one number that a query asks for.
func (d *Data) Number(ctx context.Context, query string) (n int, err error) {
	err = d.r.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

// Intact reports whether SQLite finds the database whole.
func (d *Data) Intact(ctx context.Context) (ok bool, err error) {
	var said string
	err = d.r.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&said)
	return said == "ok", err
}

// SetGrace sets how long requests under way get when the hub ends. The last
// answers get no time of their own.
func (h *Hub) SetGrace(d time.Duration) { h.grace, h.last = d, time.Millisecond }

// SetReadTime sets how long reading a request may take and gives a function
// that takes it back. No hub may be starting meanwhile.
func SetReadTime(d time.Duration) (back func()) {
	old := readTime
	readTime = d
	return func() { readTime = old }
}

// Secure reports whether cookies are for https only.
func (h *Hub) Secure() bool { return h.secure() }

// PlaceOf is where a hub with these settings would be reached, had it been
// given that address.
func PlaceOf(c Config, given string) (url string, takes func(host string) bool, err error) {
	p, err := c.withDefaults().place()
	if err != nil {
		return "", nil, err
	}
	p.onPort(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(given)))
	return p.url, p.takes, nil
}

// Describe is the description of a hub's interfaces.
var Describe = describe

// RelationField is the JSON name of the relation number.
func (h *Hub) RelationField() string { return h.cfg.RelationField }

// Handler answers requests that come by no connection.
func (h *Hub) Handler() http.Handler { return h.handler }

// SetLoopback makes the hub one that others can reach, as far as its pages say.
func (h *Hub) SetLoopback(is bool) { h.place.loopback = is }

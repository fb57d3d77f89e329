package localhub

import (
	"context"
	"maps"
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

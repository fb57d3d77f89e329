package localhub

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"

	"wiebelt/internal/store/sqlitefile"
	"wiebelt/internal/text"
)

// SessionLife is how long a login lasts, however busy the user is.
const SessionLife = 10 * time.Hour

// The demo's user. It exists only in demo hubs, whose contacts are invented and which
// listen on loopback; its password is shown on the login page.
const (
	DemoUser     = "demo"
	demoPassword = "oefenen-met-wiebelt"
)

// hashCost is bcrypt's cost; tests lower it, since a password takes a second
// with the race detector.
var hashCost = bcrypt.DefaultCost

const maxPassword = 72 // the limit of bcrypt

// AddUser creates a user of the hub's pages, or changes an existing one's password and
// rank. Names are not case-sensitive. A password has 8 to 72 bytes.
func (d *Data) AddUser(ctx context.Context, name, password string, admin bool) error {
	name = normaliseName(name)
	if name == "" || len(name) > 100 || !printable(name) {
		return text.Errorf(text.LocalhubBadUserName)
	}
	if len(password) < 8 || len(password) > maxPassword {
		return text.Errorf(text.LocalhubBadPassword)
	}
	return d.putUser(ctx, name, password, hashCost, admin)
}

// putUser stores a user and ends their existing sessions.
func (d *Data) putUser(ctx context.Context, name, password string, cost int, admin bool) error {
	hash, err := bcrypt.GenerateFromPassword([]byte(password), cost)
	if err != nil {
		return wrapError("users", err)
	}
	return wrapError("users", sqlitefile.Tx(ctx, d.writeDB, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO users (name, hash, admin) VALUES (?1, ?2, ?3)
 ON CONFLICT DO UPDATE SET hash = ?2, admin = ?3`, name, hash, admin); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE user = ?", name)
		return err
	}))
}

// User is a user of the hub's pages; without a name, nobody is logged in.
type User struct {
	Name  string `json:"name"`
	Admin bool   `json:"admin"` // may see the message box
}

// ErrNoUser reports that there is no user of that name.
var ErrNoUser = text.Errorf(text.OutputHubNoUser)

// Users returns all users ordered by name.
func (d *Data) Users(ctx context.Context) ([]User, error) {
	return collectRows("users", func(row sqlitefile.Row) (u User, err error) {
		return u, row.Scan(&u.Name, &u.Admin)
	})(d.readDB.QueryContext(ctx, "SELECT name, admin FROM users ORDER BY name"))
}

// RemoveUser removes a user and ends their sessions.
func (d *Data) RemoveUser(ctx context.Context, name string) error {
	return d.change(ctx, "users", ErrNoUser, "DELETE FROM users WHERE name = ?", normaliseName(name))
}

// userHash returns a user's hash, nil if there is no such user.
func (d *Data) userHash(ctx context.Context, name string) (hash []byte, err error) {
	err = d.readDB.QueryRowContext(ctx, "SELECT hash FROM users WHERE name = ?", name).Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return hash, wrapError("users", err)
}

func normaliseName(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// dummyHash is the hash to compare with if there is no
// such user, so that the response time reveals nothing.
var dummyHash = sync.OnceValue(func() []byte {
	hash, _ := bcrypt.GenerateFromPassword([]byte(rand.Text()), hashCost) // only longer ones fail
	return hash
})

// errBusy reports that more passwords are being tried than can be checked soon.
var errBusy = errors.New("local hub: too many passwords at one time")

// How many passwords are hashed concurrently, and how many more may wait: about a second.
const (
	maxHashing     = 2
	maxHashWaiting = 20
)

// logins protects the passwords.
type logins struct {
	guard       guard
	waiting     chan struct{} // slots for waiting and hashing
	hashing     chan struct{} // slots for hashing
	verified    sync.Map      // passwords that were correct since the start, as HMACs
	verifiedKey []byte        // never on disk
}

// checkPassword reports whether the password is the user's, or returns errBusy. A password
// that was correct since the start is accepted at once, so that a flood of wrong ones
// does not keep out those who have logged in with it.
func (h *Hub) checkPassword(ctx context.Context, name, password string) (bool, error) {
	m := hmac.New(sha256.New, h.verifiedKey)
	m.Write([]byte(name + "\x00" + password))
	mark := [sha256.Size]byte(m.Sum(nil))
	hash, err := h.userHash(ctx, name)
	if err != nil {
		return false, err
	}
	unknown := hash == nil
	if before, was := h.verified.Load(mark); was && before == string(hash) { // still the same password
		return true, nil
	}
	select {
	case h.waiting <- struct{}{}:
		defer func() { <-h.waiting }()
	default:
		return false, errBusy
	}
	select {
	case h.hashing <- struct{}{}:
		defer func() { <-h.hashing }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if unknown {
		hash = dummyHash()
	}
	fits := bcrypt.CompareHashAndPassword(hash, []byte(password)) == nil && !unknown && len(password) <= maxPassword
	if fits {
		h.verified.Store(mark, string(hash))
	}
	return fits, nil
}

// Cookie names include the port: browsers store cookies by host, not by port, and two hubs
// may run on one computer.
func (h *Hub) cookieName(kind string) string {
	_, port, _ := net.SplitHostPort(h.addr)
	return "hub_" + kind + "_" + port
}

func (h *Hub) setCookie(w http.ResponseWriter, kind, value string, life time.Duration) {
	c := &http.Cookie{
		Name: h.cookieName(kind), Value: value, Path: "/", HttpOnly: true, Secure: h.secure(),
		// Lax, not Strict: the deep link is opened from other programs.
		SameSite: http.SameSiteLaxMode, MaxAge: int(life / time.Second),
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// cookie returns the value of one of our cookies, "" if there is no valid one.
func (h *Hub) cookie(r *http.Request, kind string) string {
	c, err := r.Cookie(h.cookieName(kind))
	if err != nil || len(c.Value) != tokenLength {
		return ""
	}
	return c.Value
}

const tokenLength = 43 // 32 bytes in base64

func newToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// tokenHash returns the form of a token in the database, which cannot be used to log in.
func tokenHash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// beginSession logs a user in. It never adopts a token sent with the request.
func (h *Hub) beginSession(ctx context.Context, w http.ResponseWriter, user string) error {
	token := newToken()
	now := h.now()
	err := sqlitefile.Tx(ctx, h.writeDB, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE began < ?", now.Add(-SessionLife).UnixMilli()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO sessions VALUES (?, ?, ?)", tokenHash(token), user, now.UnixMilli())
		return err
	})
	if err != nil {
		return wrapError("session", err)
	}
	h.setCookie(w, "session", token, SessionLife)
	h.setCookie(w, "known", h.knownToken(user), knownLife)
	return nil
}

// knownLife is how long a browser is known for a user after a login.
const knownLife = 90 * 24 * time.Hour

// isKnown reports whether the user has logged in with the request's
// browser before. This gives no access, but such browsers have further
// tries, which those who guess from other browsers cannot use up.
func (h *Hub) isKnown(r *http.Request, user string) bool {
	return hmac.Equal([]byte(h.cookie(r, "known")), []byte(h.knownToken(user)))
}

func (h *Hub) knownToken(user string) string {
	m := hmac.New(sha256.New, h.knownKey)
	m.Write([]byte(user))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// visitor returns who is logged in. A login lasts exactly SessionLife;
// one that starts more than a minute in the future is invalid.
func (h *Hub) visitor(r *http.Request) (who User, err error) {
	token, ms := h.cookie(r, "session"), int64(0)
	if token == "" {
		return User{}, nil
	}
	err = h.readDB.QueryRowContext(r.Context(), `SELECT u.name, u.admin, s.began FROM sessions s JOIN users u ON u.name = s.user
 WHERE s.token = ?`, tokenHash(token)).Scan(&who.Name, &who.Admin, &ms)
	age := h.now().Sub(time.UnixMilli(ms))
	if errors.Is(err, sql.ErrNoRows) || err == nil && (age >= SessionLife || age < -time.Minute) {
		return User{}, nil
	}
	return who, wrapError("session", err)
}

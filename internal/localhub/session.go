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

// The demo's user. It exists in demo hubs only, whose contacts are invented and
// which listen on loopback, and its password stands on the login page.
const (
	DemoUser     = "demo"
	demoPassword = "oefenen-met-wiebelt"
)

// hashCost is bcrypt's; tests lower it, since with the race detector a password
// takes a second.
var hashCost = bcrypt.DefaultCost

const maxPassword = 72 // what bcrypt looks at

// AddUser makes a user of the hub's pages, or gives one another password and
// rank. The name's case does not matter. A password has 8 to 72 bytes.
func (d *Data) AddUser(ctx context.Context, name, password string, admin bool) error {
	name = userName(name)
	if name == "" || len(name) > 100 || !printable(name) {
		return text.Errorf(text.LocalhubBadUserName)
	}
	if len(password) < 8 || len(password) > maxPassword {
		return text.Errorf(text.LocalhubBadPassword)
	}
	return d.putUser(ctx, name, password, hashCost, admin)
}

// putUser stores a user; another password ends the sessions begun with the old
// one.
func (d *Data) putUser(ctx context.Context, name, password string, cost int, admin bool) error {
	hash, err := bcrypt.GenerateFromPassword([]byte(password), cost)
	if err != nil {
		return failed("users", err)
	}
	return failed("users", sqlitefile.Tx(ctx, d.w, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO users (name, hash, admin) VALUES (?1, ?2, ?3)
 ON CONFLICT DO UPDATE SET hash = ?2, admin = ?3`, name, hash, admin); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE user = ?", name)
		return err
	}))
}

// User is a user of the hub's pages; without a name nobody is.
type User struct {
	Name  string `json:"name"`
	Admin bool   `json:"admin"` // sees the message box
}

// ErrNoUser means that there is no user of that name.
var ErrNoUser = text.Errorf(text.OutputHubNoUser)

// Users gives all users by name.
func (d *Data) Users(ctx context.Context) ([]User, error) {
	return collect("users", func(row sqlitefile.Row) (u User, err error) {
		return u, row.Scan(&u.Name, &u.Admin)
	})(d.r.QueryContext(ctx, "SELECT name, admin FROM users ORDER BY name"))
}

// RemoveUser removes a user and ends the user's sessions.
func (d *Data) RemoveUser(ctx context.Context, name string) error {
	return d.change(ctx, "users", ErrNoUser, "DELETE FROM users WHERE name = ?", userName(name))
}

// userHash is nil if there is no such user.
func (d *Data) userHash(ctx context.Context, name string) (hash []byte, err error) {
	err = d.r.QueryRowContext(ctx, "SELECT hash FROM users WHERE name = ?", name).Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return hash, failed("users", err)
}

func userName(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// noUser is compared with when there is no such user, so that the time taken
// does not tell.
var noUser = sync.OnceValue(func() []byte {
	hash, _ := bcrypt.GenerateFromPassword([]byte(rand.Text()), hashCost) // fails at longer ones
	return hash
})

// errBusy means that more passwords are tried than there is time to look at.
var errBusy = errors.New("local hub: too many passwords at one time")

// Passwords hashed at one time, and those that may wait for it.
const (
	hashedAtOnce = 2
	hashWaiting  = 8
)

// logins throttles those who guess passwords.
type logins struct {
	limits *limiter
	// Passwords that are being looked at, of browsers that are known for a user and
	// of others; and those that were right since the start, as HMACs by a key that
	// no disk has seen.
	known, strangers hashQueue
	right            sync.Map
	rightKey         []byte
}

// hashQueue are the places of those whose password is hashed and of those who wait.
type hashQueue struct{ waiting, hashing chan struct{} }

func newLogins() *logins {
	return &logins{limits: newLimiter(), known: newHashQueue(), strangers: newHashQueue(), rightKey: []byte(newToken())}
}

func newHashQueue() hashQueue {
	return hashQueue{make(chan struct{}, hashedAtOnce+hashWaiting), make(chan struct{}, hashedAtOnce)}
}

// checkPassword reports whether the password is the user's. Few are looked at one
// time and few wait (errBusy); browsers that the user has logged in with (known)
// have places of their own. A password that was right before is right at once, so
// that a flood of wrong ones keeps nobody waiting who knows it.
func (h *Hub) checkPassword(ctx context.Context, name, password string, known bool) (bool, error) {
	m := hmac.New(sha256.New, h.rightKey)
	m.Write([]byte(name + "\x00" + password))
	mark := [sha256.Size]byte(m.Sum(nil))
	before, wasRight := h.right.Load(mark)
	if !wasRight { // the database, too, is for those who have a place
		t := h.strangers
		if known {
			t = h.known
		}
		select {
		case t.waiting <- struct{}{}:
			defer func() { <-t.waiting }()
		default:
			return false, errBusy
		}
		select {
		case t.hashing <- struct{}{}:
			defer func() { <-t.hashing }()
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	hash, err := h.userHash(ctx, name)
	if err != nil {
		return false, err
	}
	unknown := hash == nil
	if wasRight && before == string(hash) { // the same password still
		return true, nil
	}
	if unknown {
		hash = noUser()
	}
	fits := bcrypt.CompareHashAndPassword(hash, []byte(password)) == nil && !unknown && len(password) <= maxPassword
	h.right.Delete(mark)
	if fits {
		h.right.Store(mark, string(hash))
	}
	return fits, nil
}

// Cookies carry the port in their names: browsers keep cookies by host, not by
// port, and two hubs may run on one computer.
func (h *Hub) cookieName(kind string) string {
	_, port, _ := net.SplitHostPort(h.addr)
	return "hub_" + kind + "_" + port
}

func (h *Hub) setCookie(w http.ResponseWriter, kind, value string, life time.Duration) {
	c := &http.Cookie{
		Name: h.cookieName(kind), Value: value, Path: "/", HttpOnly: true, Secure: h.secure(),
		// Lax, not Strict: the deep link is followed from other programs.
		SameSite: http.SameSiteLaxMode, MaxAge: int(life / time.Second),
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// cookie gives the value of a cookie of ours, "" if there is none that could
// be.
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

// stored is what the database knows of a token: who reads it cannot log in.
func stored(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// begin logs a user in. A token that came with the request is never taken over.
func (h *Hub) begin(ctx context.Context, w http.ResponseWriter, user string) error {
	token := newToken()
	now := h.now()
	err := sqlitefile.Tx(ctx, h.w, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE began < ?", now.Add(-SessionLife).UnixMilli()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO sessions VALUES (?, ?, ?)", stored(token), user, now.UnixMilli())
		return err
	})
	if err != nil {
		return failed("session", err)
	}
	h.setCookie(w, "session", token, SessionLife)
	h.setCookie(w, "known", h.knownToken(user), knownLife)
	return nil
}

// knownLife is how long a browser is known for a user after a login.
const knownLife = 90 * 24 * time.Hour

// isKnown reports whether the user has logged in with the browser of a request
// before. It opens nothing: such a browser has tries of its own, that others who
// try the name cannot use up.
func (h *Hub) isKnown(r *http.Request, user string) bool {
	return hmac.Equal([]byte(h.cookie(r, "known")), []byte(h.knownToken(user)))
}

func (h *Hub) knownToken(user string) string {
	m := hmac.New(sha256.New, h.knownKey)
	m.Write([]byte(user))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// visitor gives who is logged in. A login lasts exactly SessionLife; one that
// began in the future is not believed.
func (h *Hub) visitor(r *http.Request) (visitor, error) {
	who, ms := visitor{token: h.cookie(r, "session")}, int64(0)
	if who.token == "" {
		return visitor{}, nil
	}
	err := h.r.QueryRowContext(r.Context(), `SELECT u.name, u.admin, s.began FROM sessions s JOIN users u ON u.name = s.user
 WHERE s.token = ?`, stored(who.token)).Scan(&who.Name, &who.Admin, &ms)
	age := h.now().Sub(time.UnixMilli(ms))
	if errors.Is(err, sql.ErrNoRows) || err == nil && (age >= SessionLife || age < -time.Minute) {
		return visitor{}, nil
	}
	return who, failed("session", err)
}

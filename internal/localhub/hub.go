package localhub

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/bcrypt"

	"wiebelt/internal/text"
)

// DefaultRelationField is the JSON name of the relation number in the Contact API.
const DefaultRelationField = "backofficerelatienummer"

// DefaultIntermediary is the recipient of messages if none is
// configured. The interface's documentation uses a neutral word for it.
const DefaultIntermediary = "intermediary"

// Config configures a hub. The zero value is an empty hub in a temporary folder, on a free port
// of a loopback address of its own.
//
// Listen determines who can reach it. A loopback address needs nothing else. Any other
// needs a certificate, or AllowNetwork, and cannot be a demo, whose password is shown on
// its login page. The certificate is read once, at Start.
type Config struct {
	Dir            string           // folder of the database; "" is a temporary one, removed by Close
	Listen         string           // literal address and port; "" is a free port on loopback
	TLSCert        string           // PEM file of the certificate with its chain; with TLSKey it enables https
	TLSKey         string           // PEM file of its key
	PublicHost     string           // name or address in {base_url}, without a port; "" is the certificate's first name, or Listen's address
	AllowNetwork   bool             // plain http on a non-loopback address
	Admin          bool             // serve the admin interface, see AdminURL
	Synthetic      int              // number of invented contacts to add to a database without any
	Seed           uint64           // of the invented contacts; 0 is 1
	Demo           bool             // the login page shows and fills in its user; only synthetic contacts
	Intermediaries []string         // accepted recipients of messages; none: DefaultIntermediary
	RelationField  string           // JSON name of the relation number; "" is DefaultRelationField
	BackOfficeURL  string           // click-through, with {relation} for the relation number; "" is a page of the hub itself
	TokenLifetime  time.Duration    // whole seconds up to a day; 0 is an hour
	Log            *slog.Logger     // nil: silent
	Now            func() time.Time // nil: time.Now
}

// Hub is a running hub. It is safe for concurrent use.
type Hub struct {
	*Data
	server
	*logins
	cfg       Config
	faults    *Faults
	adminURL  string
	uploads   sync.Map // slots for deliveries in progress, by client
	jwtKey    []byte
	knownKey  []byte
	stats     counters
	closeOnce sync.Once
	closeErr  error
}

// Stats counts requests that reached the part they asked for, and those hit by a fault.
type Stats struct {
	Tokens   int64 `json:"tokens"`   // token requests
	Lookups  int64 `json:"lookups"`  // contact lookups
	Messages int64 `json:"messages"` // delivery requests
	Files    int64 `json:"files"`    // customer files shown to a logged-in user
	Faults   int64 `json:"faults"`   // requests that were broken on purpose
}

type counters struct{ tokens, lookups, messages, files atomic.Int64 }

// Start opens the database, fills it if requested, and listens. When Start
// returns, the hub is answering, until Close or the end of ctx. The error
// is ErrNotLoopback if the address needs a certificate and there is none.
func Start(ctx context.Context, cfg Config) (*Hub, error) {
	cfg = cfg.withDefaults()
	where, err := cfg.origin()
	if err := cmp.Or(cfg.check(), err); err != nil {
		return nil, SettingError{err}
	}
	if err := where.loadCertificate(cfg); err != nil { // its files may be corrected later
		return nil, err
	}
	h := &Hub{cfg: cfg}
	h.logins = &logins{
		guard: guard{all: map[guesser]guesses{}}, verifiedKey: []byte(newToken()),
		waiting: make(chan struct{}, maxHashing+maxHashWaiting), hashing: make(chan struct{}, maxHashing),
	}
	h.faults = &Faults{hub: &h.server, active: map[Endpoint][]Fault{}, waiting: map[Endpoint]int{}}
	h.prepareServer(ctx, where, cfg.Log)
	if err := h.open(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	context.AfterFunc(h.lifeCtx, func() { _ = h.Close() })
	h.log.Info("local hub ready", "address", h.addr, "tls", h.secure(), "demo", cfg.Demo)
	return h, nil
}

// open is the part of Start that can fail; Close undoes it.
func (h *Hub) open(ctx context.Context) error {
	var err error
	if h.Data, err = openData(ctx, h.cfg.Dir); err != nil {
		return err
	}
	h.demo, h.now = h.cfg.Demo, h.cfg.Now
	if err := h.claimFolder(ctx); err != nil {
		return err
	}
	if err := h.prepare(ctx); err != nil {
		return err
	}
	h.handler = h.trackRequests(h.routes())
	if err := h.listen(h.cfg.Listen); err != nil {
		return err
	}
	if h.cfg.Admin {
		return h.startAdmin()
	}
	return nil
}

func (c Config) withDefaults() Config {
	if c.Listen == "" && c.TLSCert == "" { // without https, the address separates hubs
		c.Listen = randomLoopback()
	}
	c.Listen = cmp.Or(c.Listen, "127.0.0.1:0")
	c.Seed = cmp.Or(c.Seed, 1)
	c.RelationField = cmp.Or(c.RelationField, DefaultRelationField)
	if len(c.Intermediaries) == 0 {
		c.Intermediaries = []string{DefaultIntermediary}
	}
	c.TokenLifetime = cmp.Or(c.TokenLifetime, time.Hour)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// SettingError reports that the hub cannot run with its Config on any computer.
type SettingError struct{ error }

func (e SettingError) Unwrap() error { return e.error }

// check rejects settings that could only fail later.
func (c Config) check() error {
	if c.Synthetic < 0 || c.Synthetic > maxSynthetic {
		return text.Errorf(text.LocalhubBadSynthetic, maxSynthetic)
	}
	if c.TokenLifetime < time.Second || c.TokenLifetime > 24*time.Hour {
		return text.Errorf(text.LocalhubBadTokenLife)
	}
	for _, i := range c.Intermediaries {
		if !validID(i) {
			return text.Errorf(text.LocalhubBadIntermediary)
		}
	}
	if len(c.RelationField) > 100 || !printable(c.RelationField) || slices.Contains(contactFields, c.RelationField) {
		return text.Errorf(text.LocalhubBadRelation)
	}
	return checkBackOffice(c.BackOfficeURL)
}

const maxSynthetic = 5_000_000

// contactFields are the other names in an answer of the Contact API.
var contactFields = []string{"id", "voorletters", "achternaam", "voorvoegsel", "woonadres", "producent", "laatstGewijzigdDoor", "link"}

// checkBackOffice ensures that the click-through leads to a program or a page, and never
// runs inside one of our pages.
func checkBackOffice(raw string) error {
	if raw == "" {
		return nil
	}
	u, err := url.Parse(strings.ReplaceAll(raw, "{relation}", "1"))
	if err != nil || len(raw) > 2000 || !printable(raw) || !strings.Contains(raw, "{relation}") || u.Scheme == "" ||
		slices.Contains([]string{"javascript", "data", "vbscript", "blob", "about"}, u.Scheme) {
		return text.Errorf(text.LocalhubBadBackOffice)
	}
	return nil
}

func (h *Hub) prepare(ctx context.Context) error {
	var err error
	if h.jwtKey, err = h.key(ctx, "jwt"); err != nil {
		return err
	}
	if h.knownKey, err = h.key(ctx, "known"); err != nil {
		return err
	}
	if h.cfg.Synthetic > 0 {
		if err := h.fill(ctx, Synthetic(h.cfg.Seed, h.cfg.Synthetic)); err != nil {
			return err
		}
	}
	if !h.cfg.Demo {
		return h.removeDemoUser(ctx)
	}
	real, err := h.has(ctx, h.readDB, "SELECT 1 FROM contacts WHERE invented = 0")
	if err != nil {
		return wrapError("database", err)
	}
	if real {
		return text.Errorf(text.LocalhubBadDemoReal)
	}
	// Everybody knows the password: an expensive hash would protect nothing.
	return h.putUser(ctx, DemoUser, demoPassword, bcrypt.MinCost, true)
}

// removeDemoUser removes the user left in the folder by an earlier demo, since
// its password is public. A user of that name with another password stays.
func (h *Hub) removeDemoUser(ctx context.Context) error {
	hash, err := h.userHash(ctx, DemoUser)
	if err != nil || hash == nil {
		return err
	}
	if bcrypt.CompareHashAndPassword(hash, []byte(demoPassword)) != nil {
		return nil
	}
	return h.RemoveUser(ctx, DemoUser)
}

// BaseURL returns the address of the interfaces, without a trailing slash.
func (h *Hub) BaseURL() string { return h.origin.url }

// HubURL returns the address of the hub's pages: the same.
func (h *Hub) HubURL() string { return h.BaseURL() }

// AdminURL returns the address of the admin interface, without a trailing
// slash; "" if there is none. It contains a secret: anyone who knows it can
// break the hub. A GET request to it returns what the interface can do.
func (h *Hub) AdminURL() string { return h.adminURL }

// Faults returns what can be broken while the hub is running.
func (h *Hub) Faults() *Faults { return h.faults }

// Stats returns what has been answered so far.
func (h *Hub) Stats() Stats {
	return Stats{Tokens: h.stats.tokens.Load(), Lookups: h.stats.lookups.Load(), Messages: h.stats.messages.Load(),
		Files: h.stats.files.Load(), Faults: h.faults.state().taken}
}

// Close ends the hub. It accepts nothing new, ends deliberate waits at once,
// and gives requests in progress ten seconds. Then everything is closed, and
// a temporary folder is gone. Later calls wait for the first and return its result.
func (h *Hub) Close() error {
	h.closeOnce.Do(func() {
		h.stop()
		if h.Data != nil {
			h.closeErr = h.Data.Close()
		}
	})
	return h.closeErr
}

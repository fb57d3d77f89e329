package localhub

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	_ "modernc.org/sqlite" // the driver

	"wiebelt/internal/contact"
	"wiebelt/internal/sqlitefile"
	"wiebelt/internal/text"
	"wiebelt/internal/trust"
)

// schema holds one statement a line group; a database is made once and its
// version kept in user_version.
const schema = `
CREATE TABLE keys (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
CREATE TABLE clients (
  id TEXT PRIMARY KEY, organisation TEXT NOT NULL, salt BLOB NOT NULL, hash BLOB NOT NULL
) STRICT;
CREATE TABLE users (name TEXT PRIMARY KEY, hash BLOB NOT NULL) STRICT;
CREATE TABLE sessions (
  token BLOB PRIMARY KEY, user TEXT NOT NULL REFERENCES users(name) ON DELETE CASCADE, began INTEGER NOT NULL
) STRICT;
CREATE TABLE contacts (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, invented INTEGER NOT NULL,
  relation TEXT NOT NULL, initials TEXT NOT NULL, prefix TEXT NOT NULL, family TEXT NOT NULL,
  street TEXT NOT NULL, house TEXT NOT NULL, addition TEXT, postal TEXT NOT NULL, city TEXT NOT NULL, country TEXT,
  producer_code TEXT NOT NULL, producer TEXT NOT NULL, changed_code TEXT NOT NULL, changed TEXT NOT NULL
) STRICT;
CREATE INDEX contacts_real ON contacts(n) WHERE invented = 0;
CREATE TABLE terms (
  term TEXT NOT NULL, contact INTEGER NOT NULL REFERENCES contacts(n) ON DELETE CASCADE,
  written TEXT NOT NULL, mail INTEGER NOT NULL, PRIMARY KEY (term, contact)
) STRICT, WITHOUT ROWID;
CREATE INDEX terms_contact ON terms(contact);
PRAGMA user_version = 1;
`

// upgrades lead from each version to the next.
var upgrades = []string{1: `
ALTER TABLE clients ADD COLUMN made INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN admin INTEGER NOT NULL DEFAULT 0;
CREATE TABLE messages (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, sha256 TEXT NOT NULL, size INTEGER NOT NULL, files INTEGER NOT NULL,
  received INTEGER NOT NULL, sender TEXT NOT NULL, organisation TEXT NOT NULL, intermediary TEXT NOT NULL,
  UNIQUE (sha256, intermediary, sender)
) STRICT;
PRAGMA user_version = 2;
`}

const version = 2

// store is the database. In memory it is one connection, and its contents live
// as long as that; in a file one connection writes and several read.
type store struct {
	w, r   *sql.DB
	memory bool
	find   *sql.Stmt
	client *sql.Stmt
}

func openStore(ctx context.Context, dir string) (*store, error) {
	s := &store{memory: dir == ""}
	dsn := "file::memory:"
	if !s.memory {
		if err := trust.Make(dir, trust.Ours); err != nil {
			return nil, fmt.Errorf("local hub: %w", err)
		}
		name := filepath.Join(dir, "hub.db")
		// Keys and hashes are never readable by others.
		if _, err := sqlitefile.Make(name, trust.Alone); err != nil {
			return nil, fmt.Errorf("local hub: %w", err)
		}
		var err error
		if dsn, err = sqlitefile.URI(name); err != nil {
			return nil, fmt.Errorf("local hub: %w", err)
		}
	}
	const pragmas = "?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)&_txlock=immediate"
	// FULL: a message that was taken is there after a power cut, too.
	files := "&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	if s.memory {
		files = "&_pragma=journal_mode(MEMORY)"
	}
	var err error
	if s.w, err = sql.Open("sqlite", dsn+pragmas+files); err != nil {
		return nil, fmt.Errorf("local hub: %w", err)
	}
	s.w.SetMaxOpenConns(1)
	s.w.SetMaxIdleConns(1)
	s.r = s.w
	if !s.memory {
		if s.r, err = sql.Open("sqlite", dsn+pragmas+"&_pragma=query_only(1)"); err != nil {
			return nil, errors.Join(fmt.Errorf("local hub: %w", err), s.w.Close())
		}
		s.r.SetMaxOpenConns(4)
		s.r.SetMaxIdleConns(4)
	}
	if err := s.setUp(ctx); err != nil {
		return nil, errors.Join(text.Errorf(text.LocalhubBadDatabase, err), s.close())
	}
	return s, nil
}

func (s *store) setUp(ctx context.Context) error {
	ctx = s.ctx(ctx)
	var have int
	if err := s.w.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	if have > version {
		return text.Errorf(text.LocalhubBadNewer, have, version)
	}
	err := s.tx(ctx, func(tx *sql.Tx) error {
		// Again, now that nobody else can be making it at the same time.
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil || have > version {
			return err
		}
		for ; have < version; have++ {
			step := schema
			if have > 0 {
				step = upgrades[have]
			}
			if _, err := tx.ExecContext(ctx, step); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.find, err = s.r.PrepareContext(ctx, "SELECT "+columns+" FROM terms t JOIN contacts c ON c.n = t.contact WHERE t.term = ? ORDER BY c.n"); err != nil {
		return err
	}
	s.client, err = s.r.PrepareContext(ctx, "SELECT organisation, salt, hash FROM clients WHERE id = ?")
	return err
}

// ctx keeps a cancelled request from taking the only connection, and with it
// the whole database, of a hub in memory along. Every query here is short.
func (s *store) ctx(ctx context.Context) context.Context {
	if s.memory {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

func (s *store) close() error {
	err := s.w.Close()
	if s.r != nil && s.r != s.w {
		err = errors.Join(err, s.r.Close())
	}
	return err
}

func (s *store) tx(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.w.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// key gives the named key, made on first use.
func (s *store) key(ctx context.Context, name string) ([]byte, error) {
	ctx = s.ctx(ctx)
	k := make([]byte, 32)
	_, _ = rand.Read(k) // never fails
	if _, err := s.w.ExecContext(ctx, "INSERT OR IGNORE INTO keys VALUES (?, ?)", name, k); err != nil {
		return nil, fmt.Errorf("local hub: keys: %w", err)
	}
	if err := s.w.QueryRowContext(ctx, "SELECT value FROM keys WHERE name = ?", name).Scan(&k); err != nil {
		return nil, fmt.Errorf("local hub: keys: %w", err)
	}
	return k, nil
}

// Record is a contact as the hub holds it. Of the contact, ID is made up when
// it is empty, and Link is ignored: it follows from the hub's address. An
// empty addition or country is null in the API.
type Record struct {
	contact.Contact
	Numbers []string // telephone numbers in any notation
	Emails  []string
}

const columns = `c.id, c.relation, c.initials, c.prefix, c.family, c.street, c.house, c.addition, c.postal, c.city,
 c.country, c.producer_code, c.producer, c.changed_code, c.changed, c.n`

type scanner interface{ Scan(...any) error }

func scanContact(row scanner) (c contact.Contact, n int64, err error) {
	var addition, country sql.NullString
	err = row.Scan(&c.ID, &c.RelationNumber, &c.Initials, &c.Prefix, &c.FamilyName, &c.Address.Street,
		&c.Address.Number, &addition, &c.Address.PostalCode, &c.Address.City, &country,
		&c.Producer.Code, &c.Producer.Description, &c.LastModifiedBy.Code, &c.LastModifiedBy.Description, &n)
	c.Address.Addition, c.Address.Country = addition.String, country.String
	return c, n, err
}

func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// fill puts invented contacts into a database that has none.
func (s *store) fill(ctx context.Context, all iter.Seq[Record]) error {
	var have bool
	if err := s.r.QueryRowContext(s.ctx(ctx), "SELECT EXISTS (SELECT 1 FROM contacts)").Scan(&have); err != nil {
		return fmt.Errorf("local hub: contacts: %w", err)
	}
	if have {
		return nil
	}
	_, err := s.add(ctx, true, all)
	return err
}

// add stores all contacts or none and returns their ids.
func (s *store) add(ctx context.Context, invented bool, all iter.Seq[Record]) (ids []string, err error) {
	ctx = s.ctx(ctx)
	err = s.tx(ctx, func(tx *sql.Tx) error {
		in, err := tx.PrepareContext(ctx, `INSERT INTO contacts (id, relation, initials, prefix, family, street, house, addition,
 postal, city, country, producer_code, producer, changed_code, changed, n, invented)
 VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`)
		if err != nil {
			return err
		}
		defer in.Close()
		term, err := tx.PrepareContext(ctx, "INSERT OR IGNORE INTO terms (term, contact, written, mail) VALUES (?,?,?,?)")
		if err != nil {
			return err
		}
		defer term.Close()
		var n int64
		if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(n), 0) FROM contacts").Scan(&n); err != nil {
			return err
		}
		for r := range all {
			if err := ctx.Err(); err != nil {
				return err
			}
			if r.ID == "" {
				id, err := uuid.NewRandom()
				if err != nil {
					return err
				}
				r.ID = id.String()
			} else if !validID(r.ID) {
				return errors.New("an id has 1 to 200 of the characters A-Z a-z 0-9 - . _ ~, and neither one nor two dots alone")
			}
			n++
			a := r.Address
			if _, err := in.ExecContext(ctx, r.ID, r.RelationNumber, r.Initials, r.Prefix, r.FamilyName, a.Street, a.Number,
				null(a.Addition), a.PostalCode, a.City, null(a.Country), r.Producer.Code, r.Producer.Description,
				r.LastModifiedBy.Code, r.LastModifiedBy.Description, n, invented); err != nil {
				return err
			}
			for _, written := range r.Numbers {
				t, ok := lastNine(written)
				if !ok {
					t = "short:" + digitsOf(written) // shown in the file, never found
				}
				if _, err := term.ExecContext(ctx, t, n, written, false); err != nil {
					return err
				}
			}
			for _, written := range r.Emails {
				t, ok := email(written)
				if !ok {
					return errors.New("an e-mail address cannot be read")
				}
				if _, err := term.ExecContext(ctx, t, n, written, true); err != nil {
					return err
				}
			}
			ids = append(ids, r.ID)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("local hub: add contacts: %w", err)
	}
	return ids, nil
}

// byTerm gives every contact with the term, oldest first.
func (s *store) byTerm(ctx context.Context, term string) ([]contact.Contact, error) {
	rows, err := s.find.QueryContext(s.ctx(ctx), term)
	if err != nil {
		return nil, fmt.Errorf("local hub: lookup: %w", err)
	}
	defer rows.Close()
	var all []contact.Contact
	for rows.Next() {
		c, _, err := scanContact(rows)
		if err != nil {
			return nil, fmt.Errorf("local hub: lookup: %w", err)
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

// byID gives one contact with its numbers and e-mail addresses, and the other
// contacts on those. found is false if there is no such contact.
func (s *store) byID(ctx context.Context, id string) (r Record, others []contact.Contact, found bool, err error) {
	ctx = s.ctx(ctx)
	c, n, err := scanContact(s.r.QueryRowContext(ctx, "SELECT "+columns+" FROM contacts c WHERE c.id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return Record{}, nil, false, nil
	}
	if err != nil {
		return Record{}, nil, false, fmt.Errorf("local hub: contact: %w", err)
	}
	r = Record{Contact: c}
	rows, err := s.r.QueryContext(ctx, "SELECT written, mail FROM terms WHERE contact = ? ORDER BY term", n)
	if err != nil {
		return r, nil, false, fmt.Errorf("local hub: contact: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var written string
		var mail bool
		if err := rows.Scan(&written, &mail); err != nil {
			return r, nil, false, fmt.Errorf("local hub: contact: %w", err)
		}
		if mail {
			r.Emails = append(r.Emails, written)
		} else {
			r.Numbers = append(r.Numbers, written)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return r, nil, false, fmt.Errorf("local hub: contact: %w", err)
	}
	same, err := s.r.QueryContext(ctx, "SELECT DISTINCT "+columns+` FROM terms mine
 JOIN terms theirs ON theirs.term = mine.term AND theirs.contact <> mine.contact JOIN contacts c ON c.n = theirs.contact
 WHERE mine.contact = ? AND mine.term NOT LIKE 'short:%' ORDER BY c.n LIMIT 20`, n)
	if err != nil {
		return r, nil, false, fmt.Errorf("local hub: contact: %w", err)
	}
	defer same.Close()
	for same.Next() {
		c, _, err := scanContact(same)
		if err != nil {
			return r, nil, false, fmt.Errorf("local hub: contact: %w", err)
		}
		others = append(others, c)
	}
	return r, others, true, same.Err()
}

func (s *store) hasReal(ctx context.Context) (real bool, err error) {
	err = s.r.QueryRowContext(s.ctx(ctx), "SELECT EXISTS (SELECT 1 FROM contacts WHERE invented = 0)").Scan(&real)
	return real, err
}

func (s *store) count(ctx context.Context) (n int, err error) {
	err = s.r.QueryRowContext(s.ctx(ctx), "SELECT count(*) FROM contacts").Scan(&n)
	return n, err
}

// first gives the oldest n contacts.
func (s *store) first(ctx context.Context, n int) ([]contact.Contact, error) {
	rows, err := s.r.QueryContext(s.ctx(ctx), "SELECT "+columns+" FROM contacts c ORDER BY c.n LIMIT ?", n)
	if err != nil {
		return nil, fmt.Errorf("local hub: contacts: %w", err)
	}
	defer rows.Close()
	var all []contact.Contact
	for rows.Next() {
		c, _, err := scanContact(rows)
		if err != nil {
			return nil, fmt.Errorf("local hub: contacts: %w", err)
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

// withContacts gives a number that exactly n contacts have, the oldest such,
// and their ids.
func (s *store) withContacts(ctx context.Context, n int) (written string, ids []string, err error) {
	ctx = s.ctx(ctx)
	var term string
	err = s.r.QueryRowContext(ctx, `SELECT term, written FROM terms WHERE mail = 0 AND term NOT LIKE 'short:%'
 GROUP BY term HAVING count(*) = ? ORDER BY min(contact), term LIMIT 1`, n).Scan(&term, &written)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil, fmt.Errorf("local hub: no number with %d contacts", n)
	}
	if err != nil {
		return "", nil, err
	}
	all, err := s.byTerm(ctx, term)
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return term, ids, err
}

// putUser stores a user; another password ends the sessions begun with the old
// one.
func (s *store) putUser(ctx context.Context, name string, hash []byte, admin bool) error {
	ctx = s.ctx(ctx)
	return s.tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO users (name, hash, admin) VALUES (?1, ?2, ?3)
 ON CONFLICT DO UPDATE SET hash = ?2, admin = ?3`, name, hash, admin); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE user = ?", name)
		return err
	})
}

func (s *store) userHash(ctx context.Context, name string) (hash []byte, err error) {
	err = s.r.QueryRowContext(s.ctx(ctx), "SELECT hash FROM users WHERE name = ?", name).Scan(&hash)
	return hash, err
}

func (s *store) putSession(ctx context.Context, token []byte, user string, began, oldest time.Time) error {
	ctx = s.ctx(ctx)
	return s.tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE began < ?", oldest.UnixMilli()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO sessions VALUES (?, ?, ?)", token, user, began.UnixMilli())
		return err
	})
}

func (s *store) session(ctx context.Context, token []byte) (u user, began time.Time, err error) {
	var ms int64
	err = s.r.QueryRowContext(s.ctx(ctx), `SELECT u.name, u.admin, s.began FROM sessions s JOIN users u ON u.name = s.user
 WHERE s.token = ?`, token).Scan(&u.name, &u.admin, &ms)
	return u, time.UnixMilli(ms), err
}

func (s *store) endSession(ctx context.Context, token []byte) error {
	_, err := s.w.ExecContext(s.ctx(ctx), "DELETE FROM sessions WHERE token = ?", token)
	return err
}

func (s *store) putClient(ctx context.Context, id, organisation string, salt, hash []byte, made time.Time) error {
	_, err := s.w.ExecContext(s.ctx(ctx), `INSERT INTO clients (id, organisation, salt, hash, made) VALUES (?1, ?2, ?3, ?4, ?5)
 ON CONFLICT DO UPDATE SET organisation = ?2, salt = ?3, hash = ?4, made = ?5`, id, organisation, salt, hash, made.UnixMilli())
	return err
}

func (s *store) getClient(ctx context.Context, id string) (organisation string, salt, hash []byte, err error) {
	err = s.client.QueryRowContext(s.ctx(ctx), id).Scan(&organisation, &salt, &hash)
	return organisation, salt, hash, err
}

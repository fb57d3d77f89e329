package localhub

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/google/uuid"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/store/sqlitefile"
)

// Record is a contact as stored by the hub. An empty ID is generated, and Link is ignored:
// it follows from the hub's address. An empty addition or country is null in the API.
type Record struct {
	contact.Contact
	Numbers []string // telephone numbers in any notation
	Emails  []string
}

// fields are the columns of a contact except its number n, in the order of columnTable.
var fields = func() string {
	var names []string
	for _, c := range columnTable[:phoneColumn] {
		names = append(names, c.stored)
	}
	return strings.Join(names, ", ")
}()

// columns are the fields and n of the contact c. An addition or a country may be null.
var columns = strings.NewReplacer("c.addition", "ifnull(c.addition, '')", "c.country", "ifnull(c.country, '')").
	Replace("c." + strings.ReplaceAll(fields, ", ", ", c.") + ", c.n")

func scanContact(row sqlitefile.Row) (c contact.Contact, err error) {
	c, _, err = scanNumbered(row)
	return c, err
}

func scanNumbered(row sqlitefile.Row) (c contact.Contact, n int64, err error) {
	var r Record
	into := make([]any, 0, len(columnTable))
	for _, c := range columnTable[:phoneColumn] {
		into = append(into, c.field(&r))
	}
	err = row.Scan(append(into, &n)...)
	return r.Contact, n, err
}

type contactWriter struct{ contact, term *sql.Stmt }

// newContactWriter returns a writer of fields, n and others
// to the table contacts, and of terms to the table terms.
func newContactWriter(ctx context.Context, tx *sql.Tx, contacts, terms string, others ...string) (w contactWriter, err error) {
	names := append([]string{fields, "n"}, others...)
	places := strings.Repeat("?,", int(phoneColumn)+len(others)) + "?"
	if w.contact, err = tx.PrepareContext(ctx, "INSERT INTO "+contacts+" ("+strings.Join(names, ", ")+") VALUES ("+places+")"); err != nil {
		return w, err
	}
	w.term, err = tx.PrepareContext(ctx, "INSERT INTO "+terms+" (term, contact, written, mail) VALUES (?,?,?,?) ON CONFLICT DO NOTHING")
	return w, err
}

// write stores the n-th contact, whose ID is valid, and generates
// an ID if missing.
func (w contactWriter) write(ctx context.Context, r *Record, n int64, others ...any) error {
	if r.ID == "" {
		r.ID = uuid.NewString()
	}
	values := make([]any, 0, len(columnTable)+len(others))
	for _, c := range columnTable[:phoneColumn] {
		values = append(values, *c.field(r))
	}
	values = append(append(values, n), others...)
	if _, err := w.contact.ExecContext(ctx, values...); err != nil {
		return err
	}
	for _, written := range r.Numbers {
		t, ok := lastNine(written)
		if !ok {
			t = "short:" + digitsOf(written) // shown in the file, but never found
		}
		if _, err := w.term.ExecContext(ctx, t, n, written, false); err != nil {
			return err
		}
	}
	for _, written := range r.Emails {
		t, ok := emailTerm(written)
		if !ok {
			return errors.New("an e-mail address cannot be read")
		}
		if _, err := w.term.ExecContext(ctx, t, n, written, true); err != nil {
			return err
		}
	}
	return nil
}

// AddInvented stores invented contacts, all or none, and returns their IDs in the same order.
// Their IDs are not checked: Import checks those of real contacts.
func (d *Data) AddInvented(ctx context.Context, r ...Record) (ids []string, err error) {
	return d.add(ctx, slices.Values(r))
}

// fill adds invented contacts to a database that has no contacts.
func (d *Data) fill(ctx context.Context, all iter.Seq[Record]) error {
	if has, err := d.has(ctx, d.readDB, "SELECT 1 FROM contacts"); err != nil || has {
		return wrapError("database", err)
	}
	_, err := d.add(ctx, all)
	return err
}

func (d *Data) add(ctx context.Context, all iter.Seq[Record]) (ids []string, err error) {
	err = sqlitefile.Tx(ctx, d.writeDB, func(tx *sql.Tx) error {
		w, err := newContactWriter(ctx, tx, "contacts", "terms", "invented")
		if err != nil {
			return err
		}
		var n int64
		if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(n), 0) FROM contacts").Scan(&n); err != nil {
			return err
		}
		for r := range all {
			n++
			if err := w.write(ctx, &r, n, true); err != nil {
				return err
			}
			ids = append(ids, r.ID)
		}
		return nil
	})
	if err != nil {
		return nil, wrapError("add contacts", err)
	}
	return ids, nil
}

// Count returns the number of contacts.
func (d *Data) Count(ctx context.Context) (int, error) { return d.count(ctx, "contacts") }

func (d *Data) count(ctx context.Context, table string) (n int, err error) {
	err = d.readDB.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&n)
	return n, wrapError(table, err)
}

func (d *Data) has(ctx context.Context, q sqlitefile.Querier, query string, args ...any) (has bool, err error) {
	err = q.QueryRowContext(ctx, "SELECT EXISTS ("+query+")", args...).Scan(&has)
	return has, err
}

func (d *Data) byTerm(ctx context.Context, term string) ([]contact.Contact, error) {
	return collectRows("lookup", scanContact)(d.findContacts.QueryContext(ctx, term))
}

// byID returns a contact with its numbers and e-mail addresses, and the other contacts that
// share them. found is false if there is no such contact.
func (d *Data) byID(ctx context.Context, id string) (r Record, others []contact.Contact, found bool, err error) {
	c, n, err := scanNumbered(d.readDB.QueryRowContext(ctx, "SELECT "+columns+" FROM contacts c WHERE c.id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return Record{}, nil, false, nil
	}
	if err != nil {
		return Record{}, nil, false, wrapError("contact", err)
	}
	r = Record{Contact: c}
	_, err = collectRows("contact", func(row sqlitefile.Row) (none struct{}, err error) {
		var written string
		var mail bool
		err = row.Scan(&written, &mail)
		if mail {
			r.Emails = append(r.Emails, written)
		} else {
			r.Numbers = append(r.Numbers, written)
		}
		return none, err
	})(d.readDB.QueryContext(ctx, "SELECT written, mail FROM terms WHERE contact = ? ORDER BY term", n))
	if err != nil {
		return r, nil, false, err
	}
	others, err = collectRows("contact", scanContact)(d.readDB.QueryContext(ctx, "SELECT DISTINCT "+columns+` FROM terms mine
 JOIN terms theirs ON theirs.term = mine.term AND theirs.contact <> mine.contact JOIN contacts c ON c.n = theirs.contact
 WHERE mine.contact = ? AND mine.term NOT LIKE 'short:%' ORDER BY c.n LIMIT 20`, n))
	return r, others, true, err
}

func (d *Data) oldestContacts(ctx context.Context, n int) ([]contact.Contact, error) {
	return collectRows("contacts", scanContact)(d.readDB.QueryContext(ctx, "SELECT "+columns+" FROM contacts c ORDER BY c.n LIMIT ?", n))
}

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// validID reports whether id can be the last segment of a deep link without escaping.
func validID(id string) bool {
	return id != "" && id != "." && id != ".." && len(id) <= 200 && strings.Trim(id, alphanumeric+"-._~") == ""
}

package localhub

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"
	"github.com/google/uuid"

	"wiebelt/internal/text"
)

// Format is how a file with contacts is written.
type Format uint8

// The formats.
const (
	CSV  Format = iota // with a header row; comma, semicolon or tab between the fields
	JSON               // an answer of the Contact API, an array, or one object after another
)

// Bounds of an import.
const (
	maxImport      = 5_000_000 // contacts in a file
	maxImportRow   = 1 << 20   // bytes of a row or record
	maxImportField = 512       // bytes of a field
	maxImportTerms = 20        // telephone numbers of a contact, and e-mail addresses
	maxRowErrors   = 20        // kept; the others are counted
	progressEvery  = 1000      // rows
)

// ImportOptions say what Import does with a file.
type ImportOptions struct {
	Replace bool // all contacts that the hub has give way to those of the file
	Check   bool // read and check everything, change nothing

	Progress func(rows int, bytes int64) // how much of the file was read, now and then and at its end; may be nil
	Warn     func(RowError)              // what is taken and may still not be as meant; may be nil
}

// RowError says what is wrong with a row, without quoting it.
type RowError struct {
	Row     int    // the line on which a row of CSV begins, or which record of JSON it is; from 1
	Column  string // "" is the row as a whole
	Problem *text.Error
}

// ImportError says which rows kept a file from being imported.
type ImportError struct {
	Format Format
	Rows   []RowError // the first ones
	More   int        // how many others there are
}

// Where names a row: "line 12" or "record 12".
func (f Format) Where(row int) *text.Error {
	if f == JSON {
		return text.Errorf(text.LocalhubImportRecord, row)
	}
	return text.Errorf(text.LocalhubImportLine, row)
}

// Lines gives each error its line.
func (e *ImportError) Lines() []*text.Error {
	var all []*text.Error
	for _, r := range e.Rows {
		line := text.Errorf(text.LocalhubImportAt, e.Format.Where(r.Row), r.Problem)
		if r.Column != "" {
			line = text.Errorf(text.LocalhubImportIn, e.Format.Where(r.Row), r.Column, r.Problem)
		}
		all = append(all, line)
	}
	if e.More > 0 {
		all = append(all, text.Errorf(text.LocalhubImportMore, e.More))
	}
	return all
}

func (e *ImportError) Error() string {
	return fmt.Sprintf("local hub: import: %d errors; %v", len(e.Rows)+e.More, e.Lines()[0])
}

func (e *ImportError) add(row int, column string, problem *text.Error) {
	if len(e.Rows) == maxRowErrors {
		e.More++
		return
	}
	e.Rows = append(e.Rows, RowError{row, column, problem})
}

// orNil is e as an error if it holds any, in the order of the file.
func (e *ImportError) orNil() error {
	if len(e.Rows) == 0 {
		return nil
	}
	slices.SortStableFunc(e.Rows, func(a, b RowError) int { return cmp.Compare(a.Row, b.Row) })
	return e
}

// The file is first copied into tables of the connection's own, which SQLite
// keeps in a file without a name and not in memory. So a bad file touches
// nothing, and the hub's database is locked for others only while the contacts
// go into it, sorted as they lie there.
const staging = `
CREATE TEMP TABLE staged (
  n INTEGER PRIMARY KEY, row INTEGER NOT NULL, given INTEGER NOT NULL, id TEXT NOT NULL,
  relation TEXT, initials TEXT, prefix TEXT, family TEXT, street TEXT, house TEXT, addition TEXT, postal TEXT,
  city TEXT, country TEXT, producer_code TEXT, producer TEXT, changed_code TEXT, changed TEXT
);
CREATE TEMP TABLE staged_terms (term TEXT NOT NULL, contact INTEGER NOT NULL, written TEXT NOT NULL, mail INTEGER NOT NULL);
PRAGMA main.cache_size = -16000;
`

const unstaging = `
DROP TABLE IF EXISTS temp.staged;
DROP TABLE IF EXISTS temp.staged_terms;
PRAGMA main.cache_size = -2000;
`

// Import puts the contacts of a file into the hub, all or none, and returns how
// many. Lookups are answered meanwhile. What is wrong in the file comes as an
// *ImportError.
//
// Imported contacts are real: a demo takes none. A hub that was a demo holds
// invented ones, and the two never mix: they have to be replaced, while no hub
// runs on the folder.
func (d *Data) Import(ctx context.Context, r io.Reader, format Format, opt ImportOptions) (int, error) {
	if d.demo {
		return 0, text.Errorf(text.LocalhubImportDemo)
	}
	dbctx := d.store.ctx(ctx)
	conn, err := d.store.w.Conn(dbctx)
	if err != nil {
		return 0, fmt.Errorf("local hub: import: %w", err)
	}
	defer conn.Close()
	wasDemo, unlock, err := d.mayImport(dbctx, conn, opt.Replace)
	if err != nil {
		return 0, err
	}
	defer unlock()
	defer func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), unstaging) // or with the connection, or before the next import
	}()
	if _, err := conn.ExecContext(dbctx, unstaging+staging); err != nil {
		return 0, fmt.Errorf("local hub: import: %w", err)
	}
	m := &importer{ctx: ctx, dbctx: dbctx, opt: opt, conn: conn, wasDemo: wasDemo, errs: ImportError{Format: format}}
	if err := m.run(r); err != nil {
		if ctx.Err() != nil { // the database says it in many ways
			err = fmt.Errorf("local hub: import: %w", ctx.Err())
		}
		return 0, err
	}
	return m.n, nil
}

func (m *importer) run(r io.Reader) error {
	if err := m.stage(r); err != nil {
		return err
	}
	if !m.opt.Check {
		return m.store()
	}
	if err := m.taken(m.conn); err != nil {
		return err
	}
	return m.errs.orNil()
}

// mayImport refuses to mix real contacts with invented ones. A hub that runs on
// invented ones may be a demo, whose password everybody knows: it has to end
// first, and none starts before unlock.
func (d *Data) mayImport(ctx context.Context, conn *sql.Conn, replace bool) (wasDemo bool, unlock func(), err error) {
	unlock = func() {}
	if wasDemo, err = invented(ctx, conn); err != nil || !wasDemo {
		return wasDemo, unlock, err
	}
	if !replace {
		return true, unlock, text.Errorf(text.LocalhubImportInvented)
	}
	if d.dir == "" || d.lock != nil {
		return true, unlock, nil // ours alone, and no demo
	}
	l := flock.New(filepath.Join(d.dir, "hub.lock"), flock.SetPermissions(0o600))
	taken, err := l.TryLock()
	if err != nil {
		return true, unlock, fmt.Errorf("local hub: import: %w", err)
	}
	if !taken {
		return true, unlock, text.Errorf(text.LocalhubImportRunning)
	}
	return true, func() { _ = l.Unlock() }, nil
}

// querier is a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func invented(ctx context.Context, q querier) (has bool, err error) {
	if err := q.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM contacts WHERE invented = 1)").Scan(&has); err != nil {
		return false, fmt.Errorf("local hub: import: %w", err)
	}
	return has, nil
}

// importer is one import. The readers of the formats give it rows; it is used
// from one goroutine.
type importer struct {
	ctx, dbctx context.Context // dbctx outlives ctx where the database would go with it
	opt        ImportOptions
	conn       *sql.Conn
	wasDemo    bool
	errs       ImportError

	in   *input
	put  func() error // stages the present row, the n-th
	rows int          // seen
	n    int          // staged
	row  row          // the present one
}

// stage reads the whole file. Errors in rows are collected; the others end it.
func (m *importer) stage(r io.Reader) (err error) {
	// In one transaction for speed. Of a kind that locks nothing that others use.
	tx, err := m.conn.BeginTx(m.dbctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("local hub: import: %w", err)
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback() // it may have ended with ctx
		}
	}()
	contact, err := tx.PrepareContext(m.dbctx, "INSERT INTO temp.staged VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
	if err != nil {
		return fmt.Errorf("local hub: import: %w", err)
	}
	defer contact.Close()
	terms, err := tx.PrepareContext(m.dbctx, "INSERT INTO temp.staged_terms VALUES (?,?,?,?)")
	if err != nil {
		return fmt.Errorf("local hub: import: %w", err)
	}
	defer terms.Close()
	m.put = func() error { return m.insert(contact, terms) }
	if err := m.read(r); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("local hub: import: %w", err)
	}
	if m.n == 0 && len(m.errs.Rows) == 0 {
		return text.Errorf(text.LocalhubImportNone)
	}
	if err := m.twice(); err != nil {
		return err
	}
	return m.errs.orNil()
}

// read gives every row of the file to put.
func (m *importer) read(r io.Reader) error {
	m.in = newInput(r)
	read := m.readCSV
	if m.errs.Format == JSON {
		read = m.readJSON
	}
	if err := read(); err != nil {
		return err
	}
	m.progress()
	return nil
}

func (m *importer) progress() {
	if m.opt.Progress != nil {
		m.opt.Progress(m.rows, m.in.bytes)
	}
}

// problem refuses the present row.
func (m *importer) problem(column string, what *text.Error) {
	m.row.bad = true
	m.errs.add(m.row.at, shown(column), what)
}

// warn notes something about the present row, which is taken.
func (m *importer) warn(column string, what text.Key) {
	if m.opt.Warn != nil {
		m.opt.Warn(RowError{m.row.at, shown(column), text.Errorf(what)})
	}
}

// begin starts the row at a line or with a number.
func (m *importer) begin(at int) { m.row.reset(at) }

// end stages the present row if it is good.
func (m *importer) end() error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	m.in.next()
	if m.rows++; m.rows%progressEvery == 0 {
		m.progress()
	}
	m.checkRow()
	if m.row.bad {
		return nil
	}
	if m.n == maxImport {
		return text.Errorf(text.LocalhubImportMany, maxImport)
	}
	m.n++
	return m.put()
}

func (m *importer) insert(contact, terms *sql.Stmt) error {
	v := &m.row.values
	id, given := v[colID], v[colID] != ""
	if !given {
		u, err := uuid.NewRandom()
		if err != nil {
			return fmt.Errorf("local hub: import: %w", err)
		}
		id = u.String()
	}
	if _, err := contact.ExecContext(m.dbctx, m.n, m.row.at, given, id, v[colRelation], v[colInitials], v[colPrefix], v[colFamily],
		v[colStreet], v[colHouse], null(v[colAddition]), v[colPostal], v[colCity], null(v[colCountry]),
		v[colProducerCode], v[colProducer], v[colChangedCode], v[colChanged]); err != nil {
		return fmt.Errorf("local hub: import: %w", err)
	}
	for _, t := range m.row.terms {
		if _, err := terms.ExecContext(m.dbctx, t.term, m.n, t.written, t.mail); err != nil {
			return fmt.Errorf("local hub: import: %w", err)
		}
	}
	return nil
}

// twice looks for ids that more than one row has.
func (m *importer) twice() error {
	rows, err := m.conn.QueryContext(m.dbctx, `SELECT again.row, first.row
 FROM (SELECT id, min(n) AS n FROM temp.staged WHERE given GROUP BY id HAVING count(*) > 1) f
 JOIN temp.staged first ON first.n = f.n JOIN temp.staged again ON again.id = f.id AND again.n > f.n ORDER BY again.n`)
	if err != nil {
		return fmt.Errorf("local hub: import: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var again, first int
		if err := rows.Scan(&again, &first); err != nil {
			return fmt.Errorf("local hub: import: %w", err)
		}
		m.errs.add(again, columnNames[colID], text.Errorf(text.LocalhubImportSame, m.errs.Format.Where(first)))
	}
	return rows.Err()
}

// taken looks for ids that the hub has already.
func (m *importer) taken(q querier) error {
	if m.opt.Replace {
		return nil
	}
	rows, err := q.QueryContext(m.dbctx, `SELECT s.row FROM temp.staged s WHERE s.given AND EXISTS
 (SELECT 1 FROM main.contacts c WHERE c.id = s.id) ORDER BY s.n`)
	if err != nil {
		return fmt.Errorf("local hub: import: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var row int
		if err := rows.Scan(&row); err != nil {
			return fmt.Errorf("local hub: import: %w", err)
		}
		m.errs.add(row, columnNames[colID], text.Errorf(text.LocalhubImportThere))
	}
	return rows.Err()
}

// store moves what was staged into the hub's tables, in one transaction.
func (m *importer) store() (err error) {
	tx, err := m.conn.BeginTx(m.dbctx, nil)
	if err != nil {
		return fmt.Errorf("local hub: import: %w", err)
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback() // it may have ended with ctx
		}
	}()
	// Again, now that nobody else can write.
	if has, err := invented(m.dbctx, tx); err != nil {
		return err
	} else if has && !m.wasDemo {
		return text.Errorf(text.LocalhubImportMeanwhile)
	}
	if err := m.taken(tx); err != nil {
		return err
	}
	if err := m.errs.orNil(); err != nil {
		return err
	}
	if m.opt.Replace {
		for _, s := range []string{"DELETE FROM main.terms", "DELETE FROM main.contacts"} {
			if _, err := tx.ExecContext(m.dbctx, s); err != nil {
				return fmt.Errorf("local hub: import: %w", err)
			}
		}
	}
	var base int64
	if err := tx.QueryRowContext(m.dbctx, "SELECT coalesce(max(n), 0) FROM main.contacts").Scan(&base); err != nil {
		return fmt.Errorf("local hub: import: %w", err)
	}
	for _, s := range []string{
		`INSERT INTO main.contacts (n, invented, id, relation, initials, prefix, family, street, house, addition, postal, city, country,
 producer_code, producer, changed_code, changed)
 SELECT ? + n, 0, id, relation, initials, prefix, family, street, house, addition, postal, city, country,
 producer_code, producer, changed_code, changed FROM temp.staged ORDER BY n`,
		`INSERT OR IGNORE INTO main.terms (term, contact, written, mail)
 SELECT term, ? + contact, written, mail FROM temp.staged_terms ORDER BY term, contact`,
	} {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		if _, err := tx.ExecContext(m.dbctx, s, base); err != nil {
			return fmt.Errorf("local hub: import: %w", err)
		}
	}
	if err := m.ctx.Err(); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("local hub: import: %w", err)
	}
	return nil
}

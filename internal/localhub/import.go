package localhub

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"

	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/store/sqlitefile"
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
	maxShownName   = 40        // characters of a column's name in an error
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
var (
	staging = unstaging + `
CREATE TEMP TABLE staged (n INTEGER PRIMARY KEY, row, given, ` + fields + `);
CREATE TEMP TABLE staged_terms (term, contact, written, mail);
PRAGMA main.cache_size = -16000;
`
	unstaging = `
DROP TABLE IF EXISTS temp.staged;
DROP TABLE IF EXISTS temp.staged_terms;
PRAGMA main.cache_size = -2000;
`
)

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
	m := &importer{Data: d, ctx: ctx, opt: opt, errs: ImportError{Format: format}}
	var err error
	if m.conn, err = d.w.Conn(m.ctx); err != nil {
		return 0, failed("import", err)
	}
	defer m.conn.Close()
	err = m.run(r)
	switch {
	case err == nil:
		return int(m.n), nil
	case ctx.Err() != nil: // the database says it in many ways
		return 0, failed("import", ctx.Err())
	case errors.As(err, new(*text.Error)), errors.As(err, new(*ImportError)):
		return 0, err
	}
	return 0, failed("import", err)
}

// importer is one import, used from one goroutine.
type importer struct {
	*Data
	ctx     context.Context
	opt     ImportOptions
	conn    *sql.Conn
	wasDemo bool
	errs    ImportError

	in   *input
	put  func() error // stages the present row, the n-th
	rows int          // seen
	n    int64        // staged
	row  row          // the present one
}

// run reads the whole file before anything changes.
func (m *importer) run(r io.Reader) error {
	unlock, err := m.mayImport()
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := m.conn.ExecContext(m.ctx, staging); err != nil {
		return err
	}
	defer func() {
		_, _ = m.conn.ExecContext(context.WithoutCancel(m.ctx), unstaging) // or with the connection, or before the next import
	}()
	// In one transaction for speed. Of a kind that locks nothing that others use.
	if err := m.tx(&sql.TxOptions{ReadOnly: true}, func(tx *sql.Tx) error { return m.stage(tx, r) }); err != nil {
		return err
	}
	if m.n == 0 && len(m.errs.Rows) == 0 {
		return text.Errorf(text.LocalhubImportNone)
	}
	if err := m.twice(); err != nil {
		return err
	}
	if m.opt.Check {
		return m.there(m.conn)
	}
	return m.tx(nil, m.store)
}

func (m *importer) tx(opt *sql.TxOptions, do func(tx *sql.Tx) error) error {
	tx, err := m.conn.BeginTx(m.ctx, opt)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // it may have ended with ctx
		return err
	}
	return tx.Commit()
}

// mayImport refuses to mix real contacts with invented ones. A hub that runs on
// invented ones may be a demo, whose password everybody knows: it has to end
// first, and none starts before unlock.
func (m *importer) mayImport() (unlock func(), err error) {
	unlock = func() {}
	if m.wasDemo, err = m.invented(m.conn); err != nil || !m.wasDemo {
		return unlock, err
	}
	if !m.opt.Replace {
		return unlock, text.Errorf(text.LocalhubImportInvented)
	}
	if m.dir == "" || m.lock != nil {
		return unlock, nil // ours alone, and no demo
	}
	l, err := m.tryLock()
	switch {
	case err != nil:
		return unlock, err
	case l == nil:
		return unlock, text.Errorf(text.LocalhubImportRunning)
	}
	return func() { _ = l.Unlock() }, nil
}

func (m *importer) invented(q sqlitefile.Querier) (bool, error) {
	return m.has(m.ctx, q, "SELECT 1 FROM contacts WHERE invented = 1")
}

// stage reads the file. Errors in rows are collected; the others end it.
func (m *importer) stage(tx *sql.Tx, r io.Reader) error {
	w, err := newContactWriter(m.ctx, tx, "temp.staged", "temp.staged_terms", "row", "given")
	if err != nil {
		return err
	}
	m.put = func() error { return w.write(m.ctx, &m.row.Record, m.n, m.row.at, m.row.ID != "") }
	return m.read(r)
}

// problem refuses the present row.
func (m *importer) problem(column string, what *text.Error) {
	m.row.bad = true
	m.errs.add(m.row.at, displaytext.Line(column, maxShownName), what)
}

// warn notes something about the present row, which is taken.
func (m *importer) warn(column string, what text.Key) {
	if m.opt.Warn != nil {
		m.opt.Warn(RowError{m.row.at, displaytext.Line(column, maxShownName), text.Errorf(what)})
	}
}

// begin starts the row at a line or with a number.
func (m *importer) begin(at int) {
	m.row = row{at: at, Record: Record{Numbers: m.row.Numbers[:0], Emails: m.row.Emails[:0]}}
}

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

func (m *importer) progress() {
	if m.opt.Progress != nil {
		m.opt.Progress(m.rows, m.in.bytes)
	}
}

// blame notes a problem with the id of every row that a query gives, with the
// number of another row or 0.
func (m *importer) blame(problem func(other int) *text.Error) func(*sql.Rows, error) error {
	return func(rows *sql.Rows, err error) error {
		_, err = sqlitefile.Rows(func(row sqlitefile.Row) (none struct{}, err error) {
			var at, other int
			if err = row.Scan(&at, &other); err == nil {
				m.errs.add(at, columnTable[idColumn].name, problem(other))
			}
			return none, err
		})(rows, err)
		if err != nil {
			return err
		}
		return m.errs.orNil()
	}
}

// twice looks for ids that more than one row has.
func (m *importer) twice() error {
	return m.blame(func(first int) *text.Error { return text.Errorf(text.LocalhubImportSame, m.errs.Format.Where(first)) })(
		m.conn.QueryContext(m.ctx, `SELECT again.row, first.row
 FROM (SELECT id, min(n) AS n FROM temp.staged WHERE given GROUP BY id HAVING count(*) > 1) f
 JOIN temp.staged first ON first.n = f.n JOIN temp.staged again ON again.id = f.id AND again.n > f.n ORDER BY again.n`))
}

// there looks for ids that the hub has already.
func (m *importer) there(q sqlitefile.Querier) error {
	if m.opt.Replace {
		return nil
	}
	return m.blame(func(int) *text.Error { return text.Errorf(text.LocalhubImportThere) })(
		q.QueryContext(m.ctx, `SELECT s.row, 0 FROM temp.staged s WHERE s.given AND EXISTS
 (SELECT 1 FROM main.contacts c WHERE c.id = s.id) ORDER BY s.n`))
}

// store moves what was staged into the hub's tables, in one transaction.
func (m *importer) store(tx *sql.Tx) error {
	// Again, now that nobody else can write.
	if has, err := m.invented(tx); err != nil {
		return err
	} else if has && !m.wasDemo {
		return text.Errorf(text.LocalhubImportMeanwhile)
	}
	if err := m.there(tx); err != nil {
		return err
	}
	if m.opt.Replace {
		if _, err := tx.ExecContext(m.ctx, "DELETE FROM main.terms; DELETE FROM main.contacts"); err != nil {
			return err
		}
	}
	statements := []string{
		"INSERT INTO main.contacts (n, invented, " + fields + ") SELECT ? + n, 0, " + fields + " FROM temp.staged ORDER BY n",
		`INSERT OR IGNORE INTO main.terms (term, contact, written, mail)
 SELECT term, ? + contact, written, mail FROM temp.staged_terms ORDER BY term, contact`,
	}
	var base int64
	if err := tx.QueryRowContext(m.ctx, "SELECT coalesce(max(n), 0) FROM main.contacts").Scan(&base); err != nil {
		return err
	}
	for _, s := range statements {
		if _, err := tx.ExecContext(m.ctx, s, base); err != nil {
			return err
		}
	}
	return nil
}

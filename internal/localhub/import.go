package localhub

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gofrs/flock"

	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/store/sqlitefile"
	"wiebelt/internal/text"
)

// Format is the format of a file with contacts.
type Format uint8

// The formats.
const (
	CSV  Format = iota // with a header row; fields separated by comma, semicolon or tab
	JSON               // an answer of the Contact API, an array, or a sequence of objects
)

// Bounds of an import.
const (
	maxImport      = 5_000_000 // contacts in a file
	maxImportRow   = 1 << 20   // bytes of a row or record
	maxImportField = 512       // bytes of a field
	maxImportTerms = 20        // telephone numbers per contact, and e-mail addresses
	maxRowErrors   = 20        // kept; the rest are counted
	maxShownName   = 40        // characters of a column name in an error
	progressEvery  = 1000      // rows
)

// ImportOptions control an import.
type ImportOptions struct {
	Replace bool // the contacts of the file replace all existing ones
	Check   bool // read and check everything, but change nothing

	Progress func(rows int, bytes int64) // called occasionally and at the end with how much was read; may be nil
	Warn     func(RowError)              // receives doubtful rows, which are accepted; may be nil
}

// RowError reports what is wrong with a row, without quoting the row.
type RowError struct {
	Row     int    // the first line of a CSV row, or the number of a JSON record; from 1
	Column  string // "" is the row as a whole
	Problem *text.Error
}

// ImportError reports the rows that prevented an import.
type ImportError struct {
	Format Format
	Rows   []RowError // the first ones
	More   int        // number of further rows
}

// RowLabel names a row: "line 12" or "record 12".
func (f Format) RowLabel(row int) *text.Error {
	if f == JSON {
		return text.Errorf(text.LocalhubImportRecord, row)
	}
	return text.Errorf(text.LocalhubImportLine, row)
}

// Lines returns one line per error.
func (e *ImportError) Lines() []*text.Error {
	var all []*text.Error
	for _, r := range e.Rows {
		line := text.Errorf(text.LocalhubImportAt, e.Format.RowLabel(r.Row), r.Problem)
		if r.Column != "" {
			line = text.Errorf(text.LocalhubImportIn, e.Format.RowLabel(r.Row), r.Column, r.Problem)
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

// orNil returns e as an error if it contains any, in file order.
func (e *ImportError) orNil() error {
	if len(e.Rows) == 0 {
		return nil
	}
	slices.SortStableFunc(e.Rows, func(a, b RowError) int { return cmp.Compare(a.Row, b.Row) })
	return e
}

// The file is first copied to temporary tables of the connection, which SQLite keeps in an
// unnamed file rather than in memory. So a bad file changes nothing, and others are locked
// out of the hub's database only while the contacts are inserted, in the order of storage.
var (
	createStagingSQL = dropStagingSQL + `
CREATE TEMP TABLE staged (n INTEGER PRIMARY KEY, row, given, ` + fields + `);
CREATE TEMP TABLE staged_terms (term, contact, written, mail);
PRAGMA main.cache_size = -16000;
`
	dropStagingSQL = `
DROP TABLE IF EXISTS temp.staged;
DROP TABLE IF EXISTS temp.staged_terms;
PRAGMA main.cache_size = -2000;
`
)

// Import adds the contacts of a file to the hub, all or none, and returns their number.
// Lookups are answered meanwhile. Errors in the file are reported as an *ImportError.
//
// Imported contacts are real, so a demo accepts none. A former demo contains invented ones, and
// the two are never mixed: they have to be replaced, while no hub is running on the folder.
func (d *Data) Import(ctx context.Context, r io.Reader, format Format, opt ImportOptions) (int, error) {
	if d.demo {
		return 0, text.Errorf(text.LocalhubImportDemo)
	}
	m := &importer{Data: d, ctx: ctx, opt: opt, errs: ImportError{Format: format}}
	var err error
	if m.conn, err = d.writeDB.Conn(m.ctx); err != nil {
		return 0, wrapError("import", err)
	}
	defer m.conn.Close()
	err = m.run(r)
	switch {
	case err == nil:
		return int(m.staged), nil
	case ctx.Err() != nil: // the database reports this in many ways
		return 0, wrapError("import", ctx.Err())
	case errors.As(err, new(*text.Error)), errors.As(err, new(*ImportError)):
		return 0, err
	}
	return 0, wrapError("import", err)
}

// importer is one import, used from one goroutine.
type importer struct {
	*Data
	ctx     context.Context
	opt     ImportOptions
	conn    *sql.Conn
	wasDemo bool
	errs    ImportError

	in       *input
	stageRow func() error // stages the current row, the n-th
	rows     int          // seen
	staged   int64        // staged
	row      row          // the current one
}

// run reads the whole file before it changes anything.
func (m *importer) run(r io.Reader) error {
	lock, err := m.mayImport()
	if err != nil {
		return err
	}
	if lock != nil {
		defer lock.Unlock()
	}
	if _, err := m.conn.ExecContext(m.ctx, createStagingSQL); err != nil {
		return err
	}
	defer func() {
		_, _ = m.conn.ExecContext(context.WithoutCancel(m.ctx), dropStagingSQL) // or with the connection, or before the next import
	}()
	// One transaction, for speed; read-only, so that it locks nothing others use.
	if err := m.tx(&sql.TxOptions{ReadOnly: true}, func(tx *sql.Tx) error { return m.stage(tx, r) }); err != nil {
		return err
	}
	if m.staged == 0 && len(m.errs.Rows) == 0 {
		return text.Errorf(text.LocalhubImportNone)
	}
	if err := m.checkIDs(m.conn); err != nil || m.opt.Check {
		return err
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

// mayImport prevents mixing real contacts with invented ones. A running
// hub with invented ones may be a demo, whose password everybody knows:
// it has to end first, and no other can start while the lock that is returned is held.
func (m *importer) mayImport() (lock *flock.Flock, err error) {
	if m.wasDemo, err = m.hasInvented(m.conn); err != nil || !m.wasDemo {
		return nil, err
	}
	if !m.opt.Replace {
		return nil, text.Errorf(text.LocalhubImportInvented)
	}
	if m.lock != nil {
		return nil, nil // only we use it, and it is no demo
	}
	if lock, err = m.tryLock(); err == nil && lock == nil {
		err = text.Errorf(text.LocalhubImportRunning)
	}
	return lock, err
}

func (m *importer) hasInvented(q sqlitefile.Querier) (bool, error) {
	return m.has(m.ctx, q, "SELECT 1 FROM contacts WHERE invented = 1")
}

// stage reads the file. Errors in rows are collected; any other ends it.
func (m *importer) stage(tx *sql.Tx, r io.Reader) error {
	w, err := newContactWriter(m.ctx, tx, "temp.staged", "temp.staged_terms", "row", "given")
	if err != nil {
		return err
	}
	m.stageRow = func() error { return w.write(m.ctx, &m.row.Record, m.staged, m.row.number, m.row.ID != "") }
	return m.read(r)
}

func (m *importer) rejectRow(column string, what *text.Error) {
	m.row.rejected = true
	m.errs.add(m.row.number, displaytext.Truncate(column, maxShownName), what)
}

// warn reports something about the current row, which is accepted.
func (m *importer) warn(column string, what text.Key) {
	if m.opt.Warn != nil {
		m.opt.Warn(RowError{m.row.number, displaytext.Truncate(column, maxShownName), text.Errorf(what)})
	}
}

// beginRow starts the row at a line or record number.
func (m *importer) beginRow(at int) {
	m.row = row{number: at, Record: Record{Numbers: m.row.Numbers[:0], Emails: m.row.Emails[:0]}}
}

// endRow stages the current row if it is valid.
func (m *importer) endRow() error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	m.in.next()
	if m.rows++; m.rows%progressEvery == 0 {
		m.progress()
	}
	m.checkRow()
	if m.row.rejected {
		return nil
	}
	if m.staged == maxImport {
		return text.Errorf(text.LocalhubImportMany, maxImport)
	}
	m.staged++
	return m.stageRow()
}

func (m *importer) progress() {
	if m.opt.Progress != nil {
		m.opt.Progress(m.rows, m.in.bytes)
	}
}

// checkIDs reports IDs that occur in more than one row, or that the hub already has.
func (m *importer) checkIDs(q sqlitefile.Querier) error {
	_, err := sqlitefile.Rows(func(row sqlitefile.Row) (none struct{}, err error) {
		var at, first int
		if err = row.Scan(&at, &first); err != nil {
			return none, err
		}
		problem := text.Errorf(text.LocalhubImportThere)
		if first > 0 {
			problem = text.Errorf(text.LocalhubImportSame, m.errs.Format.RowLabel(first))
		}
		m.errs.add(at, columnTable[idColumn].name, problem)
		return none, nil
	})(q.QueryContext(m.ctx, `SELECT again.row, first.row
 FROM (SELECT id, min(n) AS n FROM temp.staged WHERE given GROUP BY id HAVING count(*) > 1) f
 JOIN temp.staged first ON first.n = f.n JOIN temp.staged again ON again.id = f.id AND again.n > f.n
 UNION ALL SELECT s.row, 0 FROM temp.staged s WHERE NOT ? AND s.given AND EXISTS (SELECT 1 FROM main.contacts c WHERE c.id = s.id)
 ORDER BY 1`, m.opt.Replace))
	if err != nil {
		return err
	}
	return m.errs.orNil()
}

func (m *importer) store(tx *sql.Tx) error {
	// Checked again, now that nobody else can write.
	if has, err := m.hasInvented(tx); err != nil {
		return err
	} else if has && !m.wasDemo {
		return text.Errorf(text.LocalhubImportMeanwhile)
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
			return cmp.Or(m.checkIDs(tx), err) // an ID may have been added meanwhile
		}
	}
	return nil
}

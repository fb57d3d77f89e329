package history

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"wiebelt/internal/store/sqlitefile"
)

// Reader reads the history that another process writes. It cannot change the file. Safe for
// concurrent use; reads wait for each other.
type Reader struct {
	db         *sql.DB
	path       string
	openedInfo fs.FileInfo
}

// OpenReadOnly opens the history at path for reading. The error is fs.ErrNotExist,
// possibly wrapped, if there is no file, and ErrNewer for one of a newer version.
func OpenReadOnly(ctx context.Context, path string) (*Reader, error) {
	was, err := os.Stat(path)
	if err != nil {
		return nil, during("open", err)
	}
	// Sort in memory: a temporary file would outlive a deletion.
	db, err := sqlitefile.OpenWith(ctx, path,
		"mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(ON)&_pragma=temp_store(MEMORY)", checkSchema)
	if err != nil {
		return nil, during("open", err)
	}
	return &Reader{db, path, was}, nil
}

// Stale reports whether the opened file has been replaced or removed.
func (r *Reader) Stale() bool {
	now, err := os.Stat(r.path)
	return err != nil || !os.SameFile(r.openedInfo, now)
}

// Close closes the file.
func (r *Reader) Close() error { return r.db.Close() }

// View selects the calls in a list. No view contains the
// calls to return: they have their own list, see OpenCalls.
type View uint8

// The views.
const (
	ViewAll           View = iota
	ViewMine               // without incoming ResultAnsweredElsewhere and ResultNotHere
	ViewMissedHandled      // only missed calls, ticked off
	ViewElsewhere          // only those answered by a colleague
	ViewUnsure             // only those that may or may not have been answered
)

// Query selects the calls that a list shows, newest first.
type Query struct {
	View   View
	Filter string // as typed
}

func (q Query) where() (index, condition string, args []any) {
	index, conditions := "calls_list", []string{"NOT (" + notTickedOff + ")"}
	switch q.View {
	case ViewMine:
		conditions = append(conditions, `(outgoing OR result NOT IN ('`+ResultAnsweredElsewhere+`', '`+ResultNotHere+`'))`)
	case ViewMissedHandled:
		index, conditions = "calls_handled", []string{tickedOff}
	case ViewElsewhere:
		conditions = append(conditions, `result = '`+ResultAnsweredElsewhere+`' AND outgoing = 0`)
	case ViewUnsure:
		conditions = append(conditions, `result IN ('`+ResultNotHere+`', '`+ResultUnknown+`') AND outgoing = 0`)
	}
	for _, t := range terms(q.Filter) {
		conditions = append(conditions, `instr(find, ?)`)
		args = append(args, t)
	}
	return index, strings.Join(conditions, " AND "), args
}

// Place is a call's position in a list.
type Place struct {
	Rang time.Time
	ID   int64
}

// Place returns the call's position.
func (e Entry) Place() Place { return Place{e.Rang, e.ID} }

// after returns the condition for the calls that follow p.
func (p Place) after() (condition string, args []any) {
	if p == (Place{}) {
		return "1", nil
	}
	return "(rang, id) < (?, ?)", []any{sqlitefile.Micros(p.Rang), p.ID}
}

const newestFirst = "rang DESC, id DESC"

// Part returns those of the next span calls after p that are in a list, at
// most limit, and where the next part begins: the zero Place at the end.
// It is for searching a long history in steps. A zero p is the beginning.
func (r *Reader) Part(ctx context.Context, q Query, p Place, span, limit int) (es []Entry, next Place, err error) {
	index, _, _ := q.where()
	from, args := p.after()
	var rang int64
	err = r.db.QueryRowContext(ctx, `SELECT rang, id FROM calls INDEXED BY `+index+` WHERE `+from+indexConditions[index]+` ORDER BY `+newestFirst+` LIMIT 1 OFFSET ?`,
		append(args, span-1)...).Scan(&rang, &next.ID)
	switch {
	case errors.Is(err, sql.ErrNoRows): // the end
	case err != nil:
		return nil, Place{}, during("read", err)
	default:
		next.Rang = sqlitefile.Time(rang)
		from += " AND (rang, id) >= (?, ?)"
		args = append(args, rang, next.ID)
	}
	es, err = r.list(ctx, q, from, args, limit, 0)
	return es, next, err
}

// indexConditions are the conditions that an index requires.
var indexConditions = map[string]string{"calls_handled": " AND " + tickedOff}

// Page returns the calls from position index of the list, at most limit.
func (r *Reader) Page(ctx context.Context, q Query, index, limit int) ([]Entry, error) {
	return r.list(ctx, q, "1", nil, limit, index)
}

func (r *Reader) list(ctx context.Context, q Query, from string, args []any, limit, skip int) ([]Entry, error) {
	index, condition, find := q.where()
	args = append(append(args, find...), limit, skip)
	// Ids first: entire entries are read only for those shown.
	return query(ctx, r.db, `SELECT `+readColumns+` FROM calls WHERE id IN (
		SELECT id FROM calls INDEXED BY `+index+` WHERE `+from+` AND `+condition+` ORDER BY `+newestFirst+` LIMIT ? OFFSET ?)
		ORDER BY `+newestFirst, args...)
}

// Count returns how many calls follow p in a list, all with a zero p, and how many of
// them rang at t or later.
func (r *Reader) Count(ctx context.Context, q Query, p Place, t time.Time) (count, since int, err error) {
	index, condition, find := q.where()
	from, args := p.after()
	args = append(args, find...)
	query := `SELECT count(*) FROM calls INDEXED BY ` + index + ` WHERE ` + from + ` AND ` + condition
	if err = r.queryInt(ctx, &since, query+` AND rang >= ?`, append(args, sqlitefile.Micros(t))...); err != nil {
		return 0, 0, err
	}
	// Without a condition, SQLite counts pages, not calls.
	if q.View == ViewAll && len(args) == 0 {
		query = `SELECT (SELECT count(*) FROM calls) - (SELECT count(*) FROM calls INDEXED BY calls_open WHERE ` + notTickedOff + `)`
	}
	err = r.queryInt(ctx, &count, query, args...)
	return count, since, err
}

func (r *Reader) queryInt(ctx context.Context, into *int, query string, args ...any) error {
	return during("read", r.db.QueryRowContext(ctx, query, args...).Scan(into))
}

// UnhandledCalls returns the missed calls not ticked off, newest first, at most limit.
func (r *Reader) UnhandledCalls(ctx context.Context, limit int) ([]Entry, error) {
	return query(ctx, r.db, `SELECT `+readColumns+` FROM calls INDEXED BY calls_open WHERE `+notTickedOff+` ORDER BY `+newestFirst+` LIMIT ?`, limit)
}

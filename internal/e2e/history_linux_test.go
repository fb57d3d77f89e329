package e2e

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"

	"wiebelt/internal/store/history"
)

// callsOf reads the history of an office, empty while there is none.
func callsOf(t *testing.T, o *office) []history.Entry {
	r, err := history.OpenReadOnly(t.Context(), filepath.Join(o.profile, "history.db"))
	if err != nil {
		return nil
	}
	defer r.Close()
	work, err := r.UnhandledCalls(t.Context(), 1000)
	if err != nil {
		return nil
	}
	rest, err := r.Page(t.Context(), history.Query{}, 0, 20_000)
	if err != nil {
		return nil
	}
	all := append(work, rest...)
	slices.SortFunc(all, func(a, b history.Entry) int { return cmp.Or(b.Rang.Compare(a.Rang), cmp.Compare(b.ID, a.ID)) })
	return all
}

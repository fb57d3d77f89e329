package e2e

import (
	"path/filepath"
	"testing"
	"time"

	"wiebelt/internal/store/history"
)

// callsOf reads the history of an office, empty while there is none.
func callsOf(t *testing.T, o *office) []history.Entry {
	r, err := history.OpenReadOnly(filepath.Join(o.profile, "history.db"))
	if err != nil {
		return nil
	}
	defer r.Close()
	all, err := r.Since(t.Context(), time.Time{}, 1000)
	if err != nil {
		return nil
	}
	return all
}

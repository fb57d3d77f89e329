package callactions

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/chosencontacts"
	"wiebelt/internal/store/history"
	"wiebelt/internal/store/sqlitefile"
	"wiebelt/internal/testutil/instancetest"
	"wiebelt/internal/testutil/must"
)

// TestForgetFiles checks that without a resident, forgetting removes entries from the
// history and from the remembered choices.
func TestForgetFiles(t *testing.T) {
	const number, other = "+31698760011", "+31207650022"
	const newer = "all, with a history of a newer version, which stays"
	older := func(days int) windowapi.Forget { return windowapi.Forget{Days: &days} }
	for name, c := range map[string]struct {
		what      windowapi.Forget
		left      int  // calls: number's is an hour old, other's three days
		gone, all bool // the remembered choices of number, and of other too
	}{
		"a number":    {windowapi.Forget{Number: "06-98 76 00 11"}, 1, true, false},
		"of any age":  {older(0), 0, true, true},
		"of two days": {older(2), 1, false, false},
		"of thirty":   {older(30), 2, false, false},
		"all":         {windowapi.Forget{All: true}, 0, true, true},
		newer:         {windowapi.Forget{All: true}, 0, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			dirs := must.Get(profile.Find(t.TempDir()))(t)
			s, _ := settings.Parse("[hub]\nsecret_store = \"file\"\n[history]\nchoices = true\nkeep = \"full\"\n")
			with := func(do func(*chosencontacts.Store)) {
				t.Helper()
				chosen := chosencontacts.New(ChoiceParams(dirs, s))
				ctx, end := context.WithCancel(t.Context())
				over := make(chan struct{})
				go func() { defer close(over); chosen.Run(ctx) }()
				// ForgetOlder deletes nothing here; once it returns, the file has been read.
				must.Do(t, chosen.ForgetOlder(ctx, time.Time{}))
				do(chosen)
				end()
				<-over
			}
			with(func(c *chosencontacts.Store) {
				c.SetChoice(number, "c-vries")
				c.SetChoice(other, "c-bakker")
				must.Soon(t, func() (bool, any) { // until the key and the file exist
					_, err := os.Stat(filepath.Join(dirs.State, chosencontacts.FileName))
					return err == nil, err
				})
			})
			calls, err := history.Open(fromsettings.HistoryFile(dirs), history.KeepFull, 7, time.Now)
			must.Do(t, err)
			for n, age := range map[string]time.Duration{number: time.Hour, other: 72 * time.Hour} {
				e := missedCall()
				e.Number, e.Rang = n, time.Now().Add(-age)
				must.Get(calls.Put(t.Context(), e))(t)
			}
			must.Do(t, calls.Close())
			newer := name == newer
			if newer {
				db, err := sqlitefile.Open(fromsettings.HistoryFile(dirs), "")
				if err == nil {
					_, err = db.Exec("PRAGMA user_version = 999")
				}
				must.Do(t, errors.Join(err, db.Close()))
			}
			if err := Forget(t.Context(), instance.Config{RunDir: dirs.Run}, dirs, s, c.what); errors.Is(err, history.ErrNewer) != newer || err != nil && !newer {
				t.Fatal(err)
			}
			with(func(chosen *chosencontacts.Store) {
				_, first := chosen.LastChoice(number)
				_, second := chosen.LastChoice(other)
				if first == c.gone || second == c.all {
					t.Errorf("remembered: %v and %v", first, second)
				}
			})
			if newer {
				must.Get(os.Stat(fromsettings.HistoryFile(dirs)))(t)
				return
			}
			r := must.Get(history.OpenReadOnly(t.Context(), fromsettings.HistoryFile(dirs)))(t)
			defer r.Close()
			if open, err := r.UnhandledCalls(t.Context(), 10); len(open) != c.left || err != nil {
				t.Errorf("%d calls left, %v, want %d", len(open), err, c.left)
			}
		})
	}
}

// TestForgetIsStopped checks that waiting for a resident that does not answer can be canceled.
func TestForgetIsStopped(t *testing.T) {
	instancetest.Stopped(t, func(ctx context.Context, cfg instance.Config) error {
		return Forget(ctx, cfg, profile.Dirs{}, nil, windowapi.Forget{All: true})
	})
}

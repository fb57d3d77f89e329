package settings

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

func TestMain(m *testing.M) {
	processtest.Main(processtest.Roles{"writer": func(t must.Test, args []string) {
		must.Do(t, writeSideBySide(must.Get(profile.Find(args[0]))(t), "hub.client_id", "card.monitor"))
	}})
	os.Exit(m.Run())
}

// writeSideBySide writes each key 250 times with writers that do not know of each other.
// Each key must hold the last value written.
func writeSideBySide(d profile.Dirs, keys ...string) error {
	ends := make(chan error, len(keys))
	for _, key := range keys {
		go func() {
			ends <- func() error {
				last := ""
				for n := range 250 {
					if s, _ := Load(d); n > 0 && s.Get(key) != last {
						return fmt.Errorf("%s is %q after %q was written", key, s.Get(key), last)
					}
					last = fmt.Sprintf("number-%d", n)
					if err := Set(d, map[string]any{key: last}); err != nil {
						return err
					}
				}
				return nil
			}()
		}()
	}
	var err error
	for range keys {
		err = errors.Join(err, <-ends)
	}
	return err
}

// TestTwoPrograms: two programs, each with two writers, write 1,000 times into one file;
// nothing is lost, and no write fails.
func TestTwoPrograms(t *testing.T) {
	d := dirs(t, "# mine\n")
	cmd := processtest.Command(context.Background(), "writer", d.State)
	said := make(chan error, 1)
	go func() {
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("the other program: %w: %s", err, out)
		}
		said <- err
	}()
	err := writeSideBySide(d, "support.contact", "hub.intermediary")
	if other := <-said; err != nil || other != nil {
		t.Error(err, other)
	}
	s, problems := Load(d)
	for _, key := range []string{"support.contact", "hub.intermediary", "hub.client_id", "card.monitor"} {
		if s.Get(key) != "number-249" {
			t.Errorf("%s is %q", key, s.Get(key))
		}
	}
	if len(problems) > 0 {
		t.Error(problems)
	}
}

package settings

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"wiebelt/internal/config/profile"
)

const writerEnv = "WIEBELT_SETTINGS_TEST_WRITER"

// TestMain also runs another program that writes.
func TestMain(m *testing.M) {
	if os.Getenv(writerEnv) == "" {
		os.Exit(m.Run())
	}
	d, err := profile.Find(os.Getenv(writerEnv))
	if err == nil {
		err = writeSideBySide(d, "hub.client_id", "card.monitor")
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
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
	cmd := exec.CommandContext(context.Background(), os.Args[0])
	cmd.Env = append(os.Environ(), writerEnv+"="+d.State)
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

package text

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"wiebelt/internal/core/contact"
)

// TestErrorsAreInOneLanguage checks that errors of the system, our own packages and the hub are
// reported in the language asked for, with the file or address concerned, and stay recognizable.
func TestErrorsAreInOneLanguage(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "weg")
	_, gone := os.Open(missing)
	own := Errorf(SetupBadSetting, gone)
	if !errors.Is(own, fs.ErrNotExist) {
		t.Error("what it wraps is lost")
	}
	full := &fs.PathError{Op: "write", Path: "/dev/full", Err: syscall.ENOSPC}
	for _, c := range []struct {
		err    error
		nl, en string
	}{
		{gone, missing + ": bestaat niet.", missing + ": does not exist."},
		{full, "/dev/full: de schijf is vol.", "/dev/full: the disk is full."},
		{fmt.Errorf("doing: %w", full), "/dev/full: de schijf is vol.", "doing: write /dev/full: no space left on device"},
		{errors.Join(full, gone), "/dev/full: de schijf is vol. " + missing + ": bestaat niet.", "/dev/full: the disk is full. " + missing + ": does not exist."},
		{fmt.Errorf("around: %w", own), Dutch.T(SetupBadSetting, missing+": bestaat niet."), "around: " + English.T(SetupBadSetting, missing+": does not exist.")},
		{&contact.LookupError{Failure: contact.HubError, Detail: "status 503"}, strings.TrimSuffix(Dutch.T(Failure("hub_error")), ".") + " (status 503).",
			strings.TrimSuffix(English.T(Failure("hub_error")), ".") + " (status 503)."},
		{&contact.LookupError{Failure: contact.HubError, Detail: "the connection broke"}, Dutch.T(Failure("hub_error")),
			strings.TrimSuffix(English.T(Failure("hub_error")), ".") + " (the connection broke)."},
		{errors.New("odd"), "er ging iets mis: odd", "odd"},
	} {
		if got := Dutch.Error(c.err); got != c.nl {
			t.Errorf("%v: %q", c.err, got)
		}
		if got := English.Error(c.err); got != c.en {
			t.Errorf("%v: %q", c.err, got)
		}
	}
}

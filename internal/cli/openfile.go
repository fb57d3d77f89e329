package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"wiebelt/internal/config/setupfile"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/instance"
	"wiebelt/internal/resident"
	"wiebelt/internal/softphone/ring"
	"wiebelt/internal/text"
)

// Timeouts for a resident that has to be started first.
const (
	startTimeout = 15 * time.Second
	startRetry   = 100 * time.Millisecond
)

// openFileCmd is only for the help; openFile does the work.
type openFileCmd struct{}

func (openFileCmd) Run(e *env) error { return e.argumentError("open-file", "FILE") }

// openFile shows a set-up file in the settings window and changes nothing. Like
// handOverLink, it accepts exactly "-- FILE" or "--profile DIR -- FILE": the sender of
// the file chooses its name.
func (e *env) openFile(args []string) error {
	name, profile, err := ring.SingleArgument(args)
	if err != nil {
		return e.argumentError("open-file", "FILE")
	}
	e.profileDir = profile
	path, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if !strings.EqualFold(filepath.Ext(path), setupfile.Suffix) {
		return usageError(text.AdminNotSetupFile, setupfile.Suffix)
	}
	if info, err := os.Stat(path); err != nil {
		return err
	} else if !info.Mode().IsRegular() {
		return text.Errorf(text.OutputNoFile)
	}
	d, err := e.dirs()
	if err != nil {
		return err
	}
	cfg := e.instanceConfig(d, nil)
	ctx, cancel := context.WithTimeout(e.ctx, startTimeout)
	defer cancel()
	if err = resident.OpenFile(ctx, cfg, path); !errors.Is(err, instance.ErrNotRunning) {
		return err
	}
	if err := startResident(e.profileDir, true); err != nil {
		return err
	}
	for errors.Is(err, instance.ErrNotRunning) && wake.Pause(ctx, startRetry) == nil {
		err = resident.OpenFile(ctx, cfg, path)
	}
	return err
}

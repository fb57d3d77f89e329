package localhub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"wiebelt/internal/text"
)

// Data is what a hub keeps: clients, users, contacts and the message box. It is
// part of every Hub, and opened on its own to manage a hub that runs or does
// not run. Its methods may be used from any goroutine.
type Data struct {
	store *store
	dir   string // "" is in memory
	demo  bool   // invented contacts only
	now   func() time.Time

	lock    *flock.Flock // held by the hub that serves the folder
	keeping sync.Mutex   // one delivery at a time goes into the message box

	mu   sync.Mutex // guards temp
	temp string     // the folder of messages of a hub in memory, made for the first one
}

// OpenData opens the folder of a hub, which is made if it is not there. A hub
// may be running on it.
func OpenData(ctx context.Context, dir string) (*Data, error) {
	if dir == "" {
		return nil, text.Errorf(text.LocalhubBadNoFolder)
	}
	s, err := openStore(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &Data{store: s, dir: dir, now: time.Now}, nil
}

// Close closes the database; what was in memory is gone.
func (d *Data) Close() error {
	err := d.store.close()
	if d.lock != nil {
		err = errors.Join(err, d.lock.Unlock())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.temp != "" {
		err = errors.Join(err, os.RemoveAll(d.temp))
		d.temp = ""
	}
	return err
}

// own takes the folder for the one hub that serves it, and clears what an
// interrupted one left.
func (d *Data) own(ctx context.Context) error {
	if d.dir == "" {
		return nil
	}
	l := flock.New(filepath.Join(d.dir, "hub.lock"), flock.SetPermissions(0o600))
	taken, err := l.TryLock()
	if err != nil {
		return fmt.Errorf("local hub: %w", err)
	}
	if !taken {
		return text.Errorf(text.LocalhubBadRunning)
	}
	d.lock = l
	return d.sweep(ctx)
}

// folder is where the files of the message box lie, and those on their way in.
func (d *Data) folder(name string) (string, error) {
	root := d.dir
	if root == "" {
		d.mu.Lock()
		if d.temp == "" {
			var err error
			if d.temp, err = os.MkdirTemp("", "wiebelt-hub-"); err != nil {
				d.mu.Unlock()
				return "", fmt.Errorf("local hub: %w", err)
			}
		}
		root = d.temp
		d.mu.Unlock()
	}
	path := filepath.Join(root, name)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", fmt.Errorf("local hub: %w", err)
	}
	return path, nil
}

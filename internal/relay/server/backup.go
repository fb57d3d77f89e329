package server

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/relay/users"
)

// A single relay backs up its users: a server with damaged files starts with what it can
// read of them, without reporting it.
const (
	usersBackup = "users.json"
	maxBackup   = 32 << 20 // bytes
)

func (r *relay) backUpUsers(all []users.Entry) error {
	if !r.Settings.Single() {
		return nil
	}
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return profile.WriteFile(filepath.Join(r.Dir, usersBackup), b, 0o600)
}

// restoreUsers restores users the server has lost. Removed users are recorded
// as such and stay removed.
func (r *relay) restoreUsers(ctx context.Context, d *users.Directory) error {
	if !r.Settings.Single() {
		return nil
	}
	var all []users.Entry
	if err := readBackup(r.Dir, usersBackup, &all); err != nil {
		r.Log.Warn("the backup of the users cannot be read", "why", err)
		return nil
	}
	lost := 0
	for _, e := range all {
		was, err := d.Restore(ctx, e)
		if err != nil {
			return err
		}
		if was {
			lost++
		}
	}
	if lost > 0 {
		r.Log.Error("the server had lost users, who were put back", "users", lost)
	}
	return nil
}

// readBackup reads a backup, which need not exist.
func readBackup(dir, file string, to any) error {
	b, err := filetrust.ReadFile(filepath.Join(dir, file), maxBackup, filetrust.Private)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

// revokedFile holds the revoked keys. The server listens before the removed users are
// known, which takes as long as the site has no quorum.
const revokedFile = "revoked.json"

// revoked returns the keys that were revoked when the relay last ran.
func (c Config) revoked() (keys map[string]time.Time) {
	if err := readBackup(c.Dir, revokedFile, &keys); err != nil {
		c.Log.Error("the keys that hold no more cannot be read", "why", err)
	}
	return keys
}

// saveRevoked writes the keys for the next start.
func (r *relay) saveRevoked(keys map[string]time.Time) error {
	if maps.EqualFunc(keys, r.storage.revoked, time.Time.Equal) || r.Settings.NATS.External() {
		return nil
	}
	b, err := json.Marshal(keys)
	if err == nil && len(b) > maxBackup {
		err = errors.New("there are too many")
	}
	if err == nil {
		err = profile.WriteFile(filepath.Join(r.Dir, revokedFile), b, 0o600)
	}
	if err == nil {
		r.storage.revoked = keys
	}
	return err
}

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

// A relay that is alone backs its users up: a server whose files were damaged
// starts with what it can read of them, and says nothing.
const (
	usersBackup = "users.json"
	maxBackup   = 32 << 20 // bytes
)

// backUpUsers writes the users as they are now.
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

// restoreUsers puts back those whom the server has lost. A user who was removed is known
// as such and stays out.
func (r *relay) restoreUsers(ctx context.Context, d *users.Directory) error {
	if !r.Settings.Single() {
		return nil
	}
	b, err := filetrust.ReadFile(filepath.Join(r.Dir, usersBackup), maxBackup, filetrust.Alone)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var all []users.Entry
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
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

// revokedFile has the keys that hold no more. The server listens before it is known who
// was removed, and in a site that has lost its quorum that takes as long.
const revokedFile = "revoked.json"

// revoked gives the keys that held no more when the relay ran last.
func (c Config) revoked() (keys map[string]time.Time) {
	b, err := filetrust.ReadFile(filepath.Join(c.Dir, revokedFile), maxBackup, filetrust.Alone)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(b, &keys)
	}
	if err != nil {
		c.Log.Error("the keys that hold no more cannot be read", "why", err)
	}
	return keys
}

// saveRevoked writes them for the next start.
func (r *relay) saveRevoked(keys map[string]time.Time) error {
	if maps.EqualFunc(keys, r.storage.revoked, time.Time.Equal) || r.Settings.NATS.Elsewhere() {
		return nil
	}
	b, err := json.Marshal(keys)
	if err == nil && len(b) > maxBackup {
		err = errTooMany
	}
	if err == nil {
		err = profile.WriteFile(filepath.Join(r.Dir, revokedFile), b, 0o600)
	}
	if err == nil {
		r.storage.revoked = keys
	}
	return err
}

var errTooMany = errors.New("there are too many")

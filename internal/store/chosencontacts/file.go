package chosencontacts

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/filetrust"
)

const version = 1

// maxFile exceeds the size of maxChoices choices.
const maxFile = 8 << 20

type file struct {
	keyMark  string // of the key that its numbers are hashed with, "" for none
	keepAsIs bool   // of a newer version, or unreadable now: left as it is
}

type contents struct {
	Version int     `json:"version"`
	Key     string  `json:"key"`
	Choices []entry `json:"choices"`
}

type entry struct {
	Number  string `json:"number"`  // keyed hash, base64url
	Contact string `json:"contact"` // id
	Used    int64  `json:"used"`    // seconds since 1970
}

var (
	errDamaged  = errors.New("the file with remembered choices is damaged")
	errLeftAsIs = errors.New("the file with remembered choices is of a newer version or cannot be read, and stays as it is")
)

// load reads the file. A damaged one is deleted: nobody could tell whose choices to forget
// in it, and choices are soon made again.
func (s *Store) load() {
	_ = os.Remove(s.p.Path + ".damaged") // earlier versions kept it
	if keep, _ := s.setting(); !keep {
		if _, err := os.Lstat(s.p.Path); err == nil {
			s.file.keyMark = "?" // so that the key is deleted too
		}
		return
	}
	c, err := read(s.p.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err == nil && c.Version > version:
		s.file.keepAsIs = true
		s.p.Log.Warn("the remembered choices were written by a newer version")
		return
	case err != nil && !errors.Is(err, errDamaged):
		s.file.keepAsIs = true
		s.p.Log.Warn("the remembered choices cannot be read", "why", err)
		return
	}
	kept, ok := parse(c, time.Now())
	if err != nil || !ok {
		s.p.Log.Warn("the file with remembered choices is damaged and is deleted")
		if err := profile.RemoveFile(s.p.Path); err != nil {
			s.p.Log.Warn("it could not be deleted", "why", err)
			s.file.keepAsIs = true
		}
		return
	}
	s.file.keyMark = c.Key
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keep { // it may have been switched off meanwhile
		s.choices = kept
	}
}

func read(path string) (c contents, err error) {
	b, err := filetrust.ReadPlain(path, maxFile)
	switch {
	case errors.Is(err, filetrust.ErrUntrusted), errors.Is(err, filetrust.ErrTooLarge): // not written by us
		return c, errDamaged
	case err != nil:
		return c, err
	case json.Unmarshal(b, &c) != nil: // the error may quote the contents
		return c, errDamaged
	}
	return c, nil
}

func parse(c contents, now time.Time) (map[tag]choice, bool) {
	if c.Version != version || c.Key == "" || len(c.Choices) > maxChoices {
		return nil, false
	}
	kept := make(map[tag]choice, len(c.Choices))
	for _, e := range c.Choices {
		b, err := base64.RawURLEncoding.DecodeString(e.Number)
		if err != nil || len(b) != len(tag{}) || e.Contact == "" || len(e.Contact) > maxContact {
			return nil, false
		}
		used := time.Unix(e.Used, 0)
		if used.After(now) { // a wrong clock must not keep it forever
			used = now
		}
		kept[tag(b)] = choice{e.Contact, used}
	}
	return kept, true
}

// save writes changes. Without a key there is nothing new to write, but perhaps
// something to delete.
func (s *Store) save() error {
	s.mu.Lock()
	if !s.dirty {
		s.mu.Unlock()
		return nil
	}
	c := contents{Version: version, Key: s.file.keyMark, Choices: make([]entry, 0, len(s.choices))}
	for t, k := range s.choices {
		c.Choices = append(c.Choices, entry{string(t[:]), k.contact, k.used.Unix()})
	}
	s.dirty = false
	s.mu.Unlock()
	err := write(s.p.Path, c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.dirty = s.keep
	}
	return err
}

func write(path string, c contents) error {
	if len(c.Choices) == 0 {
		return profile.RemoveFile(path)
	}
	for i := range c.Choices {
		c.Choices[i].Number = base64.RawURLEncoding.EncodeToString([]byte(c.Choices[i].Number))
	}
	b, _ := json.Marshal(c) // texts and numbers always encode
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return profile.WriteFile(path, append(b, '\n'), 0o600)
}

func (f *file) remove(path string) error {
	f.keyMark, f.keepAsIs = "", false
	if err := profile.RemoveFile(path); err != nil {
		return fmt.Errorf("delete remembered choices: %w", err)
	}
	return nil
}

package secret

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/filetrust"
)

// fileStore keeps each secret in a separate file, so that two programs never write the same
// one for different reasons.
type fileStore struct{ dir string }

func newFileStore(dirs profile.Dirs) *fileStore {
	return &fileStore{filepath.Join(dirs.State, "secrets")}
}

// secretFile is the content of such a file. It includes the secret's owner, so a renamed
// file gives nothing away.
type secretFile struct {
	Version int    `json:"version"`
	Kind    string `json:"kind"`
	Origin  string `json:"origin"`
	Client  string `json:"client"`
	Secret  string `json:"secret"`
}

func (s *fileStore) path(ref Ref) string { return filepath.Join(s.dir, ref.digest()+".json") }

func (s *fileStore) Get(_ context.Context, ref Ref) (string, error) {
	b, err := readPrivate(s.path(ref))
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNotSet
	}
	if err != nil {
		return "", err
	}
	return unpack(b, ref)
}

func pack(ref Ref, secret string) []byte {
	b, _ := json.Marshal(secretFile{1, ref.kind, ref.origin, ref.client, secret}) // four texts and a number cannot fail
	return append(b, '\n')
}

// unpack returns the secret if it belongs to ref.
func unpack(b []byte, ref Ref) (string, error) {
	var k secretFile
	if json.Unmarshal(b, &k) != nil || k.Version != 1 || k.Secret == "" {
		return "", ErrDamaged
	}
	if (Ref{k.Kind, k.Origin, k.Client, ref.perUser}) != ref {
		return "", ErrNotSet
	}
	return k.Secret, nil
}

func (s *fileStore) Set(_ context.Context, ref Ref, secret string) error {
	if err := filetrust.Make(s.dir, filetrust.Private); err != nil {
		return fileError(err)
	}
	return profile.WriteFile(s.path(ref), pack(ref, secret), 0o600)
}

func (s *fileStore) Delete(_ context.Context, ref Ref) error {
	return profile.RemoveFile(s.path(ref))
}

func (s *fileStore) Clear(context.Context) error { return os.RemoveAll(s.dir) }

// maxFile is above the size of any valid file.
const maxFile = 16 << 10

// readPrivate reads a small file, unless somebody else could have read or written it.
func readPrivate(path string) ([]byte, error) {
	b, err := filetrust.ReadFile(path, maxFile, filetrust.Private)
	return b, fileError(err)
}

// fileError maps a file's error to one of this package.
func fileError(err error) error {
	switch {
	case errors.Is(err, filetrust.ErrUntrusted):
		return ErrExposed
	case errors.Is(err, filetrust.ErrTooLarge):
		return ErrDamaged
	}
	return err
}

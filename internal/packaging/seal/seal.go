//go:build linux

// Package seal lists a release's files and signs that list with a key of the builder. It
// has no state and no goroutines.
package seal

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aead.dev/minisign"

	"wiebelt/internal/packaging/release"
)

// sums is the name of the list of all files and their SHA-256 sums.
const sums = "SHA256SUMS"

// Key is the path of a minisign secret key, and of the file with its password, if it has
// one. The zero Key signs nothing.
type Key struct{ File, Password string }

// Write writes the list, and its signature beside it.
func Write(r release.Release, key Key) error {
	list, err := list(r.Out)
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.Package(sums), list, 0o644); err != nil || key.File == "" {
		return err
	}
	secret, err := key.read()
	if err != nil {
		return err
	}
	// Without the time of signing, so that the signature is reproducible too.
	signed := minisign.SignWithComments(secret, list, "wiebelt "+r.Version+" "+r.Commit, "signature of Wiebelt "+r.Version)
	return os.WriteFile(r.Package(sums+".minisig"), signed, 0o644)
}

// list returns the sums of all files below a folder, in the format of sha256sum.
func list(dir string) ([]byte, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), sums) {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(body), filepath.ToSlash(name))
		return err
	})
	return []byte(b.String()), err
}

func (k Key) read() (secret minisign.PrivateKey, err error) {
	text, err := os.ReadFile(k.File)
	if err != nil {
		return secret, err
	}
	if !minisign.IsEncrypted(text) {
		return secret, secret.UnmarshalText(text)
	}
	password, err := os.ReadFile(k.Password)
	if err != nil {
		return secret, fmt.Errorf("the key wants a password: %w", err)
	}
	return minisign.DecryptKey(strings.TrimRight(string(password), "\r\n"), text)
}

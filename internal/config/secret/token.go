package secret

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/private"
)

// Tokens authorise access to the listener. Each is 32 random bytes in base64url without
// padding, 43 characters.
type Tokens struct {
	private.Data
	Socket string // for the WebSocket, and as a bearer token
	Path   string // the last path element; it can only report calls
}

type tokenFile struct {
	Version int    `json:"version"`
	Socket  string `json:"socket"`
	Path    string `json:"path"`
}

// TokensName is the file name in the profile's state folder.
const TokensName = "tokens.json"

func tokenPath(dirs profile.Dirs) string { return filepath.Join(dirs.State, TokensName) }

// EnsureTokens returns the listener's tokens of a profile, and creates them the first time.
// Programs that do so concurrently get the same ones. A file that others can read or with
// other content is an error (ErrExposed, ErrDamaged): recipes in softphones contain the
// tokens, so only RenewTokens replaces them.
func EnsureTokens(dirs profile.Dirs) (Tokens, error) {
	t, err := loadTokens(dirs)
	if !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	t, b := newTokens()
	if err := os.MkdirAll(dirs.State, 0o700); err != nil {
		return Tokens{}, err
	}
	err = profile.CreateFile(tokenPath(dirs), b, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return loadTokens(dirs) // another program was first
	}
	if err != nil {
		return Tokens{}, err
	}
	return t, nil
}

// RenewTokens replaces the tokens. Every recipe that contains an old one stops working.
func RenewTokens(dirs profile.Dirs) (Tokens, error) {
	t, b := newTokens()
	if err := os.MkdirAll(dirs.State, 0o700); err != nil {
		return Tokens{}, err
	}
	if err := profile.WriteFile(tokenPath(dirs), b, 0o600); err != nil {
		return Tokens{}, err
	}
	return t, nil
}

// RemoveTokens removes the tokens. The next Wiebelt creates new ones.
func RemoveTokens(dirs profile.Dirs) error { return profile.RemoveFile(tokenPath(dirs)) }

func newTokens() (Tokens, []byte) {
	t := Tokens{Socket: RandomKey(), Path: RandomKey()}
	b, _ := json.Marshal(tokenFile{1, t.Socket, t.Path}) // cannot fail: two texts and a number
	return t, append(b, '\n')
}

func loadTokens(dirs profile.Dirs) (Tokens, error) {
	b, err := readPrivate(tokenPath(dirs))
	if err != nil {
		return Tokens{}, err
	}
	var k tokenFile
	if json.Unmarshal(b, &k) != nil || k.Version != 1 || !isToken(k.Socket) || !isToken(k.Path) || k.Socket == k.Path {
		return Tokens{}, ErrDamaged
	}
	return Tokens{Socket: k.Socket, Path: k.Path}, nil
}

// RandomKey returns 32 random bytes as text, in base64url without padding.
func RandomKey() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: it crashes the program instead
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func isToken(s string) bool {
	b, err := base64.RawURLEncoding.DecodeString(s)
	return err == nil && len(b) == 32
}

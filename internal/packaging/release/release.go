// Package release has what every package is built from: the programs, their version, and
// the single time for all files, so that the same commit always produces the same bytes. It
// has no state and no goroutines.
package release

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"aead.dev/minisign"
)

// Release is one version of the programs.
type Release struct {
	Version string    // three numbers, all that an MSI supports
	Commit  string    // that the programs were built from
	Time    time.Time // of that commit: the only time in packages
	Bin     string    // folder of the programs; Windows programs in windows below it
	Out     string    // folder for the packages
}

var threeNumbers = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`)

// New validates its arguments and creates the folder out; epoch is the value of
// SOURCE_DATE_EPOCH.
func New(version, commit, epoch, bin, out string) (Release, error) {
	if !threeNumbers.MatchString(version) {
		return Release{}, fmt.Errorf("version %q is not three numbers", version)
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds <= 0 {
		return Release{}, errors.New("SOURCE_DATE_EPOCH is not the time of the commit")
	}
	return Release{Version: version, Commit: commit, Time: time.Unix(seconds, 0).UTC(), Bin: bin, Out: out}, os.MkdirAll(out, 0o755)
}

// Program returns the path of a program, such as "wiebelt" or "windows/wiebelt.exe".
func (r Release) Program(name string) string { return filepath.Join(r.Bin, filepath.FromSlash(name)) }

// Package returns the path for a file in the folder of packages.
func (r Release) Package(name string) string { return filepath.Join(r.Out, name) }

// sums names the list of all files with their SHA-256 sums.
const sums = "SHA256SUMS"

// Key has the paths of a minisign secret key, if any, and of the file with its password.
type Key struct{ File, Password string }

// Seal writes the list of all files and its signature beside them.
func (r Release) Seal(key Key) error {
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

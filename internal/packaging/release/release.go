// Package release has what every package is built from: the programs, their version, and
// the single time for all files, so that the same commit always produces the same bytes. It
// has no state and no goroutines.
package release

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
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

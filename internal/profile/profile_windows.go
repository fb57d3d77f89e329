package profile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// platformDirs: settings roam with the user, the rest stays on this computer.
func platformDirs(env func(string) string) (Dirs, error) {
	roaming, here := env("APPDATA"), env("LOCALAPPDATA")
	if !filepath.IsAbs(roaming) || !filepath.IsAbs(here) {
		return Dirs{}, ErrNoHome
	}
	d := Dirs{Config: filepath.Join(roaming, "Wiebelt"), State: filepath.Join(here, "Wiebelt")}
	d.Run = filepath.Join(d.State, "run")
	return d, nil
}

var getDriveType = syscall.NewLazyDLL("kernel32.dll").NewProc("GetDriveTypeW")

// driveRemote is what GetDriveType says of a drive letter that stands for a
// share of another computer.
const driveRemote = 4

// local refuses shares (\\server\share), device names (\\.\, \\?\) and drive
// letters that stand for a share: opening one hands our log-on to its server.
func local(dir string) bool {
	volume := filepath.VolumeName(dir)
	if strings.HasPrefix(dir, `\\`) || strings.HasPrefix(dir, `//`) || len(volume) > 2 {
		return false
	}
	if volume == "" {
		return true // relative; asked again once it is absolute
	}
	root, err := syscall.UTF16PtrFromString(volume + `\`)
	if err != nil {
		return false
	}
	kind, _, _ := getDriveType.Call(uintptr(unsafe.Pointer(root)))
	return kind != driveRemote
}

func userID() string {
	t, err := syscall.OpenCurrentProcessToken()
	if err != nil {
		return "user"
	}
	defer t.Close()
	u, err := t.GetTokenUser()
	if err != nil {
		return "user"
	}
	sid, err := u.User.Sid.String()
	if err != nil {
		return "user"
	}
	return sid
}

// trusted and closed leave it to the rights that folders inherit below the
// user's own profile.
func trusted(dir string, info fs.FileInfo) error {
	if !info.IsDir() {
		return fmt.Errorf("%s: not a folder: %w", dir, ErrUnsafe)
	}
	return nil
}

func closed(string, fs.FileInfo) error { return nil }

// rename tries for a second: a virus scanner or a reader may hold the old file
// open for a moment, and then Windows refuses to replace it.
func rename(from, to string) error {
	var err error
	for wait := 5 * time.Millisecond; wait < 700*time.Millisecond; wait *= 2 {
		if err = os.Rename(from, to); err == nil {
			return nil
		}
		time.Sleep(wait)
	}
	return err
}

// syncDir: Windows has no such thing for folders.
func syncDir(string) error { return nil }

// globQuote: Windows patterns have no escape, and file names no * and ?.
func globQuote(s string) string { return s }

package filetrust

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"wiebelt/internal/testutil/must"
)

// stranger is another user; tests that need one run as root.
const stranger = 65534

// wants checks that err is an Error with the reason why, or nil for "".
func wants(t *testing.T, err error, why Fault) {
	t.Helper()
	e, _ := errors.AsType[*Error](err)
	if why == "" && err != nil || why != "" && (e == nil || e.Fault != why || !errors.Is(err, ErrUntrusted)) {
		t.Errorf("%v, want %q", err, why)
	}
}

// shareWith gives another user write access to a folder by an access control list,
// which the mode shows as a group permission.
func shareWith(path string, uid uint32) error {
	list := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, 7, ^uint32(0)}, {2, 7, uid}, {4, 0, ^uint32(0)}, {0x10, 7, ^uint32(0)}, {0x20, 0, ^uint32(0)}} {
		list = binary.LittleEndian.AppendUint16(list, e.tag)
		list = binary.LittleEndian.AppendUint16(list, e.perm)
		list = binary.LittleEndian.AppendUint32(list, e.id)
	}
	return unix.Setxattr(path, "system.posix_acl_access", list, 0)
}

// TestFolder checks that a folder (above/p) that others could change is not trusted.
func TestFolder(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(above, p string) error
		who   Ownership
		why   Fault
	}{
		"ours":                           {func(_, p string) error { return nil }, Private, ""},
		"of the administrators":          {func(_, p string) error { return nil }, AdminOwned, ""},
		"open for reading":               {func(_, p string) error { return os.Chmod(p, 0o755) }, UserOwned, ""},
		"alone, but open for reading":    {func(_, p string) error { return os.Chmod(p, 0o750) }, Private, FaultRead},
		"the group may write":            {func(_, p string) error { return os.Chmod(p, 0o770) }, UserOwned, FaultWrite},
		"everybody may write":            {func(_, p string) error { return os.Chmod(p, 0o777) }, UserOwned, FaultWrite},
		"everybody may put something in": {func(_, p string) error { return os.Chmod(p, 0o777|os.ModeSticky) }, UserOwned, FaultWrite},
		"another's":                      {func(_, p string) error { return os.Chown(p, stranger, -1) }, UserOwned, FaultOwner},
		"in another's":                   {func(a, _ string) error { return os.Chown(a, stranger, -1) }, UserOwned, FaultOwner},
		"in one that all may write":      {func(a, _ string) error { return os.Chmod(a, 0o777) }, UserOwned, FaultWrite},
		"in one like /tmp":               {func(a, _ string) error { return os.Chmod(a, 0o777|os.ModeSticky) }, UserOwned, ""},
		"another's in one like /tmp": {func(a, p string) error {
			return errors.Join(os.Chmod(a, 0o777|os.ModeSticky), os.Chown(p, stranger, -1))
		}, UserOwned, FaultOwner},
		"in one that a group may write":    {func(a, _ string) error { return errors.Join(os.Chown(a, -1, 100), os.Chmod(a, 0o770)) }, UserOwned, FaultWrite},
		"in one for the owner's own group": {func(a, _ string) error { return os.Chmod(a, 0o770) }, UserOwned, ""},
		"in one shared by a list":          {func(a, _ string) error { return shareWith(a, stranger) }, UserOwned, FaultWrite},
		"a file":                           {func(_, p string) error { return errors.Join(os.Remove(p), os.WriteFile(p, nil, 0o600)) }, UserOwned, FaultKind},
		"not there":                        {func(_, p string) error { return os.Remove(p) }, UserOwned, "none"},
		"our link":                         {func(a, p string) error { return errors.Join(os.Rename(p, p+"r"), os.Symlink("../a/pr", p)) }, UserOwned, ""},
		"our link, but alone":              {func(a, p string) error { return errors.Join(os.Rename(p, p+"r"), os.Symlink("pr", p)) }, Private, FaultLink},
		"another's link": {func(a, p string) error {
			return errors.Join(os.Rename(p, p+"r"), os.Symlink("pr", p), os.Lchown(p, stranger, -1))
		}, UserOwned, FaultOwner},
		"our link to another's": {func(a, p string) error {
			return errors.Join(os.Rename(p, p+"r"), os.Symlink(p+"r", p), os.Chown(p+"r", stranger, -1))
		}, UserOwned, FaultOwner},
		"our link through another's": {func(a, p string) error {
			return errors.Join(os.Remove(p), os.MkdirAll(a+"/b/c", 0o755), os.Chown(a+"/b", stranger, -1), os.Symlink("b/c", p))
		}, UserOwned, FaultOwner},
		"links in a circle": {func(a, p string) error {
			return errors.Join(os.Remove(p), os.Symlink("q", p), os.Symlink("p", a+"/q"))
		}, UserOwned, FaultLink},
	} {
		t.Run(name, func(t *testing.T) {
			above := filepath.Join(t.TempDir(), "a")
			p := filepath.Join(above, "p")
			must.Do(t, os.MkdirAll(p, 0o700), c.plant(above, p))
			err := CheckFolder(p, c.who)
			if c.why == "none" {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
				return
			}
			wants(t, err, c.why)
		})
	}
}

// TestProgram checks that a program is not trusted if others
// may replace it, as anyone can who may add files beside it.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	exe := filepath.Join(dir, "bin", "wiebelt")
	must.Do(t, os.Mkdir(filepath.Dir(exe), 0o755), os.WriteFile(exe, nil, 0o755))
	for _, c := range []struct {
		path string
		mode os.FileMode
		why  Fault
	}{
		{exe, 0o755, ""}, {exe, 0o777, FaultWrite}, {exe, 0o775, ""}, {filepath.Dir(exe), 0o775, ""},
		{filepath.Dir(exe), 0o777 | os.ModeSticky, FaultWrite}, {dir, 0o777, FaultWrite}, {dir, 0o777 | os.ModeSticky, ""},
	} {
		must.Do(t, os.Chmod(c.path, c.mode))
		wants(t, CheckProgram(exe), c.why)
		must.Do(t, os.Chmod(c.path, 0o755))
	}
}

// TestOpenFile checks the faults of a file (d/f) and of the folder that contains it.
func TestOpenFile(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(d, f string) error
		who   Ownership
		why   Fault
	}{
		"ours":                        {func(_, f string) error { return nil }, Private, ""},
		"others may read":             {func(_, f string) error { return os.Chmod(f, 0o644) }, UserOwned, ""},
		"alone, but others may read":  {func(_, f string) error { return os.Chmod(f, 0o640) }, Private, FaultRead},
		"alone, but everybody may":    {func(_, f string) error { return os.Chmod(f, 0o604) }, Private, FaultRead},
		"alone, in a readable folder": {func(d, _ string) error { return os.Chmod(d, 0o755) }, Private, ""},
		"others may write":            {func(_, f string) error { return os.Chmod(f, 0o620) }, UserOwned, FaultWrite},
		"everybody may write":         {func(_, f string) error { return os.Chmod(f, 0o602) }, UserOwned, FaultWrite},
		"another's":                   {func(_, f string) error { return os.Chown(f, stranger, -1) }, UserOwned, FaultOwner},
		"another's, as administrator": {func(_, f string) error { return os.Chown(f, stranger, -1) }, AdminOwned, FaultOwner},
		"a link": {func(_, f string) error { return errors.Join(os.Rename(f, f+"r"), os.Symlink("fr", f)) },
			UserOwned, FaultLink},
		"a pipe": {func(_, f string) error { return errors.Join(os.Remove(f), syscall.Mkfifo(f, 0o600)) },
			UserOwned, FaultKind},
		"a folder":            {func(_, f string) error { return errors.Join(os.Remove(f), os.Mkdir(f, 0o700)) }, UserOwned, FaultKind},
		"in a folder for all": {func(d, _ string) error { return os.Chmod(d, 0o777|os.ModeSticky) }, UserOwned, FaultWrite},
		"in another's folder": {func(d, _ string) error { return os.Chown(d, stranger, -1) }, Private, FaultOwner},
		"in a linked folder": {func(d, _ string) error { return errors.Join(os.Rename(d, d+"r"), os.Symlink("dr", d)) },
			AdminOwned, FaultLink},
	} {
		t.Run(name, func(t *testing.T) {
			d := filepath.Join(t.TempDir(), "d")
			f := filepath.Join(d, "f")
			must.Do(t, os.Mkdir(d, 0o700), os.WriteFile(f, []byte("x"), 0o600), c.plant(d, f))
			b, err := ReadFile(f, 10, c.who)
			wants(t, err, c.why)
			if (string(b) == "x") != (c.why == "") {
				t.Errorf("read %q", b)
			}
		})
	}
	f := filepath.Join(t.TempDir(), "f")
	must.Do(t, os.WriteFile(f, []byte("four"), 0o600))
	if _, err := ReadFile(f, 3, UserOwned); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

// TestMake checks that nothing is created where others could change it.
func TestMake(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "a", "b")
	must.Do(t, Make(p, Private), Make(p, Private))
	for _, d := range []string{filepath.Dir(p), p} {
		if info, err := os.Stat(d); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v %v", info, err)
		}
	}
	must.Do(t, os.Chmod(p, 0o755), Make(p, UserOwned))
	if info, _ := os.Stat(p); info.Mode().Perm() != 0o755 {
		t.Errorf("one that was there has %o", info.Mode().Perm())
	}
	must.Do(t, Make(p, Private))
	if info, _ := os.Stat(p); info.Mode().Perm() != 0o700 {
		t.Errorf("one for us alone has %o", info.Mode().Perm())
	}
	must.Do(t, os.Chmod(p, 0o775))
	wants(t, Make(p, Private), FaultWrite)
	must.Do(t, os.Chmod(p, 0o700), os.Chown(p, stranger, -1))
	wants(t, Make(filepath.Join(p, "c"), UserOwned), FaultOwner)
	if left, _ := os.ReadDir(p); len(left) != 0 {
		t.Error("made a folder in another user's")
	}
}

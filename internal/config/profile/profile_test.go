package profile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/filetrust"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

func TestFindWithProfileFolder(t *testing.T) {
	dir := t.TempDir()
	d := must.Get(Find(dir))(t)
	if want := (Dirs{dir, dir, filepath.Join(dir, "run")}); d != want {
		t.Errorf("%+v, want %+v", d, want)
	}
	t.Chdir(dir)
	if d, err := Find("sub"); err != nil || d.Config != filepath.Join(dir, "sub") {
		t.Errorf("relative: %+v, %v", d, err)
	}
	if _, err := Find("a\x00b"); !errors.Is(err, ErrNotLocal) || text.Dutch.Error(err) != text.Dutch.T(text.ErrorNotLocal) {
		t.Errorf("with a zero byte: %v", err)
	}
}

func TestMakeIsForUsOnly(t *testing.T) {
	root := filepath.Join(t.TempDir(), "p")
	d, _ := Find(root)
	must.Do(t, d.Make())
	if err := d.Make(); err != nil {
		t.Fatalf("a second time: %v", err)
	}
	for _, dir := range []string{d.Config, d.Run} {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", dir, err)
		}
	}
	checkModes(t, d)
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a[1]*?.toml")
	if filepath.Separator == '\\' {
		path = filepath.Join(dir, "a[1].toml")
	}
	other, old := must.Get(writeTemp(path, nil, 0o600))(t), must.Get(writeTemp(path, nil, 0o600))(t)
	ago := time.Now().Add(-2 * staleAfter)
	must.Do(t, os.Chtimes(old, ago, ago))
	for _, s := range []string{"one", "two", ""} {
		must.Do(t, WriteFile(path, []byte(s), 0o600))
		if b, err := os.ReadFile(path); err != nil || string(b) != s {
			t.Fatalf("%q, %v; want %q", b, err, s)
		}
	}
	// A file that another program is writing stays.
	if left, _ := os.ReadDir(dir); len(left) != 2 || os.Remove(other) != nil {
		t.Errorf("%d files left, want 2", len(left))
	}
}

// TestFailedWriteKeepsTheOldFile: a folder in the file's place makes the write fail, and
// keeps it from being removed; the error says what is there.
func TestFailedWriteKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	must.Do(t, os.MkdirAll(filepath.Join(path, "inside"), 0o700))
	for _, err := range []error{WriteFile(path, []byte("x"), 0o600), RemoveFile(path)} {
		if err == nil || runtime.GOOS != "windows" && text.English.Error(err) != path+": is a folder, where a file belongs." {
			t.Errorf("over a folder: %v", err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files left, want 1", len(left))
	}
	none := filepath.Join(dir, "none", "f")
	if err := WriteFile(none, nil, 0o600); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), none+":") {
		t.Errorf("into a folder that is not there: %v", err)
	}
}

func TestRemoveFileTakesWhatWasLeft(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if temp, err := writeTemp(path, []byte("half"), 0o600); err != nil {
		t.Fatal(temp, err)
	}
	for _, name := range []string{"other", ".f.", ".other.1.tmp"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	for range 2 { // the second time there is nothing to remove
		must.Do(t, RemoveFile(path), RemoveFile(filepath.Join(dir, "none", "f")))
	}
	if left, _ := os.ReadDir(dir); len(left) != 3 {
		t.Errorf("left: %v", left)
	}
}

// TestLock: a lock excludes others until it is released, and is never taken through a link.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release := must.Get(Lock(path))(t)
	if _, err := TryLock(path); !errors.Is(err, ErrLocked) || text.Dutch.Error(err) != text.Dutch.T(text.ErrorHeld) {
		t.Errorf("one that is held: %v", err)
	}
	release()
	must.Get(TryLock(path))(t)()
	linked := path + "-link"
	if err := os.Symlink(path, linked); err != nil {
		return // Windows reserves links for administrators
	}
	for _, take := range []func(string) (func(), error){Lock, TryLock} {
		if _, err := take(linked); !errors.Is(err, filetrust.ErrUntrusted) {
			t.Errorf("through a link: %v", err)
		}
	}
}

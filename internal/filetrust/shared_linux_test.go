package filetrust

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"wiebelt/internal/testutil/must"
)

// shared returns a folder writable by all, with files "x" and "secret".
func shared(t *testing.T) (*Shared, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	must.Do(t, os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777))
	must.Do(t, os.WriteFile(filepath.Join(dir, "x"), []byte("x"), 0o600), os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o600))
	s := must.Get(OpenShared(dir))(t)
	t.Cleanup(func() { s.Close() })
	return s, dir
}

func TestSharedOpens(t *testing.T) {
	s, dir := shared(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	must.Do(t, os.Symlink("secret", at("link")), os.Symlink("/etc/passwd", at("out")), os.Mkdir(at("folder"), 0o700),
		syscall.Mkfifo(at("pipe"), 0o600), os.Link(at("secret"), at("second")))
	for name, why := range map[string]Fault{"x": "", "link": FaultLink, "out": FaultLink, "folder": FaultKind, "pipe": FaultKind,
		"second": FaultLink} {
		f, info, err := s.Open(name)
		wants(t, err, why)
		if err == nil {
			if b, _ := io.ReadAll(f); string(b) != "x" || info.Size() != 1 {
				t.Errorf("%s: %q", name, b)
			}
			f.Close()
		}
	}
	for _, name := range []string{"", ".", "..", "../s/x", "folder/x", "/etc/passwd"} {
		if _, _, err := s.Open(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	must.Do(t, os.Symlink(filepath.Join(t.TempDir(), "new"), at("dangling")))
	for _, name := range []string{"x", "link", "dangling", "folder"} {
		if _, err := s.Create(name); !errors.Is(err, fs.ErrExist) {
			t.Errorf("made %s: %v", name, err)
		}
	}
}

// TestSharedSwapped checks that while somebody keeps swapping the file and a
// link, opening returns the file or fails.
func TestSharedSwapped(t *testing.T) {
	s, dir := shared(t)
	done, swapped := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		for err == nil {
			select {
			case <-done:
				swapped <- nil
				return
			default:
			}
			temp := filepath.Join(dir, "temp")
			err = errors.Join(os.Symlink("secret", temp), os.Rename(temp, filepath.Join(dir, "x")),
				os.WriteFile(temp, []byte("x"), 0o600), os.Rename(temp, filepath.Join(dir, "x")))
		}
		swapped <- err
	}()
	opened := 0
	for n := 0; n < 3000 || opened == 0; n++ {
		f, _, err := s.Open("x")
		if err != nil {
			continue
		}
		opened++
		if b, _ := io.ReadAll(f); string(b) != "x" && string(b) != "" {
			t.Fatalf("read %q", b)
		}
		f.Close()
	}
	close(done)
	must.Do(t, <-swapped)
}

func TestSharedFolder(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(p string) error
		why   Fault
	}{
		"missing":             {func(string) error { return nil }, ""},
		"ours":                {func(p string) error { return os.Mkdir(p, 0o700) }, ""},
		"another's":           {func(p string) error { return errors.Join(os.Mkdir(p, 0o755), os.Chown(p, stranger, -1)) }, FaultOwner},
		"others may write it": {func(p string) error { return errors.Join(os.Mkdir(p, 0o700), os.Chmod(p, 0o770)) }, FaultWrite},
		"a link":              {func(p string) error { return os.Symlink(".", p) }, FaultLink},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := shared(t)
			must.Do(t, c.plant(filepath.Join(dir, "sent")))
			sub, err := s.Folder("sent")
			wants(t, err, c.why)
			if err != nil {
				return
			}
			defer sub.Close()
			if info, _ := s.Lstat("sent"); name == "missing" && info.Mode().Perm() != 0o700 {
				t.Errorf("mode %o", info.Mode().Perm())
			}
		})
	}
}

func TestSharedMoves(t *testing.T) {
	for name, rename := range map[string]func(*Shared, string, *Shared, string) error{"": (*Shared).rename, "without the system's help": (*Shared).replace} {
		t.Run(name, func(t *testing.T) {
			s, dir := shared(t)
			sent := must.Get(s.Folder("sent"))(t)
			defer sent.Close()
			must.Do(t, rename(s, "x", sent, "x"))
			if err := rename(s, "secret", sent, "x"); !errors.Is(err, fs.ErrExist) {
				t.Errorf("replaced: %v", err)
			}
			must.Do(t, rename(sent, "x", s, "x"))
			if b, err := os.ReadFile(filepath.Join(dir, "x")); string(b) != "x" {
				t.Errorf("%q %v", b, err)
			}
			if err := rename(s, "none", sent, "none"); !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
			if left, _ := sent.List(); len(left) != 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// TestSharedMoveSwapped checks that another file that has taken the name stays where it was put.
func TestSharedMoveSwapped(t *testing.T) {
	s, dir := shared(t)
	sent := must.Get(s.Folder("sent"))(t)
	defer sent.Close()
	f, was, err := s.Open("x")
	must.Do(t, err)
	f.Close()
	must.Do(t, os.WriteFile(filepath.Join(dir, "y"), []byte("other"), 0o600), os.Rename(filepath.Join(dir, "y"), filepath.Join(dir, "x")))
	if err := s.Move("x", was, sent, "x"); !errors.Is(err, ErrChanged) {
		t.Errorf("another file: %v", err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "x")); string(b) != "other" {
		t.Errorf("%q", b)
	}
	f, was, err = s.Open("x")
	must.Do(t, err)
	f.Close()
	must.Do(t, os.WriteFile(filepath.Join(dir, "x"), []byte("longer than before"), 0o600))
	if err := s.Move("x", was, sent, "x"); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that has grown: %v", err)
	}
	_, was, err = s.Open("x")
	must.Do(t, err)
	must.Do(t, s.Move("x", was, sent, "x"))
	if b, _ := os.ReadFile(filepath.Join(dir, "sent", "x")); string(b) != "longer than before" {
		t.Errorf("%q", b)
	}
}

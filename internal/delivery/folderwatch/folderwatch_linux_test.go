package folderwatch

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"go.uber.org/goleak"

	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestSettles: a file counts once it has not changed for the settle time; one that is empty
// or truncated gets thirty times as long.
func TestSettles(t *testing.T) {
	s := newStage(t, t.TempDir())
	must.Do(t, s.open())
	at := filepath.Join(s.dir, "a.zip")
	s.put(at, s.a[:len(s.a)-30])
	for range truncatedWaitFactor - 10 { // each slightly longer than the settle time
		s.look()
	}
	if len(s.words.moved)+len(s.words.trouble)+len(s.box.items) > 0 {
		t.Fatalf("a copy that pauses: %+v %v", s.words.moved, s.words.trouble)
	}
	s.put(at, s.a)
	s.look()
	s.now = s.now.Add(-settle) // half a settle time after that
	s.look()
	if len(s.box.items) > 0 {
		t.Error("taken at once")
	}
	s.now = s.now.Add(-time.Hour) // the clock is set back
	s.looks(3)
	if s.box.delivered[string(s.a)] != 1 || !exists(filepath.Join(s.dir, Sent, "a.zip")) {
		t.Errorf("not delivered: %+v %v", s.words.moved, s.words.trouble)
	}
	s.put(at, s.b[:20])
	s.put(filepath.Join(s.dir, "b.zip"), nil)
	s.put(filepath.Join(s.dir, "c.pdf"), s.broken) // not one of ours
	s.put(filepath.Join(s.dir, ".d.zip"), s.broken)
	s.look()
	s.look()
	s.now = s.now.Add(truncatedWaitFactor * settle)
	s.look()
	if !exists(filepath.Join(s.dir, Refused, "a.zip")) || !exists(filepath.Join(s.dir, Refused, "b.zip.txt")) {
		t.Errorf("never refused: %+v %v", s.words.moved, s.words.trouble)
	}
	if !exists(filepath.Join(s.dir, "c.pdf")) || !exists(filepath.Join(s.dir, ".d.zip")) {
		t.Errorf("files of others were moved: %+v", s.words.moved)
	}
}

// TestReplaced: a file that replaced another one has to settle too, and the folder may
// be replaced as well.
func TestReplaced(t *testing.T) {
	s := newStage(t, t.TempDir())
	must.Do(t, s.open())
	at := filepath.Join(s.dir, "a.zip")
	s.put(at, s.a)
	s.look()
	s.step = func(what string) {
		if what == "open" {
			s.step = nil
			s.put(at+".new", s.b)
			must.Do(t, os.Rename(at+".new", at))
		}
	}
	s.look()
	if s.step != nil || len(s.box.items) > 0 {
		t.Errorf("taken before it stayed the same: %v", s.box.items)
	}
	s.step = func(what string) {
		if what == "list" {
			s.step = nil
			must.Do(t, os.RemoveAll(s.dir))
		}
	}
	if s.look(); len(s.words.trouble) != 2 {
		t.Errorf("a folder that cannot be listed: %v", s.words.trouble)
	}
	must.Do(t, os.Mkdir(s.dir, 0o700))
	s.looks(2)
	must.Do(t, os.Rename(s.dir, s.dir+".old"))
	must.Do(t, os.Mkdir(s.dir, 0o700))
	s.put(at, s.a)
	if s.looks(5); s.box.delivered[string(s.a)] != 1 {
		t.Error("a new folder in its place is not watched")
	}
	s.put(at, s.broken)
	s.step = func(what string) {
		if what == "move" {
			s.step = nil
			s.put(at, s.b)
		}
	}
	if s.looks(2); s.step != nil || len(s.words.moved) != 1 || exists(filepath.Join(s.dir, Refused, "a.zip.txt")) {
		t.Errorf("another file was moved: %+v", s.words.moved)
	}
}

// TestPlanted checks that nothing is written through
// folders and notes that others created beforehand.
func TestPlanted(t *testing.T) {
	for name, plant := range map[string]func(*stage) error{
		"sent is a link": func(s *stage) error { return os.Symlink(s.private, filepath.Join(s.dir, Sent)) },
		"refused of another user": func(s *stage) error {
			refused := filepath.Join(s.dir, Refused)
			return errors.Join(os.Mkdir(refused, 0o755), os.Symlink(filepath.Join(s.private, "settings.toml"), filepath.Join(refused, "a.zip.txt")), os.Chown(refused, 65534, 65534))
		},
		"sent is a file":                       func(s *stage) error { return os.WriteFile(filepath.Join(s.dir, Sent), nil, 0o600) },
		"a folder above that others may write": func(s *stage) error { return os.Chmod(s.root, 0o777) },
	} {
		s := newStage(t, t.TempDir())
		must.Do(t, plant(s))
		if err := s.open(); !errors.Is(err, filetrust.ErrUntrusted) && (err == nil || name != "sent is a file") {
			t.Errorf("%s: %v", name, err)
		}
		if b, err := os.ReadFile(filepath.Join(s.private, "settings.toml")); err != nil || string(b) != "settings" {
			t.Errorf("%s: %q %v", name, b, err)
		}
	}
	// In our own folders, an existing name is left alone.
	s := newStage(t, t.TempDir())
	must.Do(t, s.open())
	must.Do(t, os.Symlink(filepath.Join(s.private, "settings.toml"), filepath.Join(s.dir, Refused, "a.zip.txt")))
	s.put(filepath.Join(s.dir, "a.zip"), s.broken)
	s.put(filepath.Join(s.dir, strings.Repeat("é", 125)+".zip"), s.broken) // a longer name does not fit
	s.looks(3)
	if !exists(filepath.Join(s.dir, Refused, strings.Repeat("é", 120)+".zip.txt")) {
		t.Errorf("a long name is in the way: %v", s.words.trouble)
	}
	if b, err := os.ReadFile(filepath.Join(s.private, "settings.toml")); err != nil || string(b) != "settings" {
		t.Errorf("%q %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(s.dir, Refused, "a-2.zip.txt")); err != nil || string(b) != "why\n" {
		t.Errorf("%q %v", b, err)
	}
}

// TestOneWatch: a second watch on the same folder is refused until the first one ends.
func TestOneWatch(t *testing.T) {
	s := newStage(t, t.TempDir())
	must.Do(t, s.open())
	first := s.folder
	if err := s.open(); !errors.Is(err, ErrBusy) {
		t.Fatalf("%v", err)
	}
	first.Close()
	must.Do(t, s.open())
	// The lock is that of the open folder, even when its path leads to a locked file elsewhere.
	sent, private := filepath.Join(s.dir, Sent), filepath.Join(s.private, "settings.toml")
	must.Do(t, os.Rename(sent, sent+".old"), os.Mkdir(sent, 0o700), os.Symlink(private, filepath.Join(sent, lockName)))
	elsewhere := flock.New(private)
	must.Do(t, elsewhere.Lock(), s.folder.lock.Close())
	again := must.Get(s.folder.results[Sent].lock())(t)
	if _, err := s.folder.results[Sent].lock(); !errors.Is(err, ErrBusy) {
		t.Errorf("held: %v", err)
	}
	must.Do(t, again.Close(), elsewhere.Close())
}

// TestGroupReads: a group that may read the watched folder may also read the outcomes.
func TestGroupReads(t *testing.T) {
	const group = 4242
	mode := func(path string) (fs.FileMode, bool) {
		info, err := os.Stat(path)
		must.Do(t, err)
		return info.Mode().Perm(), groupOf(info) == group
	}
	for dir, want := range map[fs.FileMode][2]fs.FileMode{0o770: {0o750, 0o640}, 0o700: {0o700, 0o600}} {
		s := newStage(t, t.TempDir())
		must.Do(t, errors.Join(os.Chown(s.dir, -1, group), os.Chmod(s.dir, dir)))
		must.Do(t, os.Mkdir(filepath.Join(s.dir, Refused), 0o700)) // created by an earlier version
		must.Do(t, s.open())
		s.put(filepath.Join(s.dir, "a.zip"), s.broken)
		s.looks(3)
		for _, name := range []string{Sent, Refused} {
			if m, ours := mode(filepath.Join(s.dir, name)); m != want[0] || ours != (dir == 0o770) {
				t.Errorf("%s is %v, of the group: %v", name, m, ours)
			}
		}
		if m, _ := mode(filepath.Join(s.dir, Refused, "a.zip.txt")); m != want[1] {
			t.Errorf("the note is %v", m)
		}
	}
}

// TestWaits: a file whose item is not decided stays; one that is forgotten
// meanwhile is added again.
func TestWaits(t *testing.T) {
	s := newStage(t, t.TempDir())
	s.box.hold = true
	must.Do(t, s.open())
	at := filepath.Join(s.dir, "a.zip")
	s.put(at, s.a)
	s.looks(4)
	s.box.items[0].State = outbox.Uncertain
	s.looks(3)
	var u *UncertainError
	if len(s.words.trouble) != 1 || !errors.As(s.words.trouble[0], &u) || u.Item.ID != "0" || !exists(at) {
		t.Fatalf("%v", s.words.trouble)
	}
	s.box.broken = errors.New("the disk fails")
	if s.looks(3); len(s.words.trouble) != 2 || s.words.trouble[1] != s.box.broken || !exists(at) {
		t.Fatalf("an outbox that cannot be read: %v", s.words.trouble)
	}
	s.box.broken = nil
	s.box.items[0].ID, s.box.items[0].SHA256, s.box.hold = "gone", "", false
	s.looks(3)
	if s.box.delivered[string(s.a)] != 1 || exists(at) {
		t.Errorf("%+v", s.words)
	}
	// The same content again is moved without being sent, and the result says so.
	s.put(at, bytes.Clone(s.a))
	must.Do(t, os.Chtimes(at, time.Time{}, time.Now().Add(-time.Hour)))
	s.looks(3)
	if n := len(s.words.moved); n != 2 || !s.words.moved[1].Duplicate || s.box.delivered[string(s.a)] != 1 {
		t.Errorf("%+v", s.words.moved)
	}
	s.box.again = outbox.ErrDuplicate
	s.put(at, s.a)
	if s.looks(3); !exists(filepath.Join(s.dir, Refused, "a.zip")) {
		t.Errorf("%+v", s.words.moved)
	}
}

// TestTold: the outbox is told once of each file that is no longer there: because it was
// moved, removed or replaced.
func TestTold(t *testing.T) {
	s := newStage(t, t.TempDir())
	s.box.hold = true
	must.Do(t, s.open())
	taken, replaced := filepath.Join(s.dir, "a.zip"), filepath.Join(s.dir, "b.zip")
	s.put(taken, s.a)
	s.put(replaced, s.b)
	s.looks(3)
	if len(s.box.items) != 2 || len(s.box.moved) > 0 {
		t.Fatalf("%+v %v", s.box.items, s.box.moved)
	}
	must.Do(t, os.Remove(taken))
	s.put(replaced, s.secret)
	s.looks(3)
	if got := slices.Sorted(slices.Values(s.box.moved)); !slices.Equal(got, []string{"0", "1"}) || len(s.box.items) != 3 {
		t.Errorf("told of %v, %+v", got, s.box.items)
	}
	s.box.hold = false
	s.looks(2)
	if got := s.box.moved[2:]; !slices.Equal(got, []string{"2"}) || exists(replaced) {
		t.Errorf("told of %v", got)
	}
}

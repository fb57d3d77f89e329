package secret

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// atMachine moves the computer's secrets into a folder of the test. Only root can own an
// administrator's files, so otherwise owners are not checked.
func atMachine(t *testing.T, admin bool) (dir, group string) {
	t.Helper()
	d, r, a := machineDir, readMachine, isAdmin
	t.Cleanup(func() { machineDir, readMachine, isAdmin = d, r, a })
	dir = filepath.Join(t.TempDir(), "wiebelt", "secrets")
	machineDir, isAdmin = func() string { return dir }, func() bool { return admin }
	if os.Geteuid() != 0 {
		readMachine = os.ReadFile
	}
	g := must.Get(user.LookupGroupId(strconv.Itoa(os.Getgid())))(t)
	return dir, g.Name
}

func TestMachineStore(t *testing.T) {
	dir, group := atMachine(t, true)
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	s := &machineStore{newFileStore(dirs(t)), group}
	everyStore(t, newRotatingStore(cleared{s}))
	rotation(t, newRotatingStore(cleared{s}))
	ref := hub(t, "https://a.example", "c")
	must.Do(t, s.Set(t.Context(), ref, "x"))
	for path, want := range map[string]os.FileMode{filepath.Dir(dir): 0o755, dir: 0o750 | os.ModeSetgid, s.path(ref): 0o640} {
		if info, err := os.Stat(path); err != nil || info.Mode()&(os.ModePerm|os.ModeSetgid) != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	// A later Set need not name the group again.
	if err := (&machineStore{}).Set(t.Context(), ref, "y"); err != nil {
		t.Error(err)
	}
}

// TestMachineGroup checks that a user who may read one of the
// computer's secrets may read all, including those set before.
func TestMachineGroup(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("only root gives files to a group; run this test as root")
	}
	_, group := atMachine(t, true)
	s, first, second := &machineStore{group: group}, hub(t, "https://a.example", "c"), hub(t, "https://b.example", "c")
	must.Do(t, s.Set(t.Context(), first, "x"))
	s.group = must.Get(user.LookupGroupId("1"))(t).Name
	must.Do(t, s.Set(t.Context(), second, "y"))
	of := func(want uint32) {
		t.Helper()
		for _, ref := range []Ref{first, second} {
			if got := must.Get(os.Stat(s.path(ref)))(t).Sys().(*syscall.Stat_t).Gid; got != want {
				t.Errorf("group %d may read one", got)
			}
		}
	}
	of(1)
	must.Do(t, ShareMachine(group))
	of(uint32(os.Getgid()))
}

// cleared adds the Clear that the computer's store lacks:
// no profile clears secrets that belong to everybody.
type cleared struct{ *machineStore }

func (c cleared) Clear(ctx context.Context) error {
	for _, r := range []Ref{hubRef("https://a.example"), hubRef("https://b.example")} {
		if err := c.Delete(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func hubRef(base string) Ref { r, _ := HubRef(base, "c"); return r }

func TestMachineRefuses(t *testing.T) {
	dir, group := atMachine(t, false)
	ref := hub(t, "https://a.example", "c")
	if err := (&machineStore{group: group}).Set(t.Context(), ref, "x"); !errors.Is(err, ErrNotAdmin) {
		t.Errorf("set by a user: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was made")
	}
	isAdmin = func() bool { return true }
	if err := (&machineStore{group: "no-such-group"}).Set(t.Context(), ref, "x"); !errors.Is(err, ErrNoGroup) {
		t.Errorf("without a group: %v", err)
	}
	readMachine = func(string) ([]byte, error) { return nil, syscall.EACCES }
	if _, err := (&machineStore{}).Get(t.Context(), ref); !errors.Is(err, ErrNoRight) {
		t.Errorf("without the right: %v", err)
	}
}

// TestMachineExposed: a secret that others could have read or written is not used.
func TestMachineExposed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("only root owns what an administrator owns; run this test as root")
	}
	for name, expose := range map[string]func(path string) error{
		"everybody can read": func(p string) error { return os.Chmod(p, 0o644) },
		"another's file":     func(p string) error { return os.Chown(p, 65534, -1) },
	} {
		t.Run(name, func(t *testing.T) {
			_, group := atMachine(t, true)
			s, ref := &machineStore{group: group}, hub(t, "https://a.example", "c")
			must.Do(t, s.Set(t.Context(), ref, "x"))
			must.Do(t, expose(s.path(ref)))
			if v, err := s.Get(t.Context(), ref); v != "" || !errors.Is(err, ErrExposed) {
				t.Errorf("%q, %v", v, err)
			}
		})
	}
}

// TestMachinePlanted: no secret is left in a folder that somebody else has made.
func TestMachinePlanted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("only root can make a folder for another user; run this test as root")
	}
	dir, group := atMachine(t, true)
	must.Do(t, os.MkdirAll(dir, 0o755), os.Chown(dir, 65534, -1))
	if err := (&machineStore{group: group}).Set(t.Context(), hub(t, "https://a.example", "c"), "x"); !errors.Is(err, ErrExposed) {
		t.Error(err)
	}
	if left := must.Get(os.ReadDir(dir))(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestMachineKeys: a key that the program creates for a user, and the user's credentials
// for a relay, go to the user's own store.
func TestMachineKeys(t *testing.T) {
	_, group := atMachine(t, false)
	own := newFileStore(dirs(t))
	s := newRotatingStore(&machineStore{own, group})
	for _, ref := range []Ref{KeyRef("choices"), must.Get(SoftphoneRef("relay", "relay", "https://a.example"))(t)} {
		must.Do(t, s.Set(t.Context(), ref, "k"))
		for _, from := range []Store{own, s} {
			if v, err := from.Get(t.Context(), ref); v != "k" || err != nil {
				t.Error(ref, v, err)
			}
		}
	}
	if err := s.Set(t.Context(), hub(t, "https://a.example", "c"), "x"); !errors.Is(err, ErrNotAdmin) {
		t.Error(err)
	}
}

// TestStatesHaveWords: every state has a sentence of its own in both languages.
func TestStatesHaveWords(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		seen := map[string]State{}
		for _, s := range []State{IsSet, IsWaiting, NotSet, NoStore, Locked, TooLong, NoSession, NotAdmin, NoGroup, NoRight, Exposed, Damaged, Failed} {
			words := l.T(text.SecretState(string(s)))
			if strings.Contains(words, string(text.SecretState(string(s)))) {
				t.Errorf("%s: %s has no words", l, s)
			}
			if other, twice := seen[words]; twice {
				t.Errorf("%s: %s and %s say the same", l, s, other)
			}
			seen[words] = s
		}
	}
}

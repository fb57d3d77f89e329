package register

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"wiebelt/internal/filetrust"
	"wiebelt/internal/testutil/must"
)

// home sets up an empty home folder and the desktop's variables.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "share"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("XDG_DATA_DIRS", filepath.Join(dir, "system"))
	t.Setenv("XDG_CURRENT_DESKTOP", "X-Generic")
	return dir
}

func all(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			path, _ = filepath.Rel(dir, path)
			files = append(files, path)
		}
		return err
	})
	must.Do(t, err)
	return files
}

func TestRegisterAndBack(t *testing.T) {
	dir := home(t)
	list := filepath.Join(dir, "config", "mimeapps.list")
	must.Do(t, os.MkdirAll(filepath.Dir(list), 0o755))
	const mine = "[Default Applications]\ntext/html=chromium.desktop\nx-scheme-handler/tel=phone.desktop\n"
	must.Do(t, os.WriteFile(list, []byte(mine), 0o600))
	before := all(t, dir)
	folder := filepath.Join(t.TempDir(), "Wie belt")
	o := Options{Exe: filepath.Join(folder, "wiebelt")}
	must.Do(t, os.Mkdir(folder, 0o755), os.WriteFile(o.Exe, nil, 0o755))
	if s, err := State(o); err != nil || s != (Status{}) {
		t.Errorf("before: %+v %v", s, err)
	}
	for range 2 { // the second time changes nothing
		must.Do(t, Register(o))
		if s, err := State(o); err != nil || !s.Ours || !s.Autostart || s.Scheme != `"`+o.Exe+`" open-url -- %u` {
			t.Errorf("registered: %+v %v", s, err)
		}
	}
	o.LinkExe = filepath.Join(folder, "wiebelt-ring")
	if s, err := State(o); err != nil || !s.Ours || !s.Older {
		t.Errorf("of an older version: %+v %v", s, err)
	}
	must.Do(t, Register(o))
	if s, err := State(o); err != nil || !s.Ours || s.Older || s.Scheme != `"`+o.LinkExe+`" open-url -- %u` {
		t.Errorf("with a program for links: %+v %v", s, err)
	}
	if s, _ := State(Options{Exe: "/elsewhere/wiebelt"}); s.Ours {
		t.Error("another program's registration taken for ours")
	}
	must.Do(t, os.Remove(o.Exe))
	if s, _ := State(o); s.Autostart || s.SwitchedOff {
		t.Errorf("the program is gone: %+v", s)
	}
	b, err := os.ReadFile(list)
	if err != nil || string(b) != mine+"x-scheme-handler/wiebelt=wiebelt-link.desktop;\napplication/x-wiebelt-setup=wiebelt-setup.desktop;\n" {
		t.Errorf("mimeapps.list: %q %v", b, err)
	}
	for _, f := range all(t, dir) {
		text, _ := os.ReadFile(filepath.Join(dir, f))
		if strings.HasSuffix(f, ".desktop") && strings.Contains(string(text), "x-scheme-handler/tel") {
			t.Errorf("%s takes tel:", f)
		}
	}
	must.Do(t, Unregister(o))
	if err := Unregister(o); err != nil {
		t.Error("again: ", err)
	}
	if b, _ := os.ReadFile(list); string(b) != mine {
		t.Errorf("mimeapps.list afterwards: %q", b)
	}
	if after := all(t, dir); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("left behind: %v", after)
	}
}

// TestUsersList checks what becomes of a list of defaults: a link to it stays one, one that
// cannot be read stays as it is, and one that had only our entries goes.
func TestUsersList(t *testing.T) {
	o := Options{Exe: "/opt/wiebelt"}
	for _, c := range []struct {
		name     string
		target   string // of a link in its place
		fails    bool
		isLinked bool // afterwards
	}{{"none", "", false, false}, {"a link", "dotfiles", false, true}, {"a link to itself", "mimeapps.list", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(home(t), "config")
			list := filepath.Join(dir, "mimeapps.list")
			const others = "[Default Applications]\na/b=c.desktop\n"
			must.Do(t, os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "dotfiles"), []byte(others), 0o600))
			if c.target != "" {
				must.Do(t, os.Symlink(c.target, list))
			}
			if err := Register(o); (err != nil) != c.fails {
				t.Errorf("register: %v", err)
			}
			if info := must.Get(os.Lstat(list))(t); (info.Mode().Type() == os.ModeSymlink) != c.isLinked {
				t.Errorf("it is %v", info.Mode())
			}
			if err := Unregister(o); (err != nil) != c.fails {
				t.Errorf("unregister: %v", err)
			}
			if _, err := os.Lstat(list); (err == nil) != c.isLinked {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestRegisterForAll checks that everybody can read what an administrator registers for all
// users, even with a umask that denies others access.
func TestRegisterForAll(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	for _, everybody := range []bool{true, false} {
		dir := t.TempDir()
		must.Do(t, (Options{Exe: "/opt/wiebelt", LinkExe: "/opt/wiebelt-ring", AllUsers: everybody}).register(placesIn(filepath.Join(dir, "share"), filepath.Join(dir, "xdg"))))
		info := must.Get(os.Stat(filepath.Join(dir, "share", "applications")))(t)
		if read := info.Mode().Perm() == 0o755; read != everybody {
			t.Errorf("for all %v: the folder has mode %o", everybody, info.Mode().Perm())
		}
	}
}

// TestForgetIn checks that whatever a user puts in place of the list blocks an administrator
// no more than a list does, and that the rest of a list stays.
func TestForgetIn(t *testing.T) {
	const others = "[Default Applications]\ntext/html=chromium.desktop\n"
	put := func(text string) func(string) error {
		return func(list string) error { return os.WriteFile(list, []byte(text), 0o600) }
	}
	for name, c := range map[string]struct {
		plant func(list string) error
		left  string
		err   error
	}{
		"a list of others too": {put(setDefaults(others, true)), others, nil},
		"ours come first":      {put(setDefaults("[Default Applications]\n", true) + "text/html=chromium.desktop\n"), others, nil},
		"a pipe":               {func(list string) error { return syscall.Mkfifo(list, 0o600) }, "", filetrust.ErrUntrusted},
		"without end":          {put(strings.Repeat("\n", maxRead+1)), "", filetrust.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			list := filepath.Join(dir, ".config", "mimeapps.list")
			must.Do(t, os.Mkdir(filepath.Dir(list), 0o700), c.plant(list))
			home := must.Get(os.OpenRoot(dir))(t)
			defer home.Close()
			if deleted, err := ForgetIn(home); !errors.Is(err, c.err) || (len(deleted) == 1) != (err == nil) {
				t.Errorf("deleted %v, %v", deleted, err)
			}
			if c.err != nil {
				return
			}
			if b, err := os.ReadFile(list); string(b) != c.left {
				t.Errorf("left %q, %v", b, err)
			}
		})
	}
}

// TestForgetInAll checks that an administrator removes everything that Register wrote.
func TestForgetInAll(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, (Options{Exe: "/opt/wiebelt"}).register(placesIn(filepath.Join(dir, ".local", "share"), filepath.Join(dir, ".config"))))
	home := must.Get(os.OpenRoot(dir))(t)
	defer home.Close()
	p := placesIn(".local/share", ".config")
	deleted, err := ForgetIn(home)
	if want := append(p.files(), p.defaults); err != nil || !slices.Equal(deleted, want) {
		t.Errorf("deleted %q, %v, want %q", deleted, err, want)
	}
	for _, name := range deleted {
		if _, err := home.Lstat(name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if deleted, err := ForgetIn(home); err != nil || len(deleted) != 0 {
		t.Errorf("again: deleted %q, %v", deleted, err)
	}
	must.Do(t, home.MkdirAll(filepath.Join(p.start(), "folder"), 0o700))
	if _, err := ForgetIn(home); err == nil {
		t.Error("something of ours is left, and nobody is told")
	}
}

func TestSomebodyElsesScheme(t *testing.T) {
	dir := home(t)
	apps := filepath.Join(dir, "system", "applications")
	must.Do(t, os.MkdirAll(apps, 0o755))
	text := "[Desktop Entry]\nName=Other\nExec=other %u\nMimeType=text/x;x-scheme-handler/wiebelt;\n"
	must.Do(t, os.WriteFile(filepath.Join(apps, "other.desktop"), []byte(text), 0o644))
	o := Options{Exe: "/opt/wiebelt"}
	if s, err := State(o); err != nil || s.Ours || s.Scheme != "other %u" {
		t.Errorf("%+v %v", s, err)
	}
	// The computer's list chooses among several, and names programs, not files elsewhere.
	must.Do(t, os.WriteFile(filepath.Join(apps, "third.desktop"), []byte(strings.ReplaceAll(text, "other", "third")), 0o644))
	for chosen, want := range map[string]string{
		"third.desktop": "third %u", "../applications/third.desktop": "other %u", "gone.desktop": "other %u",
	} {
		list := "[Default Applications]\nx-scheme-handler/wiebelt=" + chosen + "\n"
		must.Do(t, os.WriteFile(filepath.Join(apps, "mimeapps.list"), []byte(list), 0o644))
		if s, err := State(o); err != nil || s.Ours || s.Scheme != want {
			t.Errorf("%s: %+v %v", chosen, s, err)
		}
	}
	must.Do(t, Register(o))
	if s, _ := State(o); !s.Ours {
		t.Errorf("%+v", s)
	}
}

func TestPathsThatCannotBeWritten(t *testing.T) {
	dir := home(t)
	for _, o := range []Options{{}, {Exe: "wiebelt"}, {Exe: "/a\nb"}, {Exe: "/a\"b"}, {Exe: "/a\xff"}, {Exe: "/a", Profile: "b"}, {Exe: "/a", Profile: "/b\nExec=x"}} {
		if Register(o) == nil {
			t.Errorf("%+v was registered", o)
		}
	}
	o := Options{Exe: "/opt/wiebelt"}
	must.Do(t, os.MkdirAll(filepath.Join(dir, "share", "applications", linkID, "folder"), 0o755))
	if Register(o) == nil || Unregister(o) == nil {
		t.Error("a file can be neither written nor removed, and nobody is told")
	}
}

// TestLinksArriveAsOneArgument checks that the desktop's own tools open links with the
// registered program, and that the content of a link stays one argument.
func TestLinksArriveAsOneArgument(t *testing.T) {
	dir := home(t)
	t.Setenv("DISPLAY", ":99") // xdg-open requires one but does not use it
	out := filepath.Join(dir, "seen")
	must.Do(t, os.MkdirAll(out, 0o755))
	watch := must.Get(fsnotify.NewWatcher())(t)
	defer watch.Close()
	must.Do(t, watch.Add(out))
	vectors := []string{"wiebelt:call?number=%2B31612345678", "wiebelt:call?number=0612345678&state=answered", "wiebelt:call?number=1%222",
		"wiebelt:call?number=$(touch%20x)", "wiebelt:call?number=`id`", "wiebelt:call?number=;id", "wiebelt:call?number=|id", "wiebelt:call?number=&&id",
		"wiebelt:call?number='1'", "wiebelt:--profile", "wiebelt:call?number=%00", "wiebelt:call?number=%25u", "wiebelt:call?number=*", "wiebelt:call?number=~", "wiebelt:" + strings.Repeat("1", 2000)}
	for _, c := range []struct {
		folder, profile string
		tool            []string
	}{
		{"wie $belt", "my profile", []string{"gio", "open"}},
		{"wiebelt", "profile", []string{"xdg-open"}}, // its own parser does not understand quotes
	} {
		exe, profile := filepath.Join(dir, c.folder, "wiebelt"), filepath.Join(dir, c.profile)
		must.Do(t, os.MkdirAll(filepath.Dir(exe), 0o755))
		script := "#!/bin/sh\nf=$(mktemp '" + out + "/run.XXXXXXXX.part')\nprintf '%s\\0' \"$@\" >$f\nmv $f ${f%.part}\n"
		must.Do(t, os.WriteFile(exe, []byte(script), 0o755))
		must.Do(t, Register(Options{Exe: exe, Profile: profile}))
		for _, v := range vectors {
			cmd := exec.CommandContext(t.Context(), c.tool[0], append(c.tool[1:len(c.tool):len(c.tool)], v)...)
			if b, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v: %s", c.tool, err, b)
			}
			got := arrived(t, watch)
			if len(got) != 5 || got[0] != "open-url" || got[1] != "--profile" || got[2] != profile || got[3] != "--" {
				t.Fatalf("%v: arguments %q", c.tool, got)
			}
			if got[4] != v {
				t.Errorf("%v: %q arrived as %q", c.tool, v, got[4])
			}
		}
	}
}

func arrived(t *testing.T, watch *fsnotify.Watcher) []string {
	t.Helper()
	limit := time.After(must.Patience)
	for {
		select {
		case e := <-watch.Events:
			if e.Has(fsnotify.Create) && !strings.HasSuffix(e.Name, ".part") {
				return strings.Split(strings.TrimSuffix(string(must.Get(os.ReadFile(e.Name))(t)), "\x00"), "\x00")
			}
		case err := <-watch.Errors:
			t.Fatal(err)
		case <-limit:
			t.Fatal("the program was not run")
		}
	}
}

// TestSetupFiles checks that set-up files are recognised by their suffix, and that a double
// click passes the file to the program as one argument.
func TestSetupFiles(t *testing.T) {
	dir := home(t)
	o := Options{Exe: "/opt/Wie belt/wiebelt", Profile: "/srv/p"}
	must.Do(t, Register(o))
	known := func() bool { // looked up the way desktops do
		b, _ := os.ReadFile(filepath.Join(dir, "share", "mime", "globs2"))
		return strings.Contains(string(b), ":"+setupMime+":*.wiebelt\n")
	}
	if !known() {
		t.Error("the end of the name is not known")
	}
	out, err := exec.CommandContext(t.Context(), "xdg-mime", "query", "default", setupMime).Output()
	if err != nil || strings.TrimSpace(string(out)) != setupID {
		t.Errorf("opened with %q: %v", out, err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "share", "applications", setupID))
	if err != nil || !strings.Contains(string(b), `Exec="/opt/Wie belt/wiebelt" open-file --profile /srv/p -- %f`+"\n") {
		t.Errorf("%s %v", b, err)
	}
	// Another program's file types stay when ours are removed.
	other := filepath.Join(dir, "share", "mime", "packages", "other.xml")
	must.Do(t, os.WriteFile(other, []byte(strings.ReplaceAll(setupType, "wiebelt", "other")), 0o644))
	must.Do(t, Unregister(o))
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	if known() {
		t.Error("still known")
	}
}

// TestParts checks that rewriting one part leaves the other unchanged, and that a part that
// was switched off is distinguished from a missing one.
func TestParts(t *testing.T) {
	dir := home(t)
	o := Options{Exe: "/bin/true", Only: OnlyAutostart}
	must.Do(t, Register(o))
	if s, err := State(o); err != nil || s.Scheme != "" || !s.Autostart || s.SwitchedOff {
		t.Errorf("%+v, %v", s, err)
	}
	if files := all(t, dir); fmt.Sprint(files) != fmt.Sprint([]string{filepath.Join("config", "autostart", "wiebelt.desktop")}) {
		t.Errorf("wrote %v", files)
	}
	must.Do(t, write(filepath.Join(dir, "config", "autostart", "wiebelt.desktop"), []byte("[Desktop Entry]\nHidden=true\n")))
	o.Only = OnlyScheme
	must.Do(t, Register(o))
	if s, err := State(o); err != nil || !s.Ours || s.Autostart || !s.SwitchedOff {
		t.Errorf("%+v, %v", s, err)
	}
	must.Do(t, Unregister(o))
	if s, err := State(o); err != nil || s != (Status{}) {
		t.Errorf("%+v, %v", s, err)
	}
}

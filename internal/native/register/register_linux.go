package register

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"wiebelt/assets"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/native/desktopbus"
)

const (
	mime      = "x-scheme-handler/wiebelt"
	setupMime = "application/x-wiebelt-setup" // set-up files; a double click shows them in the settings window
	linkID    = "wiebelt-link.desktop"
	setupID   = "wiebelt-setup.desktop"
	menuID    = desktopbus.AppID + ".desktop"
	startFile = "wiebelt.desktop"
)

var defaults = []struct{ mime, id string }{{mime, linkID}, {setupMime, setupID}}

// setDefaults adds our defaults to the text of a
// mimeapps.list, or removes them if enter is false.
func setDefaults(text string, enter bool) string {
	for _, d := range defaults {
		text = setDefault(text, d.mime, d.id, enter)
	}
	return text
}

var sizes = []string{"16", "32", "48", "128", "256"}

// places are the folders of a desktop (XDG Base Directory, Autostart and MIME
// applications specifications).
type places struct{ applications, autostart, icons, defaults string }

func placesFor(allUsers bool) (places, error) {
	if allUsers {
		return places{"/usr/local/share/applications", "/etc/xdg/autostart", "/usr/local/share/icons/hicolor", "/usr/local/share/applications/mimeapps.list"}, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return places{}, err
	}
	return placesIn(absolute(os.Getenv("XDG_DATA_HOME"), filepath.Join(home, ".local", "share")),
		absolute(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))), nil
}

func placesIn(data, config string) places {
	return places{filepath.Join(data, "applications"), filepath.Join(config, "autostart"), filepath.Join(data, "icons", "hicolor"), filepath.Join(config, "mimeapps.list")}
}

func (p places) mimes() string { return filepath.Join(filepath.Dir(p.applications), "mime") }

func (p places) start() string { return filepath.Join(p.autostart, startFile) }

func (p places) setupType() string { return filepath.Join(p.mimes(), "packages", "wiebelt.xml") }

func (p places) icon(size string) string {
	return filepath.Join(p.icons, size+"x"+size, "apps", "wiebelt.png")
}

// files returns everything Register writes, except the list of defaults.
func (p places) files() []string {
	all := []string{p.start(), p.setupType()}
	for _, id := range []string{linkID, menuID, setupID} {
		all = append(all, filepath.Join(p.applications, id))
	}
	for _, size := range sizes {
		all = append(all, p.icon(size))
	}
	return all
}

// absolute returns path, or other if path is relative: the
// specification says to ignore relative paths.
func absolute(path, other string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return other
}

const entry = `[Desktop Entry]
Type=Application
Name=Wiebelt
Comment=Shows who is calling
Comment[nl]=Laat zien wie er belt
Icon=wiebelt
Terminal=false
StartupNotify=false
Exec=%s
%s`

func (o Options) command(arguments ...string) string {
	return execLine(append([]string{o.Exe}, o.arguments(arguments...)...)...)
}

// Files returns the contents of a registration's files by path: below data what the desktop
// shows and opens, below config what it starts.
func Files(o Options, data, config string) (map[string]string, error) {
	return o.files(placesIn(data, config))
}

func (o Options) files(p places) (map[string]string, error) {
	files := map[string]string{
		p.start():                              fmt.Sprintf(entry, o.command("run", "--background"), "X-GNOME-Autostart-enabled=true\n"),
		filepath.Join(p.applications, linkID):  fmt.Sprintf(entry, execLine(o.link("%u")...), "NoDisplay=true\nMimeType="+mime+";\n"),
		filepath.Join(p.applications, menuID):  fmt.Sprintf(entry, o.command("run"), "Categories=Office;Telephony;\n"),
		filepath.Join(p.applications, setupID): fmt.Sprintf(entry, o.command("open-file", "--", "%f"), "NoDisplay=true\nMimeType="+setupMime+";\n"),
		p.setupType():                          setupType,
	}
	for _, size := range sizes {
		b, err := assets.Icons.ReadFile("icons/app-" + size + ".png")
		if err != nil {
			return nil, err
		}
		files[p.icon(size)] = string(b)
	}
	return files, nil
}

// Register writes the files of the registration, replacing existing ones.
func Register(o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	p, err := placesFor(o.AllUsers)
	if err != nil {
		return err
	}
	return o.register(p)
}

func (o Options) register(p places) error {
	if o.AllUsers { // everybody must be able to read it, whatever the administrator's umask
		defer syscall.Umask(syscall.Umask(0o022))
	}
	files, err := o.files(p)
	switch {
	case err != nil:
		return err
	case o.Only == OnlyAutostart:
		return write(p.start(), []byte(files[p.start()]))
	case o.Only == OnlyScheme:
		delete(files, p.start())
	}
	for name, text := range files {
		if err := write(name, []byte(text)); err != nil {
			return err
		}
	}
	updateMimeIndex(p.mimes())
	return change(p.defaults, func(text string) string { return setDefaults(text, true) })
}

// ForgetIn removes from a user's home what Register wrote there, unless variables of that
// user's session moved it. It follows no link out of the home, so that an administrator can
// call it. deleted has the names of the files that existed.
func ForgetIn(home *os.Root) (deleted []string, err error) {
	p := placesIn(".local/share", ".config")
	for _, name := range p.files() {
		switch e := home.Remove(name); {
		case e == nil:
			deleted = append(deleted, name)
		case !errors.Is(e, fs.ErrNotExist):
			err = errors.Join(err, e)
		}
	}
	had, e := forgetDefaults(home, p.defaults)
	if had {
		deleted = append(deleted, p.defaults)
	}
	return deleted, errors.Join(err, e)
}

// forgetDefaults removes our entries from a user's list and reports whether there were any.
// Since the user may have put anything in its place, it opens without blocking, limits what it
// reads, and writes to the file that it has read.
func forgetDefaults(home *os.Root, name string) (had bool, err error) {
	f, err := home.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &filetrust.Error{Path: name, Fault: filetrust.FaultKind}
	}
	if err != nil {
		return false, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxRead+1))
	if len(b) > maxRead {
		err = filetrust.ErrTooLarge
	}
	if err != nil {
		return false, err
	}
	text := setDefaults(string(b), false)
	switch text {
	case string(b):
		return false, nil
	case "":
		return true, home.Remove(name)
	}
	_, err = f.WriteAt([]byte(text), 0) // keeps the owner
	return true, errors.Join(err, f.Truncate(int64(len(text))))
}

// Unregister removes what Register wrote. Missing files are no error, and links now
// assigned to another program are left to it.
func Unregister(o Options) error {
	p, err := placesFor(o.AllUsers)
	if err != nil {
		return err
	}
	all, had := error(nil), false
	for _, f := range p.files() {
		switch err := os.Remove(f); {
		case err == nil:
			had = had || f == p.setupType()
		case !errors.Is(err, fs.ErrNotExist):
			all = errors.Join(all, err)
		}
	}
	if had {
		updateMimeIndex(p.mimes())
		if rest, err := os.ReadDir(filepath.Dir(p.setupType())); err == nil && len(rest) == 0 {
			withoutIndex(p.mimes())
		}
	}
	return errors.Join(all, change(p.defaults, func(text string) string { return setDefaults(text, false) }))
}

// State checks what a desktop checks: first the user's choice, then the computer's, then
// any program that declares that it opens such links.
func State(o Options) (Status, error) {
	mine, err := placesFor(false)
	if err != nil {
		return Status{}, err
	}
	system := []string{"/usr/local/share", "/usr/share"}
	if dirs := os.Getenv("XDG_DATA_DIRS"); dirs != "" {
		system = filepath.SplitList(dirs)
	}
	lists := []string{mine.defaults, "/etc/xdg/mimeapps.list", filepath.Join(mine.applications, "mimeapps.list")}
	folders := []string{mine.applications}
	for _, s := range system {
		folders = append(folders, filepath.Join(s, "applications"))
		lists = append(lists, filepath.Join(s, "applications", "mimeapps.list"))
	}
	var s Status
	for _, l := range lists {
		if id := defaultOf(read(l), mime); id != "" && s.Scheme == "" && id == filepath.Base(id) {
			s.Scheme = execOf(folders, id)
		}
	}
	for _, f := range folders {
		if s.Scheme != "" {
			break
		}
		all, _ := filepath.Glob(filepath.Join(f, "*.desktop"))
		for _, name := range all {
			if text := read(name); strings.Contains(";"+valueOf(text, "MimeType")+";", ";"+mime+";") {
				s.Scheme = cmp.Or(s.Scheme, valueOf(text, "Exec"))
			}
		}
	}
	now, was := execLine(o.link("%u")...), execLine(o.older().link("%u")...)
	s.Ours = s.Scheme == now || s.Scheme == was
	s.Older = s.Scheme == was && was != now && valueOf(read(filepath.Join(mine.applications, linkID)), "Exec") == was
	for _, dir := range []string{mine.autostart, "/etc/xdg/autostart"} {
		if text := read(filepath.Join(dir, startFile)); text != "" {
			// The user's file hides the computer's, which is how users disable autostart, even
			// if the program that it starts has gone.
			s.SwitchedOff = valueOf(text, "Hidden") == "true" || valueOf(text, "X-GNOME-Autostart-enabled") == "false"
			_, gone := exec.LookPath(programOf(valueOf(text, "Exec")))
			s.Autostart = !s.SwitchedOff && gone == nil
			break
		}
	}
	return s, nil
}

func execOf(folders []string, id string) string {
	for _, f := range folders {
		if e := valueOf(read(filepath.Join(f, id)), "Exec"); e != "" {
			return e
		}
	}
	return ""
}

// maxRead is how much is read of a file that others may have written.
const maxRead = 1 << 20

func read(name string) string {
	b, _ := filetrust.ReadPlain(name, maxRead)
	return string(b)
}

// change rewrites a file that other programs write as well.
func change(name string, how func(string) string) error {
	b, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := how(string(b))
	switch {
	case text == string(b):
		return nil
	case text == "":
		return os.Remove(name)
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // keep a symbolic link
	}
	return write(name, []byte(text))
}

// write writes a file atomically, creating its folder if necessary.
func write(name string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return profile.WriteFile(name, b, 0o644)
}

// setupType defines set-up files by their extension.
const setupType = `<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="` + setupMime + `">
    <comment>Wiebelt set-up file</comment>
    <comment xml:lang="nl">Instelbestand van Wiebelt</comment>
    <icon name="wiebelt"/>
    <glob pattern="*.wiebelt"/>
  </mime-type>
</mime-info>
`

// updateMimeIndex makes the desktop reread the file types. A desktop without the program for this
// does so by itself, or has no file types.
func updateMimeIndex(mimes string) {
	path, err := exec.LookPath("update-mime-database")
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_ = exec.CommandContext(ctx, path, mimes).Run()
}

// withoutIndex removes an index without entries, and the folders in which it
// was created if they are otherwise empty.
func withoutIndex(mimes string) {
	for _, f := range []string{"aliases", "generic-icons", "globs", "globs2", "icons", "magic", "mime.cache", "subclasses", "treemagic", "types", "version", "XMLnamespaces"} {
		_ = os.Remove(filepath.Join(mimes, f))
	}
	for _, d := range []string{"application", "packages", ""} {
		_ = os.Remove(filepath.Join(mimes, d)) // non-empty folders stay
	}
}

package e2e

import (
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// settingsPage is an office's settings window, with a simulated user.
type settingsPage struct {
	*office
	id string
	at image.Point
}

// newcomer returns a computer where only the place of secrets is configured: there is no
// vault for them on a test's screen.
func newcomer(t *testing.T) (o *office, value string) {
	t.Helper()
	h, value := startHub(t)
	o = officeOn(t, t.TempDir(), h, "openbox", xtest.Options{Width: width, Height: height})
	o.write("[hub]\nsecret_store = \"file\"\n\n[ui]\ntheme = \"light\"\nlanguage = \"nl\"\n")
	return o, value
}

func (o *office) settingsFile() string { return filepath.Join(o.profile, settings.FileName) }

func (o *office) write(text string) {
	o.t.Helper()
	must.Do(o.t, os.WriteFile(o.settingsFile(), []byte(text), 0o600))
}

// append adds to the settings.
func (o *office) append(text string) {
	o.t.Helper()
	f, err := os.OpenFile(o.settingsFile(), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		o.t.Fatal(err)
	}
	_, err = f.WriteString(text)
	must.Do(o.t, errors.Join(err, f.Close()))
}

// set changes a setting, like the settings window and commands do.
func (o *office) set(key string, value any) {
	o.t.Helper()
	must.Do(o.t, settings.Set(must.Get(profile.Find(o.profile))(o.t), map[string]any{key: value}))
}

// openSettings opens the settings window.
func (o *office) openSettings() *settingsPage {
	o.t.Helper()
	o.openWindow(windowapi.WindowSettings)
	return o.settingsWindow()
}

// openWindow opens a window like the resident does, without clicking in the tray.
func (o *office) openWindow(name string, env ...string) {
	o.t.Helper()
	cmd := o.wiebelt("window", name)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr, cmd.WaitDelay = o.log, time.Second
	must.Do(o.t, cmd.Start())
	o.t.Cleanup(func() {
		_ = cmd.Process.Kill() // by its own handle; it may have exited
		_ = cmd.Wait()
	})
}

func (o *office) settingsWindow() *settingsPage {
	o.t.Helper()
	p := &settingsPage{office: o}
	p.id = o.FindWindow("^Instellingen")
	o.Run("xdotool", "windowactivate", "--sync", p.id)
	p.at = o.origin(p.id)
	return p
}

// Places in the window's content.
var (
	hubItem    = image.Pt(40, 226)
	firstField = image.Pt(400, 219)
	saveButton = image.Pt(660, 658)
)

func (p *settingsPage) click(at image.Point) { p.Click(p.at.X+at.X, p.at.Y+at.Y, 1) }

// colour counts the pixels of the window that have a colour.
func (p *settingsPage) colour(rgb uint32) int {
	return xtest.Count(p.Crop(image.Rect(0, 0, 720, 688).Add(p.at)), rgb, 0)
}

// goToHub shows the hub's section and focuses its first field.
func (p *settingsPage) goToHub() {
	p.t.Helper()
	p.Until("the window's sections", func() bool { return p.colour(accent) > 40 })
	p.Until("the hub's section, and the keyboard in its first field", func() bool {
		p.click(hubItem)
		p.click(firstField)
		img := p.Crop(image.Rect(firstField.X-190, firstField.Y-24, firstField.X+100, firstField.Y+24).Add(p.at))
		blue := 0
		for y := img.Rect.Min.Y; y < img.Rect.Max.Y; y++ {
			for x := img.Rect.Min.X; x < img.Rect.Max.X; x++ {
				if c := img.RGBAAt(x, y); int(c.B)-int(c.R) > 80 {
					blue++
				}
			}
		}
		return blue > 200 // the border of a focused field
	})
}

// TestNewcomer: with only the hub's e-mail, a user gets from nothing to a card with a
// name: they type, test and save the addresses, client, secret and code in one window.
func TestNewcomer(t *testing.T) {
	t.Parallel()
	o, value := newcomer(t)
	o.start()
	p := o.openSettings()
	p.goToHub()
	for _, typed := range []string{o.hub.BaseURL(), o.hub.HubURL(), "office", value, "1234", ""} {
		if typed != "" {
			p.Type(typed, 2)
		}
		p.Key("Tab")
	}
	p.Type("0698760011", 2)
	p.Key("Return") // tests
	if s := o.settings(); strings.Contains(s, "office") {
		t.Error("saved before somebody asked for it")
	}
	wheel := func() { p.Click(p.at.X+400, p.at.Y+500, 5) } // the test is below
	p.Until("a test that passed", func() bool { wheel(); return p.colour(answeredGreen) > 5*50 }, func() []any { return []any{p.colour(answeredGreen)} })
	p.Until("saved", func() bool { p.click(saveButton); return strings.Contains(o.settings(), "office") })
	s := o.settings()
	for _, want := range []string{"base_url = \"" + o.hub.BaseURL(), "organisation_code = \"1234\"", "client_id = \"office\""} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not in the file:\n%s", want, s)
		}
	}
	if strings.Contains(s, value) {
		t.Error("the secret stands in the settings file")
	}
	n := 0
	o.Until("a card with a name", func() bool {
		n++
		o.handOver(fmt.Sprint(n), "0698760011")
		o.Until("the call is kept", func() bool { return len(callsOf(t, o)) >= n })
		return strings.Contains(callsOf(t, o)[0].Name, "Vries")
	})
}

// TestOpenFile: a double click on a set-up file, while Wiebelt is not running,
// starts it, asks for the passphrase in the settings window, shows what would
// change and changes nothing.
func TestOpenFile(t *testing.T) {
	t.Parallel()
	o, value := newcomer(t)
	office, file := t.TempDir(), filepath.Join(t.TempDir(), "kantoor.wiebelt")
	succeeds(t, value+"\n", append(provision(o.hub.BaseURL(), o.hub.HubURL(), "--secret-store", "file"), "--profile", office)...)
	phrase := succeeds(t, "", "provision", "--export", file, "--profile", office)
	open := func(path string) (string, error) {
		out, err := o.Command(o.bin, "open-file", "--profile", o.profile, "--", path).CombinedOutput()
		return string(out), err
	}
	for _, bad := range []string{"/nowhere/x.wiebelt", o.settingsFile(), filepath.Dir(file)} {
		if out, err := open(bad); err == nil || !strings.HasPrefix(out, "wiebelt: ") {
			t.Errorf("%s: %v %s", bad, err, out)
		}
	}
	before := o.settings()
	t.Cleanup(func() { // it was started so that it outlives its parent
		pid := o.at().PID
		must.Do(t, syscall.Kill(pid, syscall.SIGTERM))
		o.Until("it has ended", func() bool { return syscall.Kill(pid, 0) != nil })
	})
	if out, err := open(file); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := o.settingsWindow()
	p.Until("the file, asking for its passphrase", func() bool { return p.colour(accent) > 600 })
	p.Type(strings.TrimSpace(phrase), 2) // its field has the focus
	p.Key("Return")
	p.Until("old and new side by side", func() bool { return p.colour(accent) > 4000 })
	if s, _, _ := strings.Cut(o.settings(), "[listener]"); strings.TrimSpace(s) != strings.TrimSpace(before) {
		t.Errorf("changed without a click:\n%s", s)
	}
}

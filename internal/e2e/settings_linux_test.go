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

	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/xtest"
)

// panel is the settings window of an office, with a person in front of it.
type panel struct {
	*office
	id string
	at image.Point
}

// newcomer is a computer on which nothing is set up but where secrets go: there
// is no vault for them on a screen that was made for a test.
func newcomer(t *testing.T) (o *office, value string) {
	t.Helper()
	bin, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	h, value := startHub(t)
	o = &office{t: t, bin: bin, profile: t.TempDir(), hub: h, log: &logtest.Buffer{},
		Server: xtest.Start(t, "openbox", xtest.Options{Width: width, Height: height, Env: []string{"LANG=nl_NL.UTF-8"}})}
	o.write("[hub]\nsecret_store = \"file\"\n\n[ui]\ntheme = \"light\"\nlanguage = \"nl\"\n")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the resident said:\n%s", o.log)
		}
	})
	return o, value
}

func (o *office) settingsFile() string { return filepath.Join(o.profile, settings.FileName) }

func (o *office) write(text string) {
	o.t.Helper()
	if err := os.WriteFile(o.settingsFile(), []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// append adds to the settings.
func (o *office) append(text string) {
	o.t.Helper()
	f, err := os.OpenFile(o.settingsFile(), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		o.t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) written() string {
	o.t.Helper()
	b, err := os.ReadFile(o.settingsFile())
	if err != nil {
		o.t.Fatal(err)
	}
	return string(b)
}

// openSettings opens the settings window.
func (o *office) openSettings() *panel {
	o.t.Helper()
	o.openWindow(windowapi.WindowSettings)
	return o.settingsWindow()
}

// openWindow opens a window as the resident does, without a tray to click.
func (o *office) openWindow(name string, env ...string) {
	o.t.Helper()
	cmd := o.wiebelt("window", name)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr, cmd.WaitDelay = o.log, time.Second
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() {
		if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" && o.t.Failed() {
			keep(o.t, filepath.Join(dir, o.t.Name()+"-screen.png"), o.Screenshot())
		}
		_ = cmd.Process.Kill() // by its own handle; it may be gone
		_ = cmd.Wait()
	})
}

func (o *office) settingsWindow() *panel {
	o.t.Helper()
	p := &panel{office: o}
	p.id = o.FindWindow("^Instellingen")
	o.Run("xdotool", "windowactivate", "--sync", p.id)
	p.at = (&desk{office: o, t: o.t}).origin(p.id)
	return p
}

// Places in the window's contents.
var (
	hubItem    = image.Pt(40, 194)
	firstField = image.Pt(400, 219)
	saveButton = image.Pt(660, 658)
)

func (p *panel) click(at image.Point) { p.Click(p.at.X+at.X, p.at.Y+at.Y, 1) }

// colour counts the pixels of the window that have one.
func (p *panel) colour(rgb uint32) int {
	return xtest.Count(p.Crop(image.Rect(0, 0, 720, 688).Add(p.at)), rgb, 0)
}

const (
	passedGreen  = 0x1B7F4B
	primaryBlue  = 0x0B6BCB
	troubleBrown = 0x9A5B00
)

// goToHub shows the hub's section and puts the keyboard into its first field.
func (p *panel) goToHub() {
	p.t.Helper()
	p.Until("the window's sections", func() bool { return p.colour(primaryBlue) > 40 })
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
		return blue > 200 // the border of a field that is typed into
	})
}

// TestNewcomer: with the mail in hand, from nothing to a card with a name: the
// addresses, client, secret and code typed, tested and saved, in one window.
func TestNewcomer(t *testing.T) {
	t.Parallel()
	o, value := newcomer(t)
	o.start()
	began := time.Now()
	p := o.openSettings()
	p.goToHub()
	shoot := func(name string) {
		if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" {
			keep(t, filepath.Join(dir, "newcomer-"+name+".png"), o.Screenshot())
		}
	}
	for _, typed := range []string{o.hub.BaseURL(), o.hub.HubURL(), "office", value, "1234", ""} {
		if typed != "" {
			p.Type(typed, 2)
		}
		p.Key("Tab")
	}
	p.Type("0698760011", 2)
	shoot("typed")
	p.Key("Return") // tests
	if s := o.written(); strings.Contains(s, "office") {
		t.Error("saved before somebody asked for it")
	}
	wheel := func() { p.Click(p.at.X+400, p.at.Y+500, 5) } // the test stands below
	p.Until("a test that passed", func() bool { wheel(); return p.colour(passedGreen) > 5*50 }, func() []any { return []any{p.colour(passedGreen)} })
	shoot("passed")
	p.Until("saved", func() bool { p.click(saveButton); return strings.Contains(o.written(), "office") })
	t.Logf("from the window to saved: %v", time.Since(began).Round(100*time.Millisecond))
	shoot("saved")
	s := o.written()
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
		for _, state := range []string{"ringing", "ended"} {
			if out, err := o.wiebelt("ring", "--id", fmt.Sprint(n), "--state", state, "--", "0698760011").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		o.Until("the call is kept", func() bool { return len(callsOf(t, o)) >= n })
		return strings.Contains(callsOf(t, o)[0].Name, "Vries")
	})
}

// TestLockedSettings: where a policy says which hub, nothing of the hub can be
// changed in the window, which says who set it.
func TestLockedSettings(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	o, _ := newcomer(t)
	s.policy(fmt.Sprintf("[hub]\nbase_url = %q\nproxy = \"none\"\n\n[ui]\nfile_word = \"dossier\"\n", o.hub.BaseURL()))
	o.start(s.before()...)
	o.show(windowapi.WindowSettings) // by the resident: the policy is that of its seat
	p := o.settingsWindow()
	p.Until("the window's sections", func() bool { return p.colour(primaryBlue) > 40 })
	p.Until("the hub's section", func() bool { p.click(hubItem); return p.colour(primaryBlue) > 40 })
	for _, y := range []int{150, 219, 260, 330} { // wherever a field would be
		p.click(image.Pt(400, y))
		p.Type("x", 2)
	}
	if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" {
		keep(t, filepath.Join(dir, "locked-hub.png"), o.Screenshot())
	}
	before := o.written()
	p.click(saveButton)
	if o.written() != before {
		t.Error("typed into a locked field")
	}
}

// show has the resident show a window, as the icon's menu does.
func (o *office) show(window string) {
	o.t.Helper()
	c, _, err := instance.Connect(o.t.Context(), o.instance(), instance.RoleCommand)
	if err != nil {
		o.t.Fatal(err)
	}
	defer c.Close()
	if err := c.Send(windowapi.KindShow, windowapi.Show{Window: window}); err != nil {
		o.t.Fatal(err)
	}
	if _, _, err := c.Receive(); err != nil {
		o.t.Fatal(err)
	}
}

// TestOpenFile: a double click on a set-up file shows it in the settings window of
// the running Wiebelt and changes nothing.
func TestOpenFile(t *testing.T) {
	t.Parallel()
	o, value := newcomer(t)
	from := prepareAt(t, o.hub, o.hub.BaseURL(), value, 0, "")
	file := filepath.Join(t.TempDir(), "kantoor.wiebelt")
	phrase, err := from.wiebelt("provision", "--export", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	o.start()
	before := o.written()
	open := func(path string) (string, error) {
		out, err := o.Command(o.bin, "open-file", "--profile", o.profile, "--", path).CombinedOutput()
		return string(out), err
	}
	for _, bad := range []string{"/nowhere/x.wiebelt", o.settingsFile(), filepath.Dir(file)} {
		if out, err := open(bad); err == nil || !strings.HasPrefix(out, "wiebelt: ") {
			t.Errorf("%s: %v %s", bad, err, out)
		}
	}
	if out, err := open(file); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := o.settingsWindow()
	// The field of the passphrase has the keyboard.
	p.Until("the file, asking for its passphrase", func() bool { return p.colour(primaryBlue) > 600 })
	p.Type(strings.TrimSpace(string(phrase)), 2)
	p.Key("Return")
	p.Until("old and new side by side", func() bool { return p.colour(primaryBlue) > 4000 })
	if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" {
		keep(t, filepath.Join(dir, "open-file.png"), o.Screenshot())
	}
	if s := strings.Split(o.written(), "[listener]")[0]; s != strings.Split(before, "[listener]")[0] {
		t.Errorf("changed without a click:\n%s", s)
	}
}

// TestOpenFileStarts: the same where Wiebelt does not run yet.
func TestOpenFileStarts(t *testing.T) {
	t.Parallel()
	o, _ := newcomer(t)
	file := filepath.Join(t.TempDir(), "kantoor.wiebelt")
	if err := os.WriteFile(file, []byte("of somebody"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // it was started so that it goes on without its parent
		pid := o.at().PID
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		o.Until("it has ended", func() bool { return syscall.Kill(pid, 0) != nil })
	})
	if out, err := o.Command(o.bin, "open-file", "--profile", o.profile, "--", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := o.settingsWindow()
	p.Until("the file, asking for its passphrase", func() bool { return p.colour(primaryBlue) > 600 })
	p.Type("vier willekeurige woorden", 2)
	p.Key("Return")
	p.Until("why it is no set-up file", func() bool { return p.colour(troubleBrown) > 20 })
}

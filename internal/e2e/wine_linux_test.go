package e2e

import (
	"encoding/json"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/doctor"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/winetest"
)

// wineProfile is where the programs under wine keep their files.
const wineProfile = `C:\wiebelt-test`

// windowsPrograms returns the folder with the two programs.
func windowsPrograms(t testing.TB) string {
	t.Helper()
	return must.Get(windowsBuilt())(t)
}

// wineOffice returns a workplace under wine, configured for a hub.
func wineOffice(t testing.TB, dir string) (*winetest.Prefix, *office) {
	t.Helper()
	h, value := startHub(t)
	p := winetest.New(t)
	set := p.Command(filepath.Join(dir, "wiebelt.exe"), "provision", "--profile", wineProfile, "--base-url", h.BaseURL(), "--hub-url", h.HubURL(), "--client-id", "office",
		"--organisation-code", "1234", "--secret-store", "os", "--secret-stdin")
	set.Stdin = strings.NewReader(value + "\r\n")
	if out, err := set.CombinedOutput(); err != nil {
		t.Fatalf("provision: %v: %s", err, out)
	}
	o := &office{t: t, Server: p.Screen, hub: h, profile: filepath.Join(p.Dir, "drive_c", "wiebelt-test")}
	o.set("hub.lookup_timeout", "1m") // a busy machine may take longer than a user wants to wait
	return p, o
}

// startsUnderWine runs the resident like autostart does and waits until it accepts calls.
func (o *office) startsUnderWine(p *winetest.Prefix, dir string) {
	o.t.Helper()
	p.Start(filepath.Join(dir, "wiebeltw.exe"), "--profile", wineProfile, "run", "--background")
	o.Until("the resident takes calls", func() bool { return exists(o.announced()) })
}

// foundOnScreen reports whether the card of a known caller is in its corner:
// its edge and its button.
func foundOnScreen(img *image.RGBA) bool {
	b := img.Rect
	return has(img, b.Max.X-16-380+2, b.Max.Y-16-100, 0x0B, 0x6B, 0xCB) && has(img, b.Max.X-16-380+60, b.Max.Y-16-54, 0x0B, 0x6B, 0xCB)
}

// trayUnderWine checks the tray, which wine shows as a window if the desktop has none: the
// icon is there, in its colour.
func trayUnderWine(t *testing.T, o *office) {
	t.Helper()
	o.FindWindow("Wine System Tray")
	f := must.Get(os.Open("../../assets/icons/tray-ready-16.png"))(t)
	defer f.Close()
	icon, _, err := image.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	want := map[[3]uint8]bool{}
	b := icon.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if r, g, bl, a := icon.At(x, y).RGBA(); a == 0xFFFF && r != g {
				want[[3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(bl >> 8)}] = true
			}
		}
	}
	o.Until("the tray's icon", func() bool {
		n, img := 0, o.Screenshot()
		for i := 0; i < len(img.Pix); i += 4 {
			if want[[3]uint8{img.Pix[i], img.Pix[i+1], img.Pix[i+2]}] {
				n++
			}
		}
		return n >= 20
	})
}

// commandsUnderWine hands over ten calls like softphones do, and records every window
// that opens meanwhile. They are one call, whose card is on screen.
func commandsUnderWine(t *testing.T, p *winetest.Prefix, o *office, dir string) {
	t.Helper()
	ring := winPath(filepath.Join(dir, "wiebelt-ringw.exe")) + " --profile " + wineProfile + " -- 0698760011"
	opened := watchWindows(t, o)
	// "start" is how a program without a console starts others: one that needs a
	// console gets a window.
	if _, code := p.Run("cmd", "/c", "for /L %i in (1,1,10) do start /wait "+ring); code != 0 {
		t.Errorf("ten calls: exit %d", code)
	}
	if got := opened(); len(got) != 0 {
		t.Errorf("windows came up: %q", got)
	}
	opened = watchWindows(t, o)
	if _, code := p.Run("cmd", "/c", "start /wait "+winPath(filepath.Join(dir, "wiebelt.exe"))+" version"); code != 0 {
		t.Errorf("version: exit %d", code)
	}
	if len(opened()) == 0 {
		t.Error("a console's window was not noticed: this test sees nothing")
	}
}

// watchWindows records the windows that are mapped until the function it returns is called,
// which returns their ids and sizes.
func watchWindows(t *testing.T, o *office) func() []string {
	t.Helper()
	conn := must.Get(xgb.NewConnDisplay(o.Display))(t)
	root := xproto.Setup(conn).DefaultScreen(conn).Root
	must.Do(t, xproto.ChangeWindowAttributesChecked(conn, root, xproto.CwEventMask, []uint32{xproto.EventMaskSubstructureNotify}).Check())
	return func() (all []string) {
		defer conn.Close()
		// Events before this request are in the queue before its answer.
		must.Get(xproto.GetInputFocus(conn).Reply())(t)
		for {
			e, err := conn.PollForEvent()
			if e == nil && err == nil {
				return all
			}
			if m, ok := e.(xproto.MapNotifyEvent); ok {
				g, err := xproto.GetGeometry(conn, xproto.Drawable(m.Window)).Reply()
				if err != nil {
					all = append(all, fmt.Sprintf("%d, gone", m.Window))
					continue
				}
				all = append(all, fmt.Sprintf("%d, %d by %d", m.Window, g.Width, g.Height))
			}
		}
	}
}

// TestWindowsRegistry checks that "unregister" removes what "register" wrote, key by
// key, also for all users of the computer; and that a policy written there is read.
func TestWindowsRegistry(t *testing.T) {
	t.Parallel()
	dir := windowsPrograms(t)
	p := winetest.New(t)
	exe := filepath.Join(dir, "wiebelt.exe")
	p.StayUp()
	// Every Windows has this one; a new prefix of wine does not.
	if out, code := p.Run("reg", "add", `HKCU\Software\Classes`, "/f"); code != 0 {
		t.Fatalf("reg add: exit %d: %s", code, out)
	}
	// This covers all of the user's part; of the computer's part, only the names
	// of the classes, of which wine has thousands, and what starts at log-on.
	registry := func() string {
		t.Helper()
		if out, code := p.Run("reg", "export", `HKCU\Software`, `C:\user.reg`, "/y"); code != 0 {
			t.Fatalf("reg export: exit %d: %s", code, out)
		}
		b := must.Get(os.ReadFile(filepath.Join(p.Dir, "drive_c", "user.reg")))(t)
		var all string
		for part := range strings.SplitSeq(strings.ReplaceAll(string(b), "\x00", ""), "\r\n\r\n") { // UTF-16
			if !strings.HasPrefix(part, `[HKEY_CURRENT_USER\Software\Wine`) { // wine's own notes
				all += part + "\r\n"
			}
		}
		for _, key := range []string{`HKLM\Software\Classes`, `HKLM\Software\Microsoft\Windows\CurrentVersion\Run`} {
			out, code := p.Run("reg", "query", key)
			if code != 0 {
				t.Fatalf("reg query %s: exit %d: %s", key, code, out)
			}
			all += out
		}
		return all
	}
	for _, more := range [][]string{nil, {"--profile", wineProfile}, {"--all-users"}} {
		before := registry()
		if out, code := p.Run(exe, append([]string{"register"}, more...)...); code != 0 {
			t.Fatalf("register %v: exit %d: %s", more, code, out)
		}
		if registry() == before {
			t.Errorf("register %v wrote nothing", more)
		}
		if more == nil {
			started := func(want int) {
				t.Helper()
				if out, code := p.Run(exe, "register", "--check"); code != want {
					t.Errorf("register --check: exit %d, want %d: %s", code, want, out)
				}
			}
			started(0)
			const approved = `HKCU\Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved`
			for state, want := range map[string]int{"03": 1, "02": 0} { // as the Task Manager switches it off and on
				p.Run("reg", "add", approved+`\Run`, "/v", "Wiebelt", "/t", "REG_BINARY", "/d", state, "/f")
				started(want)
			}
			p.Run("reg", "delete", approved, "/f")
			const run = `HKCU\Software\Microsoft\Windows\CurrentVersion\Run`
			p.Run("reg", "add", run, "/v", "Wiebelt", "/d", `C:\gone\wiebeltw.exe run --background`, "/f")
			started(1) // the entry now starts another program
		}
		if out, code := p.Run(exe, append([]string{"unregister"}, more...)...); code != 0 {
			t.Fatalf("unregister %v: exit %d: %s", more, code, out)
		}
		if after := registry(); after != before {
			t.Errorf("unregister %v left something:\n%s", more, difference(before, after))
		}
	}
	policyUnderWine(t, p, exe)
}

// difference returns the lines that are in only one of two texts.
func difference(a, b string) string {
	lines := func(s string) map[string]bool {
		m := map[string]bool{}
		for l := range strings.Lines(s) {
			m[l] = true
		}
		return m
	}
	had, has := lines(a), lines(b)
	var all strings.Builder
	for l := range had {
		if !has[l] {
			all.WriteString("- " + l)
		}
	}
	for l := range has {
		if !had[l] {
			all.WriteString("+ " + l)
		}
	}
	return all.String()
}

// TestWindowsPrograms: configured on Windows, a lookup prints its result and returns its
// code, and messages are delivered; the doctor checks the store for secrets, the access
// rights and MicroSIP; a call handed over while nothing runs starts the resident, and its
// card is on the screen, a click on which opens the contact. The tray's icon is there, and
// calls handed over by command open no window.
func TestWindowsPrograms(t *testing.T) {
	t.Parallel()
	dir := windowsPrograms(t)
	p, o := wineOffice(t, dir)
	notes := o.opener()
	if out, code := p.Run("reg", "add", `HKCU\Software\Wine\WineBrowser`, "/v", "Browsers", "/d", filepath.Join(o.Dir, "xdg-open"), "/f"); code != 0 {
		t.Fatalf("reg add: code %d, %s", code, out)
	}
	exe := filepath.Join(dir, "wiebelt.exe")
	out, code := p.Run("cmd", "/c", winPath(exe), "lookup", "--profile", wineProfile, "0698760011")
	if code != 0 || !strings.Contains(out, "J. de Vries") {
		t.Errorf("lookup: exit %d: %q", code, out)
	}
	if _, code := p.Run("cmd", "/c", winPath(exe), "lookup", "--profile", wineProfile, "0655550000"); code != 3 {
		t.Errorf("lookup of nobody: exit %d", code)
	}
	deliversUnderWine(t, p, o, exe)
	ring := func(want int, args ...string) {
		t.Helper()
		if _, code := p.Run(filepath.Join(dir, "wiebeltw.exe"), append([]string{"ring", "--profile", wineProfile}, args...)...); code != want {
			t.Errorf("ring %v: exit %d, want %d", args, code, want)
		}
	}
	ring(4, "--no-start", "--", "0698760011")
	expect := func(want map[string]string) {
		t.Helper()
		var r doctor.Report
		out, _ := p.Run(exe, "doctor", "--json", "--profile", wineProfile)
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for id, w := range want {
			if got := states(r, id); got != w {
				t.Errorf("%s: %s, want %s: %s", id, got, w, out)
			}
		}
	}
	expect(map[string]string{"settings": "ok", "policy": "off", "secret": "ok", "hub.token": "ok", "resident": "warn", "scheme": "off", "autostart": "off",
		"microsip": "off", "lock": "ok", "crash": "ok", "history": "off"}) // no taskbar: wine makes one for the first window
	if out, code := p.Run(exe, "register", "--profile", wineProfile); code != 0 {
		t.Fatalf("register: exit %d: %s", code, out)
	}
	roaming, err := filepath.Glob(filepath.Join(p.Dir, "drive_c", "users", "*", "AppData", "Roaming"))
	if err != nil || len(roaming) == 0 {
		t.Fatalf("no folder for MicroSIP: %v", err)
	}
	for _, r := range roaming {
		must.Do(t, os.MkdirAll(filepath.Join(r, "MicroSIP"), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(r, "MicroSIP", "microsip.ini"), []byte("[Settings]\r\ncmdCallRing=\r\n"), 0o600))
	}
	ring(0, "--", "0698760011")
	o.Until("the card of the caller", func() bool { return foundOnScreen(o.Screenshot()) })
	button := o.Screenshot().Rect.Max.Sub(image.Pt(16+380-60, 16+54))
	o.Move(button.X, button.Y)
	meant()
	o.Click(button.X, button.Y, 1)
	o.Until("the contact is opened", func() bool { return len(opened(notes)) == 1 })
	if got, want := opened(notes)[0], o.hub.HubURL()+"/contacts/viewcontact/c-vries"; got != want {
		t.Errorf("opened %q, want %q", got, want)
	}
	expect(map[string]string{"resident": "ok", "tray": "ok", "version": "ok", "listener": "ok", "scheme": "ok", "autostart": "ok", "microsip": "off", "log": "ok", "history": "ok"})
	trayUnderWine(t, o)
	commandsUnderWine(t, p, o, dir)
}

func has(img *image.RGBA, x, y int, r, g, b uint8) bool {
	c := img.RGBAAt(x, y)
	return c.R == r && c.G == g && c.B == b
}

// winPath returns a path as seen by programs under wine.
func winPath(p string) string { return "Z:" + strings.ReplaceAll(p, "/", `\`) }

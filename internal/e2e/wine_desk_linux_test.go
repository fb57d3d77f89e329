package e2e

import (
	"debug/pe"
	"path/filepath"
	"testing"
)

// TestWindowsWithoutContexts: where OpenGL gives no context, the user who asks
// for a window is told so by a plain message, and calls go on.
func TestWindowsWithoutContexts(t *testing.T) {
	t.Parallel()
	dir := windowsPrograms(t)
	buildForWindows(t, dir, "wiebelt-desk.exe", "./app/wiebelt-desk", "-s -w -H=windowsgui", "CGO_ENABLED=1", "CC=x86_64-w64-mingw32-gcc")
	f, err := pe.Open(filepath.Join(dir, "wiebelt-desk.exe"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if h, ok := f.OptionalHeader.(*pe.OptionalHeader64); !ok || h.Subsystem != pe.IMAGE_SUBSYSTEM_WINDOWS_GUI {
		t.Error("wiebelt-desk.exe comes with a console")
	}
	p, o := wineOffice(t, dir)
	p.RefuseOpenGL(dir)
	o.startsUnderWine(p, dir)
	// What a second start does, by hand or from the start menu.
	if out, code := p.Run(filepath.Join(dir, "wiebeltw.exe"), "--profile", wineProfile); code != 0 {
		t.Fatalf("asking for a window: exit %d: %s", code, out)
	}
	box := o.FindWindow("^Wiebelt$")
	o.Until("the box has the keyboard", func() bool { return o.Run("xdotool", "getwindowfocus") == box+"\n" })
	o.Key("Return")
	if _, code := p.Run(filepath.Join(dir, "wiebeltw.exe"), "ring", "--no-start", "--profile", wineProfile, "--", "0698760011"); code != 0 {
		t.Errorf("ring after that: exit %d", code)
	}
	o.Until("the card of the caller", func() bool { return foundOnScreen(o.Screenshot()) })
}

// TestWindowsCheckGL: the windows program tells by its exit code whether a window
// can be made, also through the opengl32.dll that lies beside it.
func TestWindowsCheckGL(t *testing.T) {
	t.Parallel()
	dir := windowsPrograms(t)
	buildForWindows(t, dir, "wiebelt-desk.exe", "./app/wiebelt-desk", "-s -w -H=windowsgui", "CGO_ENABLED=1", "CC=x86_64-w64-mingw32-gcc")
	p, _ := wineOffice(t, dir)
	desk := filepath.Join(dir, "wiebelt-desk.exe")
	p.Libraries("opengl32=b")
	if out, code := p.Run(desk, "--check-gl"); code != 0 {
		t.Errorf("with OpenGL: exit %d: %s", code, out)
	}
	p.RefuseOpenGL(dir) // an opengl32.dll beside the program
	if out, code := p.Run(desk, "--check-gl"); code != 3 {
		t.Errorf("where it gives no context: exit %d: %s", code, out)
	}
}

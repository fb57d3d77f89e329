package e2e

import (
	"archive/zip"
	"image"
	"path/filepath"
	"testing"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
)

// TestDoctorWindow: it looks by itself, with what only the running Wiebelt knows;
// two clicks later the support file lies where it said.
func TestDoctorWindow(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "[ui]\ntheme = \"light\"\nlanguage = \"nl\"")
	home := t.TempDir()
	o.openWindow(windowapi.WindowDoctor, "HOME="+home)
	o.FindWindow("^Controle")
	o.Until("what works, in green", func() bool { return o.green() > 60 })
	o.shot("doctor")
	made := func() []string { all, _ := filepath.Glob(filepath.Join(home, "wiebelt-*.zip")); return all }
	o.clickOn(text.Dutch.T(text.DoctorWindowBundle), image.Point{}, "what the file would hold", func() bool { _, ok := o.see(text.Dutch.T(text.DoctorWindowWrite)); return ok })
	o.shot("doctor-bundle")
	if len(made()) > 0 {
		t.Error("written before somebody asked for it")
	}
	o.clickOn(text.Dutch.T(text.DoctorWindowWrite), image.Point{}, "the file", func() bool { return len(made()) == 1 })
	z, err := zip.OpenReader(made()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if len(z.File) < 4 { // report, settings, environment, log
		t.Errorf("%d files", len(z.File))
	}
}

package register

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestParts: a part that is written again leaves the other one as it was, and
// what somebody switched off is told from what is gone.
func TestParts(t *testing.T) {
	dir := home(t)
	o := Options{Exe: "/opt/wiebelt", Only: OnlyAutostart}
	if err := Register(o); err != nil {
		t.Fatal(err)
	}
	if s, err := State(o); err != nil || s.Scheme != "" || !s.Autostart || s.SwitchedOff {
		t.Errorf("%+v, %v", s, err)
	}
	if files := all(t, dir); fmt.Sprint(files) != fmt.Sprint([]string{filepath.Join("config", "autostart", "wiebelt.desktop")}) {
		t.Errorf("wrote %v", files)
	}
	if err := write(filepath.Join(dir, "config", "autostart", "wiebelt.desktop"), []byte("[Desktop Entry]\nHidden=true\n")); err != nil {
		t.Fatal(err)
	}
	o.Only = OnlyScheme
	if err := Register(o); err != nil {
		t.Fatal(err)
	}
	if s, err := State(o); err != nil || !s.Ours || s.Autostart || !s.SwitchedOff {
		t.Errorf("%+v, %v", s, err)
	}
	if err := Unregister(o); err != nil {
		t.Fatal(err)
	}
	if s, err := State(o); err != nil || s != (Status{}) {
		t.Errorf("%+v, %v", s, err)
	}
}

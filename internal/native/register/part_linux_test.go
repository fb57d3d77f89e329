package register

import (
	"fmt"
	"path/filepath"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestParts checks that rewriting one part leaves the other unchanged, and that a part that
// was switched off is distinguished from a missing one.
func TestParts(t *testing.T) {
	dir := home(t)
	o := Options{Exe: "/opt/wiebelt", Only: OnlyAutostart}
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

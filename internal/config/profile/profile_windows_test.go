package profile

import (
	"errors"
	"testing"
)

func checkModes(*testing.T, Dirs) {} // rights are inherited

func TestShares(t *testing.T) {
	for _, dir := range []string{`\\evil\share`, `//evil/share`, `\\?\UNC\evil\share`, `\\.\pipe\x`, `\\?\C:\x`} {
		if _, err := Find(dir); !errors.Is(err, ErrNotLocal) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if _, err := Find(`C:\Temp\p`); err != nil {
		t.Error(err)
	}
}

func TestPlatformDirs(t *testing.T) {
	env := map[string]string{"APPDATA": `C:\r`, "LOCALAPPDATA": `C:\l`}
	d, err := platformDirs(func(k string) string { return env[k] })
	if err != nil || d != (Dirs{`C:\r\Wiebelt`, `C:\l\Wiebelt`, `C:\l\Wiebelt\run`}) {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := platformDirs(func(string) string { return "" }); !errors.Is(err, ErrNoHome) {
		t.Error(err)
	}
}

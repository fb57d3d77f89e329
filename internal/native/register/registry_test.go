package register

import (
	"strings"
	"testing"
)

// TestWrote checks that every version recognises entries written by a version installed
// beside it, and that a newer one renews them.
func TestWrote(t *testing.T) {
	const programs = `C:\Program Files\Wiebelt\`
	at := func(path string) Options {
		return Options{Exe: programs + path, LinkExe: programs + `wiebelt-ringw.exe`, Profile: `C:\Jan\1.2.3`}
	}
	now := at(`1.10.0\wiebeltw.exe`)
	all := map[string]struct {
		o           Options
		ours, older bool
	}{
		"this one":         {now, true, false},
		"an older one":     {at(`1.9.0\wiebeltw.exe`), true, true},
		"a newer one":      {at(`1.10.1\WIEBELTW.exe`), true, false},
		"no version":       {at(`bin\wiebeltw.exe`), false, false},
		"nothing":          {at(`wiebeltw.exe`), false, false},
		"deeper":           {at(`1.9.0\1.9.0\wiebeltw.exe`), false, false},
		"another program":  {at(`1.9.0\other.exe`), false, false},
		"elsewhere":        {Options{Exe: `D:\Wiebelt\1.9.0\wiebeltw.exe`, Profile: now.Profile}, false, false},
		"another profile":  {Options{Exe: programs + `1.9.0\wiebeltw.exe`, Profile: `C:\Jan\1.2.2`}, false, false},
		"nobody's profile": {Options{Exe: programs + `1.9.0\wiebeltw.exe`}, false, false},
	}
	for name, c := range all {
		have := Values(c.o)
		for i, v := range Values(now) {
			if !strings.Contains(v.Data, "wiebeltw.exe") || strings.HasSuffix(v.Data, ",0") && strings.Contains(name, "profile") {
				continue // the same for all versions, or for all profiles
			}
			if ours, older := now.matchesCommand(have[i].Data, v.Data); ours != c.ours || older != c.older {
				t.Errorf("%s: %s: %v, %v", name, have[i].Data, ours, older)
			}
		}
	}
	for _, have := range []string{"", `"`, `\wiebeltw.exe`, `"C:\Program Files\Wiebelt`} {
		if ours, _ := now.matchesCommand(have, now.registryCommand("run")); ours {
			t.Errorf("%q is ours", have)
		}
	}
	if ours, older := (Options{Exe: "w"}).matchesCommand("x", "w run"); ours || older {
		t.Error("a program without a folder")
	}
}

// TestCommandLines checks that every path, and the link, is one argument for Windows.
func TestCommandLines(t *testing.T) {
	for profile, want := range map[string]string{
		"":               `"C:\Program Files\wiebeltw.exe" open-file -- "%1"`,
		`D:\jan`:         `"C:\Program Files\wiebeltw.exe" open-file --profile D:\jan -- "%1"`,
		`D:\jan de boer`: `"C:\Program Files\wiebeltw.exe" open-file --profile "D:\jan de boer" -- "%1"`,
		`D:\jan (a)\`:    `"C:\Program Files\wiebeltw.exe" open-file --profile "D:\jan (a)\\" -- "%1"`,
	} {
		o := Options{Exe: `C:\Program Files\wiebeltw.exe`, Profile: profile}
		if got := o.registryCommand("open-file", "--", "%1"); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

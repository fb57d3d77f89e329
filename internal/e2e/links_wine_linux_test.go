package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/softphone/scheme"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/winetest"
)

// TestLinksUnderWine checks that only a valid link has an effect, through the Windows
// shell and the registry entries of "register", and that every other one ends with code 2.
func TestLinksUnderWine(t *testing.T) {
	t.Parallel()
	programs, dir := windowsPrograms(t), t.TempDir()
	must.Do(t, build(filepath.Join(dir, "launch.exe"), "", "./internal/e2e/testdata/launch", forWindows...))
	p := winetest.New(t)
	const profile = `C:\wiebelt-test`
	began := time.Now()
	if out, code := p.Run(filepath.Join(programs, "wiebelt.exe"), "register", "--all-users", "--profile", profile); code != 0 {
		t.Fatalf("register: %d %s", code, out)
	}
	took := time.Since(began)
	var all []string
	for _, l := range linktest.URLs() {
		// Other links are not ours to open, and no Windows shell passes on
		// longer ones. A link that no shell splits or replaces is read as on
		// other systems, and an invalid end may also follow a valid link.
		ours := strings.HasPrefix(strings.ToLower(l), "wiebelt:") && len(l) < 1000
		splits := strings.ContainsAny(strings.ReplaceAll(l, "%2B", ""), "\"\\ %\t\n")
		again := strings.HasPrefix(l, "wiebelt:call?number=") && !strings.HasPrefix(l, linktest.GoodURL)
		if ours && (len(all) < 5 || splits && !again) {
			all = append(all, l)
		}
	}
	b := must.Get(json.Marshal(all))(t)
	list := filepath.Join(dir, "links.json")
	must.Do(t, os.WriteFile(list, b, 0o600))
	launch := p.Command(filepath.Join(dir, "launch.exe"), winPath(list))
	launch.WaitDelay = time.Second
	late := time.AfterFunc(time.Duration(5*len(all))*took, func() { _ = launch.Process.Kill() })
	defer late.Stop()
	out, err := launch.Output()
	lines := strings.Fields(string(out))
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // the resident started by a valid link has our pipe, too
	}
	if err != nil || len(lines) != len(all) {
		t.Fatalf("%d results for %d links, the last %.60q: %v", len(lines), len(all), all[min(len(lines), len(all)-1)], err)
	}
	acted := 0
	for i, l := range all {
		got := must.Get(strconv.Atoi(lines[i]))(t)
		_, bad := scheme.Parse(l)
		switch {
		case bad == nil && got == 0:
			acted++
		case bad == nil:
			t.Errorf("%.60q: %d, and it is a good link", l, got)
		case got == 0:
			t.Errorf("%.60q acted", l)
		case got != 2 && got != -1:
			t.Errorf("%.60q: %d", l, got)
		}
	}
	if acted < 5 {
		t.Errorf("only %d good links acted", acted)
	}
	if out, code := p.Run(filepath.Join(programs, "wiebelt.exe"), "unregister", "--all-users", "--profile", profile); code != 0 {
		t.Errorf("unregister: %d %s", code, out)
	}
}

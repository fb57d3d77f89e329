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

	"wiebelt/internal/config/profile"
	"wiebelt/internal/instance"
	"wiebelt/internal/softphone/scheme"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/winetest"
)

// links are what a page or a program may put behind our scheme: a few good ones,
// and more than two hundred that try to be something else.
func links() []string {
	const good = "wiebelt:call?number=%2B31698760011"
	all := []string{good, "wiebelt://call?number=0698760011", "WIEBELT:call?number=0698760011&state=answered", "wiebelt:call/?number=0698760011", good + "&x=1"}
	for _, tail := range []string{`"`, `""`, `" --profile C:\x`, `" --profile "\\evil\share`, `" "wiebelt:call?number=112`, `" & calc`, `" | calc`, `\"`, `\`, `\\`, "%22", "%22%20--profile%20x",
		" ", "  --help", " --profile /tmp/x", "\t", "\n", "\r\n", "\x00", "%00", "%0a", "%0d%0a", "'", "';id;'", "`id`", "$(id)", "${IFS}id", ";id", "&&id", "||id", "|id", ">x", "<x", "&", "&&", "#", "#x",
		"%", "%%", "%u", "%1", "%PATH%", "%zz", "&state=ended", "&state=Ringing", "&state=", "&id=1", "&name=Anna", "&line=1", "&via=x", "&token=x", "&number=112", "&number=", "&numBer=112",
		"/", "//", "/x", "?", "?x", "+", "++", "-", "*", "~", "^", "{}", "{phone}", "[]", "\u202e", "\u200b", "\ufeff", "é", "€", "😀", "\xff", "\x7f", "\x1b[31m",
		"@evil.example", ":80", "%252B", "%2525", "+31", "123456789012345678901"} {
		all = append(all, good+tail, "wiebelt:call?number="+tail)
	}
	return append(all, []string{"", "wiebelt", "wiebelt:", "wiebelt:call", "wiebelt:call?", "wiebelt:open?number=0698760011", "wiebelt:ring?number=0698760011", "wiebelt:--profile", "wiebelt:-- x", "wiebelt:/call?number=0698760011",
		"wiebelt:///call?number=0698760011", "wiebelt://evil.example/call?number=0698760011", "wiebelt://user@call?number=0698760011", `wiebelt:\\evil\share`, "wiebelt:call?number=12", "wiebelt:call?number=anonymous",
		"wiebelt:call?number=sip%3A0698760011%40x", "wiebelt:call?number=javascript:alert(1)", "wiebelt:call?number=file:///etc/passwd", "wiebelt:call?number=../../x", "wiebelt:call?number=..%2F..%2Fx",
		"wiebelt:call?number=<script>", "wiebelt:call?number=" + strings.Repeat("9", 3000), good + strings.Repeat("&a=b", 400), "wiebelt:call?number=" + strings.Repeat("%30", 600),
		"wiebelt:wiebelt:call?number=0698760011", " wiebelt:call?number=0698760011", "wiebelt :call?number=0698760011", "wiebelt:call?number =0698760011", "wiebelt:Call?number=0698760011",
		"wiebelt:call?number=0698760011&state=answered&state=ringing", "tel:0698760011", "callto:0698760011", "http://127.0.0.1:27471/v1/call", "wiebelt:call?number=%D9%A0%D9%A6%D9%A9%D9%A8"}...)
}

// Only a good link acts, and every other one ends with code 2 and does nothing:
// as arguments here, and as the shell of Windows starts the registered command.
func TestLinksAsArguments(t *testing.T) {
	t.Parallel()
	all := links()
	if len(all) < 200 {
		t.Fatalf("%d links", len(all))
	}
	bin := must.Get(binary())(t)
	dir := t.TempDir()
	run := quit(t, dir)
	acted := 0
	for _, l := range all {
		if strings.Contains(l, "\x00") {
			continue // no argument of this system holds it
		}
		cmd := exec.CommandContext(t.Context(), bin, "open-url", "--profile", dir, "--", l)
		cmd.Env = append(os.Environ(), "HOME="+dir)
		_ = cmd.Run()
		want := 2
		if _, err := scheme.Parse(l); err == nil {
			want = 4 // taken; but the user has quit, so nothing is started
			acted++
		}
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%.60q: exit %d, want %d", l, got, want)
		}
	}
	if acted < 5 {
		t.Errorf("only %d good links", acted)
	}
	// More, fewer or other arguments are no link at all.
	const good = "wiebelt:call?number=0698760011"
	for _, arg := range [][]string{{}, {good}, {"--", good, good}, {"--", good, "--profile", dir}, {"--profile", dir, good}, {"--profile", "relative", "--", good}, {"--profile", `\\evil\share`, "--", good},
		{"--profile", "//evil/share", "--", good}, {"--profile=" + dir, "--", good}, {"--help", "--", good}, {"--", "--", good}, {"-", good}, {"--no-start", "--", good}, {"--", "--profile", dir, good}} {
		cmd := exec.CommandContext(t.Context(), bin, append([]string{"open-url"}, arg...)...)
		cmd.Env = append(os.Environ(), "HOME="+dir)
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != 2 {
			t.Errorf("%q: exit %d", arg, got)
		}
	}
	// What stands behind "--" of ring is a number and a name, never a flag, and
	// never a reason to fail.
	for _, l := range append(all, "--help", "--state=ended", "-h", "--profile", "--no-start") {
		if strings.Contains(l, "\x00") {
			continue
		}
		arg := []string{"--state", "ringing", "--", l, l}
		if !strings.HasPrefix(l, "-") { // a flag's value that looks like a flag is a mistake in the recipe
			arg = append([]string{"--name", l}, arg...)
		}
		cmd := exec.CommandContext(t.Context(), bin, append([]string{"ring", "--no-start", "--profile", dir}, arg...)...)
		cmd.Env = append(os.Environ(), "HOME="+dir)
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != 4 {
			t.Errorf("ring %.60q: exit %d, want 4", arg, got)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(run, "inbox")); len(left) != 0 {
		t.Errorf("%d calls were laid by", len(left))
	}
}

// quit marks a profile as one whose user has quit, and gives its runtime folder.
func quit(t *testing.T, dir string) string {
	t.Helper()
	d := must.Get(profile.Find(dir))(t)
	must.Do(t, d.Make())
	cfg := instance.Config{RunDir: d.Run}
	must.Do(t, instance.MarkQuit(cfg))
	return cfg.RunDir
}

// The same links through the shell of Windows and what "register" put into the
// registry.
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
	for _, l := range links() {
		// Others are not ours to open, and longer ones no shell of Windows passes on.
		// What no shell splits or replaces is read as elsewhere.
		if strings.HasPrefix(strings.ToLower(l), "wiebelt:") && len(l) < 1000 && (len(all) < 6 || strings.ContainsAny(l, "\"\\ %\t\n")) {
			all = append(all, l)
		}
	}
	if len(all) < 40 {
		t.Fatalf("%d links", len(all))
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
		err = nil // the resident that a good link starts has our pipe, too
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
	t.Logf("%d links, %d acted", len(all), acted)
	if acted < 5 {
		t.Errorf("only %d good links acted", acted)
	}
	if out, code := p.Run(filepath.Join(programs, "wiebelt.exe"), "unregister", "--all-users", "--profile", profile); code != 0 {
		t.Errorf("unregister: %d %s", code, out)
	}
}

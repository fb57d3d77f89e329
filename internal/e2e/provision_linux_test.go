package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

// provision returns the command that configures a profile for a hub.
func provision(base, hubURL string, more ...string) []string {
	return append([]string{"provision", "--base-url", base, "--hub-url", hubURL, "--client-id", "office", "--organisation-code", "1234", "--secret-stdin"}, more...)
}

// TestMachineSecret: an administrator sets one secret for the whole computer, and everybody
// in the group uses it for lookups.
func TestMachineSecret(t *testing.T) {
	t.Parallel()
	const group = 4711
	root := newMachine(t)
	root.add("group", fmt.Sprintf("wiebelt:x:%d:", group))
	admin := root.as(realRoot, 0)
	h, value := startHub(t)
	profile := func(uid int) string {
		dir := filepath.Join(root.home, fmt.Sprint(uid))
		must.Do(t, os.MkdirAll(dir, 0o700))
		must.Do(t, os.Chown(dir, uid, -1))
		return dir
	}
	member, stranger := root.as(nobody, group), root.as(nobody-1, nobody)
	root.policy(fmt.Sprintf("[hub]\nbase_url = %q\nhub_url = %q\nclient_id = \"office\"\norganisation_code = \"1234\"\nsecret_store = \"machine\"\n", h.BaseURL(), h.HubURL()))

	if code, out, errOut := member.wiebelt(value+"\n", "provision", "--secret-stdin", "--profile", profile(nobody)); code != 1 || !strings.Contains(errOut, "administrator") {
		t.Errorf("set by a user: exit %d: %s%s", code, out, errOut)
	}
	admin.must(value+"\n", "provision", "--secret-stdin", "--profile", t.TempDir())
	for path, want := range map[string]string{"wiebelt/secrets": "0 4711 drwxr-s---", "wiebelt": "0 0 drwxr-xr-x"} {
		out, err := exec.Command("stat", "-c", "%u %g %A", filepath.Join(root.etc, path)).Output()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %s, not %s", path, out, want)
		}
	}
	if out := member.must("", "lookup", "--profile", profile(nobody), "0698760011"); !strings.Contains(out, "Vries") {
		t.Errorf("%s", out)
	}
	e := member.settings("--profile", profile(nobody))
	if len(e.Problems) > 0 || e.Secrets[0].State != "set" || e.Secrets[0].Store != "machine" {
		t.Errorf("%+v %+v", e.Problems, e.Secrets)
	}
	if e := stranger.settings("--profile", profile(nobody-1)); e.Secrets[0].State != "no_right" {
		t.Errorf("outside of the group: %+v", e.Secrets)
	}
	if code, _, errOut := stranger.wiebelt("", "lookup", "--profile", profile(nobody-1), "0698760011"); code != 1 || !strings.Contains(errOut, "wiebelt)") || strings.Contains(errOut, "Not set up") {
		t.Errorf("outside of the group: exit %d: %s", code, errOut)
	}
	// A set-up file for the same hub does not override the policy, and the
	// rest of it is applied; a secret for another hub is useless here.
	file := filepath.Join(root.home, "office.wiebelt")
	same := newMachine(t)
	same.must(value+"\n", provision(h.BaseURL(), "https://hub.other.example", "--secret-store", "file")...)
	phrase := same.must("", "provision", "--export", file)
	here := t.TempDir()
	if out := admin.must(phrase, "provision", "--import", file, "--passphrase-stdin", "--profile", here); !strings.Contains(out, "hub.hub_url") {
		t.Errorf("what stays is not said: %s", out)
	}
	if out := admin.must("", "provision", "--hub-url", "https://hub.other.example", "--profile", here); !strings.Contains(out, "hub.hub_url") {
		t.Errorf("what stays is not said: %s", out)
	}
	if e := admin.settings("--profile", here); strings.Contains(fmt.Sprint(e), "hub.other.example") {
		t.Error("the policy was written over")
	}
}

// TestForgetUser: an administrator deletes another user's data on disk, and is
// told what is out of reach.
func TestForgetUser(t *testing.T) {
	t.Parallel()
	s := newMachine(t)
	jan := filepath.Join(s.home, "jan")
	s.add("passwd", "jan:x:4712:4712::"+jan+":/bin/sh")
	fill := func(store string) {
		t.Helper()
		for path, text := range map[string]string{".config/wiebelt/settings.toml": "[hub]\nsecret_store = \"" + store + "\"\n", ".local/state/wiebelt/history.db": "x",
			".local/state/wiebelt/log/wiebelt.log": "x", ".config/other/settings.toml": "x"} {
			must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(jan, path)), 0o700))
			must.Do(t, os.WriteFile(filepath.Join(jan, path), []byte(text), 0o600))
		}
		run := filepath.Join(s.run, "user", "4712", "wiebelt")
		must.Do(t, os.MkdirAll(run, 0o700))
	}
	gone := func() {
		t.Helper()
		for _, path := range []string{filepath.Join(jan, ".config/wiebelt"), filepath.Join(jan, ".local/state/wiebelt"), filepath.Join(s.run, "user", "4712", "wiebelt")} {
			if _, err := os.Lstat(path); err == nil {
				t.Errorf("%s is left", path)
			}
		}
		if _, err := os.Stat(filepath.Join(jan, ".config/other/settings.toml")); err != nil {
			t.Error("another program's file is gone")
		}
	}
	fill("file")
	if out := s.must("", "forget", "--user", "jan"); strings.Count(out, "deleted:") != 3 {
		t.Errorf("%s", out)
	}
	gone()
	if out := s.must("", "forget", "--user", "jan"); !strings.Contains(out, "no files") {
		t.Errorf("%s", out)
	}
	fill("os")
	if code, out, errOut := s.wiebelt("", "forget", "--user", "jan"); code != 1 || !strings.Contains(out, "secret-tool clear service nl.wiebelt.companion/") {
		t.Errorf("exit %d: %s%s", code, out, errOut)
	}
	gone()

	// A link that would lead root elsewhere.
	fill("file")
	precious := filepath.Join(s.home, "precious", "wiebelt")
	must.Do(t, os.MkdirAll(precious, 0o700))
	must.Do(t, os.RemoveAll(filepath.Join(jan, ".config")))
	must.Do(t, os.Symlink("../precious", filepath.Join(jan, ".config")))
	if code, out, _ := s.wiebelt("", "forget", "--user", "jan"); code != 1 || !strings.Contains(out, "left: "+filepath.Join(jan, ".config/wiebelt")) {
		t.Errorf("exit %d: %s", code, out)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error("root was led to delete something else")
	}
	if code, _, _ := s.wiebelt("", "forget", "--user", "no-such-user"); code != 2 {
		t.Errorf("nobody's files: exit %d", code)
	}
	if code, _, errOut := s.as(nobody, nobody).wiebelt("", "forget", "--user", "jan"); code != 1 || !strings.Contains(errOut, "administrator") {
		t.Errorf("by a user: exit %d: %s", code, errOut)
	}
}

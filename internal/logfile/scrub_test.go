package logfile

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Times stay whole, and what stands behind "Basic" goes whole or, where it is the
// hub's scope, not at all.
func TestScrubKeepsTimesAndTakesCredentialsWhole(t *testing.T) {
	for in, want := range map[string]string{
		"2026-11-21T14:22:37.123456789+01:00":                "2026-11-21T14:22:37.123456789+01:00",
		"2026-11-21T14:22:37Z from 0612345678":               "2026-11-21T14:22:37Z from [number]",
		"2026-11-21 14:22:37 0612345678":                     "2026-11-21 14:22:37 [number]",
		"2026-11-21T14:22:37.06123456789 x":                  "2026-11-21T14:22:37.[number] x", // no fraction is that long
		`{"time":"2026-11-21T14:22:37.1Z"}`:                  `{"time":"2026-11-21T14:22:37.1Z"}`,
		"scopes Basic P0boxadministrator orgCode:1234":       "scopes Basic P0boxadministrator orgCode:1234",
		"scopes=Basic%20P0boxadministrator%20orgCode%3A1234": "scopes=Basic%20P0boxadministrator%20orgCode%3A1234",
		"Basic P0boxadministrator:hunter2!x":                 "Basic [token]",
		"Authorization: Basic P0box:hunter2,and;more":        "Authorization: Basic [token]",
		"Authorization: Basic%20cDBib3g6c2VjcmV0":            "Authorization: Basic%20[token]",
		`"Authorization": "Bearer a:b{c}"`:                   `"Authorization": "Bearer [token]"`,
		`{"client_secret":"ab\"cd ef"}`:                      `{"client_secret":"[secret]"}`,
		"client_secret=abc&grant_type=client_credentials":    "client_secret=[secret]&grant_type=client_credentials",
		"password: p&q,r;s":                                  "password: [secret]",
		"password = 'two words'":                             "password = '[secret]'",
		"the secret is missing":                              "the secret is missing",
		"basic rules":                                        "basic rules",
	} {
		if got := Scrub(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A copy of the log has every line, each still what it was, and no canary.
func TestCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	lines := []string{
		`{"time":"2026-11-21T14:22:37.123456789+01:00","level":"INFO","msg":"ready","port":27471}`,
		`{"time":"2026-11-21T14:22:38Z","level":"WARN","msg":"call from 0698760011","caller":31698760011,"group":{"token":"canary-a","why":"Basic cDBib3g6Y2FuYXJ5LWI= x"},"list":["0698760011",1]}`,
		`{"time":"2026-11-21T14:22:39Z","level":"INFO","msg":"x","client_secret":"canary\"-c","scopes":"Basic P0boxadministrator orgCode:1234"}`,
		`panic: call of 0698760011`,
		`{"cut off":"Bearer canary-d`,
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Copy(&b, path); err != nil {
		t.Fatal(err)
	}
	for _, canary := range []string{"98760011", "canary", "Y2FuYXJ5"} {
		if strings.Contains(b.String(), canary) {
			t.Errorf("%q is left:\n%s", canary, b.String())
		}
	}
	got := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(got) != len(lines) {
		t.Fatalf("%d lines", len(got))
	}
	if got[0] != lines[0] {
		t.Errorf("%s", got[0])
	}
	for i := range 3 {
		var head struct {
			Time   time.Time
			Level  string
			Scopes string
		}
		if err := json.Unmarshal([]byte(got[i]), &head); err != nil || head.Time.IsZero() || head.Level == "" {
			t.Errorf("%v: %s", err, got[i])
		}
		if i == 2 && head.Scopes != "Basic P0boxadministrator orgCode:1234" {
			t.Errorf("%s", got[i])
		}
	}
	if err := Copy(&b, filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error for a file that is not there")
	}
	long := filepath.Join(t.TempDir(), Name)
	if err := os.WriteFile(long, []byte("a\n"+strings.Repeat("0", 2<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := Copy(&b, long); err != nil || b.Len() > 200 || !strings.HasPrefix(b.String(), "a\n") {
		t.Errorf("%v: %d bytes", err, b.Len())
	}
}

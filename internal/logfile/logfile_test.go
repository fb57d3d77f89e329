package logfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

func TestMain(m *testing.M) {
	processtest.Main(processtest.Roles{"crash": func(t must.Test, args []string) {
		must.Do(t, must.Get(Open(args[0], "info"))(t).CatchCrashes())
		panic("on purpose")
	}})
	goleak.VerifyTestMain(m)
}

func TestLinesAreJSONAndPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	l := must.Get(Open(dir, "debug"))(t)
	log := slog.New(l.Handler())
	log.Debug("at this level", "took", 1500*time.Millisecond)
	l.SetLevel("no such level")
	log.Debug("not at this level")
	log.Info("ready", "port", 27471, "at", "127.0.0.1:27471", "client_secret", "x", "why", errors.New("call +31 6 12345678 lost"))
	must.Do(t, l.Close())
	log.Info("late") // into the same file
	must.Do(t, l.Close())
	b := must.Get(os.ReadFile(filepath.Join(dir, Name)))(t)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines", len(lines))
	}
	var first map[string]any
	must.Do(t, json.Unmarshal([]byte(lines[1]), &first))
	if first["level"] != "INFO" || first["client_secret"] != "[secret]" || first["port"] != 27471.0 || first["at"] != "127.0.0.1:27471" || first["why"] != "call [number] lost" || first["msg"] != "ready" {
		t.Error(first)
	}
	info := must.Get(os.Stat(filepath.Join(dir, Name)))(t)
	if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("others can read it: %v", info.Mode())
	}
}

func TestNeverMoreThanThreeFiles(t *testing.T) {
	dir := t.TempDir()
	l := must.Get(Open(dir, "info"))(t)
	defer l.Close()
	l.max = 64 << 10
	log := slog.New(l.Handler())
	word := strings.Repeat("woord ", 100)
	for range 4 * int(l.max) / len(word) {
		log.Info("filling", "with", word)
	}
	found := Files(dir)
	if len(found) != maxFiles {
		t.Fatal(found)
	}
	for _, p := range found {
		if info, err := os.Stat(p); err != nil || info.Size() > l.max {
			t.Errorf("%s: %d bytes, %v", p, info.Size(), err)
		}
	}
}

// TestNothingOlderThanFourteenDays checks a program that
// keeps running and one that is started daily.
func TestNothingOlderThanFourteenDays(t *testing.T) {
	t.Run("on", func(t *testing.T) { nothingOlder(t, false) })
	t.Run("daily", func(t *testing.T) { nothingOlder(t, true) })
}

func nothingOlder(t *testing.T, daily bool) {
	dir := t.TempDir()
	c := clocktest.New(time.Now())
	l := must.Get(open(dir, "info", c.Now))(t)
	defer func() { must.Do(t, l.Close()) }()
	say := func(what string) {
		must.Do(t, l.Handler().Handle(t.Context(), slog.NewRecord(c.Now(), slog.LevelInfo, what, 0)))
	}
	say("first")
	crash := filepath.Join(dir, CrashName)
	must.Do(t, os.WriteFile(crash, []byte("first"), 0o600), os.Chtimes(crash, c.Now(), c.Now()))
	for day := range 20 {
		if _, err := os.Stat(crash); err != nil && day < 14 || err == nil && day > 15 && daily {
			t.Errorf("a crash of %d days ago: %v", day, err)
		}
		c.Forward(24 * time.Hour)
		stamp := c.Now()
		for i := range maxFiles { // files age with the test's clock
			_ = os.Chtimes(l.path(i), stamp, stamp)
		}
		if daily {
			must.Do(t, l.Close())
			l = must.Get(open(dir, "info", c.Now))(t)
		}
		say("daily")
	}
	all := ""
	for _, p := range Files(dir) {
		b := must.Get(os.ReadFile(p))(t)
		all += string(b)
	}
	if strings.Contains(all, "first") {
		t.Error("a line of twenty days ago is still there")
	}
	if strings.Count(all, "daily") < 5 {
		t.Error("lines of yesterday are gone")
	}
}

// TestOldLogIsTurnedAtOnce checks that a program that logs nothing keeps nothing too old.
func TestOldLogIsTurnedAtOnce(t *testing.T) {
	dir := t.TempDir()
	c := clocktest.New(time.Now())
	must.Do(t, os.WriteFile(filepath.Join(dir, Name), []byte(`{"time":"`+c.Now().Format(time.RFC3339)+`"}`+"\n"), 0o600))
	c.Forward(maxAge + time.Hour)
	l := must.Get(open(dir, "error", c.Now))(t)
	defer l.Close()
	if found := Files(dir); len(found) > 0 {
		t.Error(found)
	}
}

// TestNoLineIsLostWithoutRename checks that the newest file is continued if files cannot be
// renamed, and that another one is begun an hour later.
func TestNoLineIsLostWithoutRename(t *testing.T) {
	dir := t.TempDir()
	c := clocktest.New(time.Now())
	l := must.Get(open(dir, "info", c.Now))(t)
	defer l.Close()
	must.Do(t, os.WriteFile(l.path(1), nil, 0o600), os.MkdirAll(filepath.Join(l.path(2), "in the way"), 0o700))
	l.max = 20
	write := func(lines, want int64) {
		t.Helper()
		for range lines {
			must.Get(l.Write([]byte("123456789\n")))(t)
		}
		if size := must.Get(os.Stat(l.path(0)))(t).Size(); size != want {
			t.Errorf("%d bytes, want %d", size, want)
		}
	}
	write(4, 40)
	must.Do(t, os.RemoveAll(l.path(2)))
	l.max = maxSize
	write(1, 50)
	c.Forward(renameRetry + time.Second)
	write(1, 10)
}

// TestScrub checks that whatever could identify a person or grant access is removed
// completely, and that times and the hub's scope are kept.
func TestScrub(t *testing.T) {
	for in, want := range map[string]string{
		"call from 0612345678":                                "call from [number]",
		"call from +31 (0)6 12 34 56 78 now":                  "call from [number] now",
		"tel:+31-6-1234-5678":                                 "tel:[number]",
		"dial tcp 127.0.0.1:27471: refused":                   "dial tcp 127.0.0.1:27471: refused",
		"dial tcp 192.168.100.123:27471":                      "dial tcp 192.168.100.123:27471",
		"since 2026-11-21 10:42":                              "since 2026-11-21 10:42",
		"Authorization: Bearer abc.def-ghi":                   "Authorization: Bearer [token]",
		"Basic cDBib3g6c2VjcmV0":                              "Basic [token]",
		"jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x":          "jwt [token]",
		"client_secret=p@ss+/=% x":                            "client_secret=[secret] x",
		`"password": "hunter22"`:                              `"password": "[secret]"`,
		"mail j.devries@example.nl bounced":                   "mail [address] bounced",
		"GET https://hub.example/contacts?q=0612":             "GET https://hub.example/contacts?[…]",
		"wiebelt:call?number=0612345678":                      "wiebelt:call?[…]",
		"key 3fA9_kJd83nDk2lQpXzR71mVbTgYhUeWcSaOiPl0":        "key [token]",
		"/usr/lib/x86_64-linux-gnu/libsomething/else/deep.so": "/usr/lib/x86_64-linux-gnu/libsomething/else/deep.so",
		"version 1.26.8 took 1.234567s":                       "version 1.26.8 took 1.234567s",
		"extension 101 on port 5060":                          "extension 101 on port 5060",
		"2026-11-21T14:22:37.123456789+01:00":                 "2026-11-21T14:22:37.123456789+01:00",
		"2026-11-21T14:22:37Z from 0612345678":                "2026-11-21T14:22:37Z from [number]",
		"2026-11-21 14:22:37 0612345678":                      "2026-11-21 14:22:37 [number]",
		"2026-01-02 0612345678, 2026-01-02 (0612345678)":      "2026-01-02 [number], 2026-01-02 [number])",
		"polis-2026-01-02-0612345678.zip":                     "polis-2026-01-02-[number].zip",
		"from 2026-01-02 2026-01-03 to 12":                    "from 2026-01-02 2026-01-03 to 12",
		"0612-34-56 78, 2026-01-0212345":                      "[number], [number]",
		"2026-11-21T14:22:37.06123456789 x":                   "2026-11-21T14:22:37.[number] x", // no fraction is that long
		`{"time":"2026-11-21T14:22:37.1Z"}`:                   `{"time":"2026-11-21T14:22:37.1Z"}`,
		"scopes Basic P0boxadministrator orgCode:1234":        "scopes Basic P0boxadministrator orgCode:1234",
		"scopes=Basic%20P0boxadministrator%20orgCode%3A1234":  "scopes=Basic%20P0boxadministrator%20orgCode%3A1234",
		"Basic P0boxadministrator:hunter2!x":                  "Basic [token]",
		"Authorization: Basic P0box:hunter2,and;more":         "Authorization: Basic [token]",
		"Authorization: Basic%20cDBib3g6c2VjcmV0":             "Authorization: Basic%20[token]",
		`"Authorization": "Bearer a:b{c}"`:                    `"Authorization": "Bearer [token]"`,
		`{"client_secret":"ab\"cd ef"}`:                       `{"client_secret":"[secret]"}`,
		"client_secret=abc&grant_type=client_credentials":     "client_secret=[secret]&grant_type=client_credentials",
		"password: p&q,r;s":                                   "password: [secret]",
		"password = 'two words'":                              "password = '[secret]'",
		"the secret is missing":                               "the secret is missing",
		"basic rules":                                         "basic rules",
	} {
		if got := Scrub(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestCanaries logs sensitive values through every kind of attribute.
func TestCanaries(t *testing.T) {
	dir := t.TempDir()
	l := must.Get(Open(dir, "debug"))(t)
	log := slog.New(l.Handler())
	const number, secret = "0698760011", "eyJhbGciOiJub25lIn0.eyJjYW5hcnkiOiJ5ZXMifQ."
	type pair struct{ A, B string }
	log.Info("number "+number, "a", number, "b", fmt.Errorf("x: %s", number), "c", pair{number, secret}, "d", []string{number},
		slog.Group("g", "e", number, "f", &pair{secret, number}), "h", []byte(number))
	log.With("k", number).WithGroup("m").Warn("w", "n", secret)
	_ = l.Close()
	b := must.Get(os.ReadFile(filepath.Join(dir, Name)))(t)
	for _, canary := range []string{number, secret, "98760011"} {
		if n := strings.Count(string(b), canary); n > 0 {
			t.Errorf("%d times in the log", n)
		}
	}
}

func TestCrashIsKept(t *testing.T) {
	dir := t.TempDir()
	if err := processtest.Command(t.Context(), "crash", dir).Run(); err == nil {
		t.Fatal("it did not crash")
	}
	b := must.Get(os.ReadFile(filepath.Join(dir, CrashName)))(t)
	if !strings.Contains(string(b), "on purpose") || !strings.Contains(string(b), "goroutine") {
		t.Errorf("%.200s", b)
	}
	if found := Files(dir); len(found) != 1 {
		t.Error(found)
	}
	crash := filepath.Join(dir, CrashName)
	l := must.Get(Open(dir, "info"))(t)
	defer l.Close()
	defer func() { must.Do(t, debug.SetCrashOutput(nil, debug.CrashOptions{})) }()
	for size, kept := range map[int64]int64{maxCrash: maxCrash, maxCrash + 1: 0} {
		must.Do(t, os.Truncate(crash, size), l.CatchCrashes())
		if info, err := os.Stat(crash); err != nil || info.Size() != kept {
			t.Errorf("of %d bytes %d are kept, %v", size, info.Size(), err)
		}
	}
}

func TestWritersAtOnce(t *testing.T) {
	dir := t.TempDir()
	l := must.Get(Open(dir, "info"))(t)
	log := slog.New(l.Handler())
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 200 {
				log.Info("line", "n", n, "i", i)
			}
		})
	}
	all.Wait()
	_ = l.Close()
	b := must.Get(os.ReadFile(filepath.Join(dir, Name)))(t)
	if n := strings.Count(string(b), "\n"); n != 1600 {
		t.Errorf("%d lines", n)
	}
}

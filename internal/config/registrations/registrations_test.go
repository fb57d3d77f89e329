package registrations

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/health"
	"wiebelt/internal/softphone/detect"
	"wiebelt/internal/softphone/phonefile"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// computer is a computer on which registrations come and go.
type computer struct {
	sync.Mutex
	at    map[health.Registration]standing
	looks int
	again []health.Registration
	with  Registered // what was known at the last of them
	fails error
	lost  []health.Registration
	none  bool // whether our links open another program or none, as last reported
	told  int  // how often that was reported
	log   bytes.Buffer
}

func (c *computer) watch(d profile.Dirs) *Watch {
	r := newWatch(d, slog.New(slog.NewTextHandler(&c.log, nil)))
	r.inspect = func(what health.Registration, _ Registered) (standing, string) {
		c.Lock()
		defer c.Unlock()
		c.looks++
		return c.at[what], "/ini"
	}
	r.restore = func(what health.Registration, was Registered) error {
		c.Lock()
		defer c.Unlock()
		c.again, c.with = append(c.again, what), was
		if c.fails == nil {
			c.at[what] = standingCurrent
		}
		return c.fails
	}
	r.onChange = func(lost []health.Registration, unopened bool) {
		c.Lock()
		defer c.Unlock()
		c.lost, c.none, c.told = lost, unopened, c.told+1
	}
	return r
}

func folders(t *testing.T) profile.Dirs {
	t.Helper()
	return must.Get(profile.Find(t.TempDir()))(t)
}

// TestWhatWasTakenIsNoticed checks that registrations are read at the start
// and every hour, and that only those that were ours before can be lost.
func TestWhatWasTakenIsNoticed(t *testing.T) {
	d := folders(t)
	synctest.Test(t, func(t *testing.T) {
		c := &computer{at: map[health.Registration]standing{health.Scheme: standingOutdated, health.Autostart: standingCurrent,
			health.MicroSIP: standingLost}}
		r := c.watch(d)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go r.Run(ctx)
		c.Lock() // Run uses it while time passes
		later := func(in time.Duration) { c.Unlock(); time.Sleep(in); synctest.Wait(); c.Lock() }
		lost := func(want ...health.Registration) {
			t.Helper()
			if !slices.Equal(c.lost, want) {
				t.Errorf("lost %v, want %v", c.lost, want)
			}
		}
		later(0)
		if got := c.again; !slices.Equal(got, []health.Registration{health.Scheme}) {
			t.Errorf("that of an older version: registered %v", got)
		}
		if was := RegisteredIn(d); !was.Scheme || !was.Autostart || was.MicroSIP != "" {
			t.Fatalf("noted %+v", was)
		}
		lost() // MicroSIP was never ours
		c.at[health.Scheme] = standingLost
		later(59 * time.Minute)
		if n := c.looks; n != len(displayOrder) {
			t.Errorf("%d looks before the hour is over", n)
		}
		later(2 * time.Minute)
		lost(health.Scheme)
		// An unknown state leaves the last known one in place; a
		// registration switched off on purpose is no longer reported.
		c.at[health.Scheme] = standingUnknown
		c.at[health.Autostart] = standingDeclined
		later(time.Hour)
		lost(health.Scheme)
		c.at[health.Autostart] = standingLost
		r.Reread()
		later(0)
		if lost(health.Scheme); RegisteredIn(d).Autostart { // switched off on purpose
			t.Error("still noted")
		}
		c.at[health.Scheme] = standingCurrent
		later(time.Hour)
		lost()
		for _, at := range []standing{standingLost, standingCurrent} {
			c.at[health.Scheme] = at
			told := c.told
			r.Reread()
			later(0)
			if none := at == standingLost; c.none != none || slices.Contains(c.lost, health.Scheme) != none || c.told != told+1 {
				t.Errorf("links do not open this program: %v, said %v, lost %v, %d times", none, c.none, c.lost, c.told-told)
			}
		}
		for _, at := range []standing{standingDeclined, standingLost} { // and was not meant to
			c.at[health.Scheme] = at
			r.Reread()
			later(0)
			if none := at == standingLost; c.none != none || slices.Contains(c.lost, health.Scheme) {
				t.Errorf("links do not open this program: %v, said %v, lost %v", none, c.none, c.lost)
			}
		}
		c.at[health.Scheme] = standingCurrent
		c.at[health.MicroSIP] = standingOutdated
		c.fails = ErrPhoneRuns
		c.log.Reset()
		later(time.Hour)
		if c.log.Len() > 0 {
			t.Errorf("a phone that runs is no fault: %s", &c.log)
		}
		c.fails = nil
		later(time.Hour)
		if s := c.at[health.MicroSIP]; s != standingCurrent || c.with.MicroSIP != "/ini" {
			t.Errorf("lines of an older version: %v, renewed with %+v", s, c.with)
		}
		c.at[health.MicroSIP] = standingLost
		later(time.Hour)
		if lost(health.MicroSIP); RegisteredIn(d).MicroSIP != "/ini" {
			t.Errorf("noted %+v", RegisteredIn(d))
		}
	})
}

// TestRepair checks that a click restores what was registered before and takes nothing else.
func TestRepair(t *testing.T) {
	d := folders(t)
	must.Do(t, Remember(d, Registered{Scheme: true}))
	synctest.Test(t, func(t *testing.T) {
		c := &computer{at: map[health.Registration]standing{health.Scheme: standingLost, health.Autostart: standingLost,
			health.MicroSIP: standingLost}}
		r := c.watch(d)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go r.Run(ctx)
		synctest.Wait()
		if got := c.lost; !slices.Equal(got, []health.Registration{health.Scheme}) {
			t.Fatalf("lost %v", got)
		}
		mend := func(what health.Registration) error {
			done := make(chan error, 1)
			r.Repair(what, func(err error) { done <- err })
			synctest.Wait()
			return <-done
		}
		c.fails = os.ErrPermission
		if err := mend(health.Scheme); !errors.Is(err, os.ErrPermission) || len(c.lost) != 1 {
			t.Errorf("%v, lost %v", err, c.lost)
		}
		c.fails = nil
		for _, what := range []health.Registration{health.Autostart, health.MicroSIP} {
			if err := mend(what); !errors.Is(err, errNotRegistered) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := mend(health.Scheme); err != nil || len(c.lost) != 0 {
			t.Errorf("%v, lost %v", err, c.lost)
		}
		if !slices.Equal(c.again, []health.Registration{health.Scheme, health.Scheme}) {
			t.Errorf("registered %v", c.again)
		}
	})
}

// TestRegisteredFile: unknown content is ignored, and the file is removed once
// nothing is registered.
func TestRegisteredFile(t *testing.T) {
	d := folders(t)
	none := Registered{Version: 1}
	if got := RegisteredIn(d); got != none {
		t.Errorf("%+v", got)
	}
	all := Registered{Scheme: true, Autostart: true, MicroSIP: `C:\x\microsip.ini`}
	must.Do(t, Remember(d, all))
	all.Version = 1
	if got := RegisteredIn(d); got != all {
		t.Errorf("%+v", got)
	}
	path := filepath.Join(d.State, registeredFile)
	for _, s := range []string{"", "nonsense", `{"scheme":"yes"}`, `[]`} {
		must.Do(t, os.WriteFile(path, []byte(s), 0o600))
		if got := RegisteredIn(d); got != none {
			t.Errorf("%q: %+v", s, got)
		}
	}
	for range 2 {
		must.Do(t, Remember(d, Registered{}))
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Error(err)
		}
	}
}

// TestMicroSIPStands judges MicroSIP by what its ini really runs.
func TestMicroSIPStands(t *testing.T) {
	dir := t.TempDir()
	exe, small := filepath.Join(dir, "wiebeltw.exe"), filepath.Join(dir, "small", "wiebelt-ring")
	for _, p := range []string{exe, small, filepath.Join(dir, "small", "wiebeltw.exe")} {
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(p), 0o700), os.WriteFile(p, nil, 0o700)))
	}
	was := func(exe, profile string) (s string) {
		for key, state := range map[string]string{"cmdCallRing": "ringing", "cmdCallAnswer": "answered", "cmdCallEnd": "ended", "cmdCallBusy": "ended"} {
			s += key + "=\"" + exe + "\" ring --state " + state + profile + " --\r\n"
		}
		return "[Settings]\r\n" + s
	}
	large := filepath.Join(filepath.Dir(small), "wiebeltw.exe")
	for name, tt := range map[string]struct {
		ini  string
		want standing
	}{
		"ours":        {"[Settings]\r\ncmdCallRing=\"" + exe + "\" ring --state ringing --\r\n", standingCurrent},
		"small":       {"[Settings]\r\ncmdCallRing=\"" + small + "\" ring --state ringing --\r\n", standingCurrent},
		"older":       {was(large, " --profile /ours"), standingOutdated},
		"no profile":  {was(large, ""), standingCurrent},
		"another's":   {was(large, " --profile /other"), standingCurrent},
		"user's own":  {strings.Replace(was(large, " --profile /ours"), "--state answered", "--line 2 --state answered", 1), standingCurrent},
		"one line":    {"[Settings]\r\ncmdCallRing=\"" + large + "\" ring --state ringing --profile /ours --\r\n", standingCurrent},
		"no small":    {was(exe, " --profile /ours"), standingCurrent},
		"nothing":     {"[Settings]\r\n", standingLost},
		"another":     {"[Settings]\r\ncmdCallRing=\"" + filepath.Join(dir, "pop.exe") + "\" ring\r\n", standingLost},
		"gone":        {"[Settings]\r\ncmdCallRing=\"" + filepath.Join(dir, "old", "wiebeltw.exe") + "\" ring --\r\n", standingLost},
		"unreadable":  {"\x00", standingUnknown},
		"wrong group": {"[Other]\r\ncmdCallRing=\"" + exe + "\" ring --\r\n", standingLost},
	} {
		path := filepath.Join(dir, "microsip.ini")
		must.Do(t, os.WriteFile(path, []byte(tt.ini), 0o600))
		for _, where := range [][2]string{{path, ""}, {"", path}} {
			if got, _ := inspectMicroSIP(where[0], where[1], "/ours"); got != tt.want {
				t.Errorf("%s: %v, want %v", name, got, tt.want)
			}
		}
	}
	if got, _ := inspectMicroSIP(filepath.Join(dir, "none.ini"), "", "/ours"); got != standingDeclined {
		t.Errorf("without a phone: %v", got)
	}
	if got, _ := inspectMicroSIP("", "", "/ours"); got != standingUnknown {
		t.Errorf("where it cannot be: %v", got)
	}
}

// TestConnectFile: a phone that runs a program gets the lines of its recipe and keeps its
// other settings; a phone that is running is left alone.
func TestConnectFile(t *testing.T) {
	d, s := folders(t), settings.Defaults()
	path := filepath.Join(t.TempDir(), "microsip.ini")
	const before = "[Settings]\r\nvolumeOutput=100\r\ncmdCallRing=\"C:\\old\\wiebeltw.exe\" ring --\r\n[Calls]\r\n0=x\r\n"
	write := func() {
		t.Helper()
		must.Do(t, os.WriteFile(path, []byte(before), 0o600))
	}
	phone := detect.Phone{Kind: detect.MicroSIP, File: path}
	write()
	err := ConnectFile(d, s, "", phone, []detect.Process{{Name: "MicroSIP.exe"}})
	if !errors.Is(err, ErrPhoneRuns) || text.Dutch.Error(err) != text.Dutch.T(text.RegisterRuns) {
		t.Errorf("a phone that runs: %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != before {
		t.Errorf("changed all the same: %q", b)
	}
	must.Do(t, ConnectFile(d, s, "", phone, nil))
	f := must.Get(phonefile.Read(path))(t)
	exe := must.Get(os.Executable())(t)
	for key, state := range map[string]string{"cmdCallRing": "ringing", "cmdCallAnswer": "answered", "cmdCallEnd": "ended", "cmdCallBusy": "ended"} {
		if got, want := f.Get("Settings", key), `"`+exe+`" ring --state `+state+" --"; got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	if f.Get("Settings", "volumeOutput") != "100" || f.Get("Calls", "0") != "x" {
		t.Error("other settings went")
	}
	if err := ConnectFile(d, s, "", detect.Phone{Kind: registry.Baresip, File: path}, nil); err == nil {
		t.Error("a phone that runs no program was written to")
	}
}

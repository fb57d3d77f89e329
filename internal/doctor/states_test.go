package doctor

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/hub"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/logfile"
	"wiebelt/internal/native/register"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

func well() hubState {
	return hubState{tokenLifetime: time.Hour, reached: hub.ProbeResult{Resolved: true, HasDate: true,
		Expires: time.Date(2027, 10, 1, 10, 0, 0, 0, time.Local)}}
}

func failing(f contact.Failure, detail string) error {
	return &contact.LookupError{Failure: f, Detail: detail}
}

func withHub(change func(*hubState)) func(*testing.T, *exam) {
	return func(_ *testing.T, e *exam) {
		j := well()
		change(&j)
		e.fromHub = given(j)
	}
}

// rotating is a hub that accepts or refuses the old secret and the new one.
func rotating(old, next error) func(*testing.T, *exam) {
	return withHub(func(j *hubState) { j.secretWaits, j.tokenErr, j.newTokenErr = true, old, next })
}

func stops(f contact.Failure, detail string, r hub.ProbeResult) func(*testing.T, *exam) {
	return withHub(func(j *hubState) { *j = hubState{reached: r, reachErr: failing(f, detail)} })
}

func withSecret(err error) func(*testing.T, *exam) {
	return func(_ *testing.T, e *exam) { e.fromStore = given(storedSecret{err: err}) }
}

func tells(change func(*residentState)) func(*testing.T, *exam) {
	return func(_ *testing.T, e *exam) {
		v := e.fromResident.value
		change(&v)
		e.fromResident = given(v)
	}
}

func hotkey(setting, why string) func(*testing.T, *exam) {
	return tells(func(v *residentState) {
		all := map[string]string{setting: why}
		maps.Copy(all, v.facts.Hotkeys)
		v.facts.Hotkeys = all
	})
}

func links(phase string) func(*testing.T, *exam) { return because(phase, "") }

// because sets links and the reason the second one is not connected.
func because(phase, why string) func(*testing.T, *exam) {
	return tells(func(v *residentState) {
		v.facts.Links = []windowapi.DoctorLink{{Kind: "baresip", Name: "Jansen", Phase: phase}, {Kind: "ari", Name: "ari", Phase: phase, Why: why}}
	})
}

// also adds to the first line the reason a link is not connected.
func also(lines []finding, why string) []finding {
	lines[0].extra, lines[0].hint = text.LinkWhy(why), text.LinkDo(why)
	return lines
}

const twoLinks = setUp + "[[softphone]]\nkind = \"baresip\"\nname = \"Jansen\"\naddress = \"127.0.0.1:4444\"\n[[softphone]]\nkind = \"ari\"\naddress = \"https://pbx.example\"\n"

func sip(lines ...string) func(*testing.T, *exam) {
	return func(t *testing.T, e *exam) {
		path := filepath.Join(t.TempDir(), "microsip.ini")
		b := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune("[Settings]\r\n" + strings.ReplaceAll(strings.Join(lines, "\r\n"), "EXE", e.Exe))) {
			b = append(b, byte(u), byte(u>>8))
		}
		write(t, path, string(b))
		write(t, e.Exe, "")
		e.sys.microSIP = func() string { return path }
	}
}

func both(all ...func(*testing.T, *exam)) func(*testing.T, *exam) {
	return func(t *testing.T, e *exam) {
		for _, f := range all {
			f(t, e)
		}
	}
}

func screenIs(kind string) func(*testing.T, *exam) {
	return func(_ *testing.T, e *exam) { e.sys.screen = func(context.Context) string { return kind } }
}

func folderIs(fault error) func(*testing.T, *exam) {
	return func(_ *testing.T, e *exam) {
		e.sys.folder = func(path string) error {
			if path == e.Dirs.Run {
				return fault
			}
			return nil
		}
	}
}

func aged(days int) func(*testing.T, *exam) {
	return func(t *testing.T, e *exam) {
		p := filepath.Join(e.Dirs.Log(), logfile.CrashName)
		write(t, p, "panic: x\n")
		at := e.now.AddDate(0, 0, -days).Add(-time.Minute)
		must.Do(t, os.Chtimes(p, at, at))
	}
}

func calls(change func(path string)) func(*testing.T, *exam) {
	return func(t *testing.T, e *exam) {
		path := fromsettings.HistoryFile(e.Dirs)
		s := must.Get(history.Open(path, history.KeepFull, 7, time.Now))(t)
		must.Get(s.Put(t.Context(), history.Entry{Rang: time.Now(), Number: "+31201234567", Name: "J. Jansen"}))(t)
		must.Do(t, s.Close())
		if change != nil {
			change(path)
		}
	}
}

func tokens(mode fs.FileMode) func(*testing.T, *exam) {
	return func(t *testing.T, e *exam) {
		must.Get(secret.EnsureTokens(e.Dirs))(t)
		must.Do(t, os.Chmod(filepath.Join(e.Dirs.State, "tokens.json"), mode))
	}
}

func announces(s string, mode fs.FileMode) func(*testing.T, *exam) {
	return func(t *testing.T, e *exam) {
		p := filepath.Join(e.Dirs.Run, "listener.json")
		write(t, p, s)
		must.Do(t, os.Chmod(p, mode))
	}
}

func number(_ *testing.T, e *exam) { e.Number = "020 123 4567" }

func noDesktop(_ *testing.T, e *exam) { e.sys.desktop = func() bool { return false } }

func registered(s register.Status, err error) func(*testing.T, *exam) {
	return func(_ *testing.T, e *exam) {
		e.sys.register = func(register.Options) (register.Status, error) { return s, err }
	}
}

func room(free uint64, err error) func(*testing.T, *exam) {
	return func(_ *testing.T, e *exam) { e.sys.free = func(string) (uint64, error) { return free, err } }
}

func schema(t testing.TB, path string, version int) {
	t.Helper()
	db := must.Get(sql.Open("sqlite", path))(t)
	must.Get(db.Exec(fmt.Sprintf("PRAGMA user_version = %d", version)))(t)
	must.Do(t, db.Close())
}

package eventlog

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"wiebelt/assets"
	"wiebelt/internal/testutil/must"
)

func listen(t *testing.T, path string) *net.UnixConn {
	t.Helper()
	c := must.Get(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"}))(t)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func next(t *testing.T, c *net.UnixConn) map[string]string {
	t.Helper()
	b := make([]byte, 4096)
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	n := must.Get(c.Read(b))(t)
	got := map[string]string{}
	for line := range strings.Lines(string(b[:n])) {
		k, v, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if !ok || !regexp.MustCompile(`^[A-Z][A-Z_]*$`).MatchString(k) {
			t.Errorf("not a line of the journal: %q", line)
		}
		got[k] = v
	}
	return got
}

func at(t *testing.T) string {
	t.Helper()
	old := journalSocket
	t.Cleanup(func() { journalSocket = old })
	journalSocket = filepath.Join(t.TempDir(), "socket")
	return journalSocket
}

func TestJournal(t *testing.T) {
	path := at(t)
	if err := Check(); !errors.Is(err, ErrNoLog) {
		t.Errorf("without a journal: %v", err)
	}
	c := listen(t, path)
	must.Do(t, Check())
	for _, k := range []struct {
		r    Record
		want map[string]string
	}{
		{Lookup("found"), map[string]string{"MESSAGE_ID": "9f1c52a07be94d3fae6d10c8b3a47e51", "WIEBELT_EVENT_ID": "100", "WIEBELT_OUTCOME": "found", "PRIORITY": "6", "SYSLOG_IDENTIFIER": "wiebelt"}},
		{Lookup("credentials_refused"), map[string]string{"WIEBELT_OUTCOME": "credentials_refused"}},
		{Lookup("+31612345678"), map[string]string{"WIEBELT_OUTCOME": "other"}},
		{Lookup("J. de Vries"), map[string]string{"WIEBELT_OUTCOME": "other"}},
		{Lookup("found\nMESSAGE_ID=x"), map[string]string{"WIEBELT_OUTCOME": "other"}},
		{Expiry(12), map[string]string{"WIEBELT_EVENT_ID": "200", "WIEBELT_DAYS": "12", "PRIORITY": "4"}},
		{Expiry(-1), map[string]string{"WIEBELT_EVENT_ID": "201", "WIEBELT_DAYS": "-1"}},
		{UntrustedPolicy(), map[string]string{"WIEBELT_EVENT_ID": "300", "MESSAGE_ID": messageIDs[PolicyIgnored]}},
	} {
		must.Do(t, Write(k.r))
		got := next(t, c)
		for name, want := range k.want {
			if got[name] != want {
				t.Errorf("%s is %q, want %q", name, got[name], want)
			}
		}
		if got["MESSAGE"] == "" || strings.Contains(got["MESSAGE"], "612345678") || strings.Contains(got["MESSAGE"], "Vries") {
			t.Errorf("message %q", got["MESSAGE"])
		}
	}
	// The journal restarts.
	_ = c.Close()
	must.Do(t, os.Remove(path))
	if err := Write(Lookup("found")); err == nil {
		t.Error("written to nobody")
	}
	c = listen(t, path)
	must.Do(t, Write(Lookup("none")))
	if got := next(t, c); got["WIEBELT_OUTCOME"] != "none" {
		t.Errorf("%v", got)
	}
}

// TestJournalThatHangs checks that a journal that reads nothing does not block Write.
func TestJournalThatHangs(t *testing.T) {
	listen(t, at(t)) // and never read from it
	for range 10_000 {
		begin := time.Now()
		err := Write(Lookup("found"))
		if took := time.Since(begin); took > 3*writeTimeout {
			t.Fatalf("held up for %v", took)
		}
		if err != nil {
			return
		}
	}
	t.Error("the journal never filled up")
}

// TestDocumented checks that every kind has its own number and name, and that both are listed
// in the package documentation and in the guide for whoever monitors the system log.
func TestDocumented(t *testing.T) {
	doc, _, _ := strings.Cut(string(must.Get(os.ReadFile("eventlog.go"))(t)), "\npackage ")
	texts := map[string]string{"the documentation": doc, "nl": "", "en": ""}
	for _, l := range []string{"nl", "en"} {
		for _, f := range must.Get(fs.Glob(assets.Help, "guide/help/*."+l+".md"))(t) {
			texts[l] += string(must.Get(fs.ReadFile(assets.Help, f))(t))
		}
	}
	seen := map[string]bool{}
	for id, m := range messageIDs {
		if seen[m] || len(m) != 32 || id < 1 || id > 1000 {
			t.Errorf("%d: %s", id, m)
		}
		seen[m] = true
		for where, text := range texts {
			if !strings.Contains(text, m) || !strings.Contains(text, fmt.Sprint(uint32(id))) {
				t.Errorf("%s: event %d (%s) is not there", where, id, m)
			}
		}
	}
}

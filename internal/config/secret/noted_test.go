package secret

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

func TestDaysAreNoted(t *testing.T) {
	dirs := dirs(t)
	at := func(n int) Ref {
		return must.Get(HubRef(fmt.Sprintf("https://hub%d.example", n), "office"))(t)
	}
	if !StoredDate(dirs, at(0)).IsZero() {
		t.Error("a day out of nothing")
	}
	first := time.Date(2026, 3, 2, 15, 0, 0, 0, time.Local)
	for n := range maxStoredDates + 1 {
		must.Do(t, RecordStoredDate(dirs, at(n), first.AddDate(0, 0, n)))
	}
	if got := StoredDate(dirs, at(1)).Format(time.DateOnly); got != "2026-03-03" {
		t.Error(got)
	}
	if !StoredDate(dirs, at(0)).IsZero() {
		t.Error("the oldest one is still there")
	}
	b, err := os.ReadFile(storedDatesPath(dirs))
	if err != nil || strings.Contains(string(b), "hub1") || strings.Contains(string(b), "office") {
		t.Errorf("the file names what it should not: %v %.60s", err, b)
	}
	must.Do(t, os.WriteFile(storedDatesPath(dirs), []byte("null"), 0o600))
	if !StoredDate(dirs, at(1)).IsZero() {
		t.Error("a damaged file gives a day")
	}
	if err := RecordStoredDate(dirs, at(1), first); err != nil || StoredDate(dirs, at(1)).IsZero() {
		t.Error("a damaged file stays damaged", err)
	}
}

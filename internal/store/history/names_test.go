package history

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wiebelt/internal/core/phone"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

// TestNamesInPlaceOfNumbers checks that what a phone sent instead
// of a number counts as a name: with KeepNumbers no file contains
// it, neither for new calls nor for those stored with names before.
func TestNamesInPlaceOfNumbers(t *testing.T) {
	rules, err := phone.NewRules(phone.Config{InternalDigits: 4})
	must.Do(t, err)
	n := rules.Parse("sip:jan.kanarie@pbx.example", "")
	if n.Kind != phone.NoNumber || n.Key() == nameMark {
		t.Fatalf("%+v", n)
	}
	path := filepath.Join(t.TempDir(), "history.db")
	c := clocktest.New(monday)
	s := open(t, path, KeepFull, c)
	put := func() int64 {
		t.Helper()
		c.Forward(time.Minute)
		return must.Get(s.Put(t.Context(), Entry{Number: n.Key(), Shown: n.Display(), Rang: c.Now(), Result: ResultMissed}))(t)
	}
	put()
	put()
	if m := s.Missed(); m != 1 {
		t.Errorf("the same caller twice: %d missed", m)
	}
	must.Do(t, s.Configure(t.Context(), KeepNumbers, 7))
	put()
	put()
	if m := s.Missed(); m != 4 { // it is unknown whether they are from one caller
		t.Errorf("callers without a number: %d missed", m)
	}
	for id := int64(1); id <= 4; id++ {
		if e, err := s.Get(t.Context(), id); err != nil || e.Number != nameMark || e.Shown != "" || e.Fits("kanarie") {
			t.Errorf("%+v, %v", e, err)
		}
	}
	for _, p := range []string{path, path + "-wal"} {
		if b, err := os.ReadFile(p); err != nil || bytes.Contains(b, []byte("kanarie")) {
			t.Errorf("%s holds the name (%v)", filepath.Base(p), err)
		}
	}
}

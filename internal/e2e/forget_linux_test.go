package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/localhub"
	"wiebelt/internal/simulate"
	"wiebelt/internal/store/history"
)

// forgotten are callers who can be found again in any file.
const (
	forgotten = 500
	living    = 20 // of them call while Wiebelt runs
)

// canary gives a caller with everything about him that could stand in a file.
func canary(i int) (localhub.Record, []string) {
	number := fmt.Sprintf("+3169874%04d", i)
	k := contact.Contact{ID: fmt.Sprintf("kooi-%04d", i), RelationNumber: fmt.Sprintf("7711%04d", i), Initials: "K.", FamilyName: fmt.Sprintf("Kanarie%04dvogel", i),
		Address: contact.Address{Street: "Volièrelaan", Number: fmt.Sprint(i), City: "Ons Dorp"}}
	national := "0" + number[3:]
	shown := fmt.Sprintf("06 %s %s %s %s", national[2:4], national[4:6], national[6:8], national[8:])
	return localhub.Record{Numbers: []string{number}, Contact: k},
		[]string{number[1:], national, shown, k.ID, k.RelationNumber, k.FamilyName, strings.ToLower(k.FamilyName)}
}

// left counts the forgotten of which something stands in a file below dirs, and
// says in which.
func left(t *testing.T, dirs ...string) (n int, where map[string]int) {
	t.Helper()
	where = map[string]int{}
	found := map[int]bool{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // gone meanwhile, or a socket
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return nil
			}
			for i := range forgotten {
				_, traces := canary(i)
				for _, w := range traces {
					if bytes.Contains(b, []byte(w)) {
						found[i] = true
						where[filepath.Base(path)]++
						break
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return len(found), where
}

// TestNothingIsLeft: of five hundred callers nothing is in any file once all was
// deleted – history, its log and free pages, remembered choices, logs, temporary
// and runtime files – with Wiebelt running, and after it has ended.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[log]\nlevel = \"debug\"")
	store, err := history.Open(filepath.Join(o.profile, "history.db"), history.KeepFull, 7, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for i := range forgotten - living {
		r, traces := canary(i)
		k := r.Contact
		if _, err := store.Put(t.Context(), history.Entry{Rang: time.Now().Add(-time.Duration(i+1) * time.Minute), Kind: "baresip", Number: r.Numbers[0], Shown: traces[2],
			Name: k.Name(), ContactID: k.ID, RelationNumber: k.RelationNumber, Link: o.hub.HubURL() + "/contacts/viewcontact/" + k.ID, Matches: 1,
			Outcome: history.OutcomeFound, Result: history.ResultMissed}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	o.start("env", "TMPDIR="+tmp)
	p := dial(o)
	for i := forgotten - living; i < forgotten; i++ {
		r, _ := canary(i)
		if _, err := o.hub.AddInvented(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		c := simulate.Call{ID: fmt.Sprint(i), Number: r.Numbers[0]}
		if err := p.Ring(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		o.Until("the call with its name", func() bool {
			all := callsOf(t, o)
			return len(all) > 0 && all[0].ContactID == r.Contact.ID
		})
		if err := p.End(t.Context(), c, "missed"); err != nil {
			t.Fatal(err)
		}
	}
	o.Until("all are over", func() bool {
		all := callsOf(t, o)
		return len(all) == forgotten && all[0].Result == history.ResultMissed
	})
	dirs := []string{o.profile, o.Dir, tmp}
	n, where := left(t, dirs...)
	t.Logf("before: something of %d of %d, in %v", n, forgotten, where)
	if n != forgotten {
		t.Fatalf("only %d can be found at all", n)
	}
	if out, err := o.wiebelt("forget", "--all").CombinedOutput(); err != nil {
		t.Fatalf("forget: %v: %s", err, out)
	}
	n, where = left(t, dirs...)
	t.Logf("after: something of %d, in %v", n, where)
	if n != 0 {
		t.Errorf("something of %d is left while it runs: %v", n, where)
	}
	if err := o.resident.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	o.ended("the resident")
	if n, where = left(t, dirs...); n != 0 {
		t.Errorf("something of %d is left at the end: %v", n, where)
	}
	if s := o.log.String(); strings.Contains(s, "Kanarie") || strings.Contains(s, "9874") {
		t.Error("a caller stands in the log")
	}
}

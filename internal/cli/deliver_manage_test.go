package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/localhub"
	"wiebelt/internal/store/sqlitefile"
	"wiebelt/internal/testutil/must"
)

// TestDeliverListOfMany counts what does not fit the list and retries it with the rest.
func TestDeliverListOfMany(t *testing.T) {
	s := newSender(t)
	s.exits(6, "--no-wait", s.file("a.zip"))
	const more = 3 // rows beyond the limit: one row stands for them
	db, err := sqlitefile.Open(filepath.Join(s.profile, "outbox", outbox.DatabaseName), "")
	if err == nil {
		_, err = db.Exec(fmt.Sprintf("CREATE TEMP TABLE one AS SELECT * FROM items; CREATE TEMP TRIGGER each AFTER UPDATE ON one BEGIN INSERT INTO items SELECT * FROM one; END;"+
			" CREATE TEMP TABLE n AS WITH RECURSIVE c(x) AS (VALUES(2) UNION ALL SELECT x+1 FROM c WHERE x < %d) SELECT x FROM c;"+
			" CREATE TEMP TRIGGER next AFTER DELETE ON n BEGIN UPDATE one SET id = printf('%%036d', OLD.x); END; DELETE FROM n", outbox.MaxItems+more))
		err = errors.Join(err, db.Close())
	}
	must.Do(t, err)
	var x struct {
		More  int
		Items []struct{ ID string }
	}
	if s.exits(0, "list", "--json").json(&x); x.More != more || len(x.Items) != outbox.MaxItems {
		t.Errorf("%d items, %d more", len(x.Items), x.More)
	}
	for args, want := range map[string]int{"list": outbox.MaxItems, "retry --all": outbox.MaxItems + more} {
		code, out, errOut := run(t, "", append(strings.Fields("deliver "+args), "--profile", s.profile)...)
		if lines := strings.Count(out, "\n"); lines != want || (code == 0) != strings.Contains(errOut, "3 oudere berichten") {
			t.Errorf("%s: exit %d, %d lines, %s", args, code, lines, errOut)
		}
	}
}

// TestDeliverCommands tests list, receipt, retry, resolve and forget.
func TestDeliverCommands(t *testing.T) {
	s := newSender(t)
	s.broken(localhub.Fault{Drop: true, Times: 1})
	maybe := s.file("misschien.zip")
	s.exits(6, maybe)
	s.broken(localhub.Fault{Status: 422, Times: 1})
	refused := s.file("geweigerd.zip")
	s.exits(5, refused)
	out := s.exits(0, "list").says("mogelijk aangeleverd", "geweigerd", "antwoordcode 422").out
	lines := strings.Split(strings.TrimSpace(out), "\n") // undecided ones first
	if len(lines) != 2 || !strings.Contains(lines[0], "misschien.zip") || !strings.Contains(lines[1], "geweigerd.zip") {
		t.Fatalf("%s", out)
	}
	perhaps, no := strings.Fields(lines[0])[0], strings.Fields(lines[1])[0]
	var x struct {
		ID, SHA256, Outcome string
		Receipts            []struct {
			Status int
			Class  string
			Body   string
			SHA256 string
		}
	}
	s.exits(0, "receipt", "--json", no).json(&x)
	if len(x.Receipts) != 1 || x.Receipts[0].Status != 422 || x.Receipts[0].Class != "permanent" ||
		!strings.Contains(x.Receipts[0].Body, "broken on purpose") || x.Receipts[0].SHA256 != x.SHA256 || x.Outcome != "refused" {
		t.Errorf("%+v", x)
	}
	s.exits(0, "receipt", perhaps).says("mogelijk aangeleverd", "misschien.zip")
	for _, c := range []struct {
		code int
		args []string
	}{
		{1, []string{"retry", perhaps}},
		{3, []string{"retry", "nobody"}},
		{3, []string{"receipt", "nobody"}},
		{3, []string{"forget", "nobody"}},
		{3, []string{"resolve", "nobody", "--delivered", "--note", "x"}},
		{2, []string{"forget"}},
		{2, []string{"resolve", perhaps, "--delivered"}},
		{2, []string{"resolve", perhaps, "--note", "x"}},
		{2, []string{"resolve", perhaps, "--delivered", "--again", "--note", "x"}},
		{1, []string{"resolve", no, "--delivered", "--note", "x"}},
		{1, []string{"forget", perhaps}},
		{0, []string{"resolve", perhaps, "--delivered", "--note", "gebeld"}},
		{6, []string{"retry", no}}, // no one is delivering
		{1, []string{"forget", no}},
	} {
		if got := s.exits(c.code, c.args...); c.code != 0 && got.err == "" {
			t.Errorf("%v: nothing is said", c.args)
		}
	}
	s.exits(0, refused) // delivers the one that waits
	if all := s.exits(0, "list", "--all").out; strings.Count(all, "\n") != 2 {
		t.Errorf("%s", all)
	}
	for _, c := range []struct{ args, out string }{{"list", ""}, {"forget " + perhaps, "1\n"}, {"forget --delivered", "1\n"},
		{"retry --all", ""}, {"list --all", ""}} {
		if got := s.exits(0, strings.Fields(c.args)...); got.out != c.out {
			t.Errorf("%s: %s", c.args, got.out)
		}
	}
	// Forgotten items are still known.
	before := s.hub.Stats().Messages
	s.exits(0, refused, maybe).says("0 aangeleverd", "2 al eerder aangeleverd\n")
	s.arrived(before)
}

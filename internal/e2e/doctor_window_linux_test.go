package e2e

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
)

// TestDoctorForAWindow: the resident looks at everything for a window, tells of
// each check as it ends, shows a bundle piece by piece, and writes exactly what it
// has shown, once, where nothing lies.
func TestDoctorForAWindow(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "[support]\ncontact = \"Jan (IT), toestel 140\"")
	c := asDesk(t, o)
	send := func(kind string, m any) {
		t.Helper()
		if err := c.Send(kind, m); err != nil {
			t.Fatal(err)
		}
	}
	send(deskapi.KindDoctorBundle, nil)
	if _, m := nextOf[deskapi.DoctorHolds](t, c, deskapi.KindDoctorHolds); m.Error == "" {
		t.Error("a bundle before anything was looked at")
	}
	began := time.Now()
	send(deskapi.KindDoctorRun, deskapi.DoctorRun{Seq: 7})
	found := map[string]deskapi.DoctorFound{}
	var first, last time.Duration
	for {
		kind, m := nextOf[deskapi.DoctorFound](t, c, deskapi.KindDoctorFound, deskapi.KindDoctorDone)
		if last = time.Since(began); first == 0 {
			first = last
		}
		if m.Seq != 7 {
			t.Errorf("%+v", m)
		}
		if kind == deskapi.KindDoctorDone {
			break
		}
		found[m.ID] = m
	}
	t.Logf("%d checks, the first after %v, the last after %v", len(found), first.Round(time.Millisecond), last.Round(time.Millisecond))
	if len(found) != len(text.DoctorChecks) || found["hub.token"].Lines[0].State != "ok" || found["resident"].Lines[0].State != "ok" {
		t.Errorf("%+v", found)
	}
	for id, m := range found {
		for _, l := range m.Lines {
			if strings.HasPrefix(l.Hint, "Beheerder") || (l.Whom != "" && l.Whom != "Beheerder (Jan (IT), toestel 140)" && !strings.HasPrefix(l.Whom, "Beheerder van")) {
				t.Errorf("%s: %+v", id, l)
			}
		}
	}

	send(deskapi.KindDoctorBundle, nil)
	_, holds := nextOf[deskapi.DoctorHolds](t, c, deskapi.KindDoctorHolds)
	if holds.Error != "" || len(holds.Files) < 3 || !filepath.IsAbs(holds.Path) {
		t.Fatalf("%+v", holds)
	}
	shown := map[string]string{}
	for i, f := range holds.Files {
		for from := 0; ; {
			send(deskapi.KindDoctorPeek, deskapi.DoctorPeek{File: i, From: from})
			_, p := nextOf[deskapi.DoctorPiece](t, c, deskapi.KindDoctorPiece)
			shown[f.Name] += p.Text
			if from = p.Next; from == 0 {
				break
			}
		}
		if len(shown[f.Name]) != f.Size {
			t.Errorf("%s: %d of %d bytes are shown", f.Name, len(shown[f.Name]), f.Size)
		}
	}
	for _, peek := range []deskapi.DoctorPeek{{File: -1}, {File: 99}, {File: 0, From: -1}, {File: 0, From: 1 << 40}} {
		send(deskapi.KindDoctorPeek, peek)
		if _, p := nextOf[deskapi.DoctorPiece](t, c, deskapi.KindDoctorPiece); p.Text != "" || p.Next != 0 {
			t.Errorf("%+v: %+v", peek, p)
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "help.zip")
	write := func(path string) string {
		t.Helper()
		send(deskapi.KindDoctorWrite, deskapi.DoctorWrite{Path: path})
		_, m := nextOf[deskapi.DoctorWritten](t, c, deskapi.KindDoctorWritten)
		return m.Error
	}
	if err := os.WriteFile(filepath.Join(dir, "there.zip"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, filepath.Join(dir, "link.zip")); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "help.zip", filepath.Join(dir, "there.zip"), filepath.Join(dir, "link.zip"), filepath.Join(dir, "help.sh"), filepath.Join(dir, "none", "help.zip"), "/" + strings.Repeat("x", 5000) + ".zip"} {
		if write(bad) == "" {
			t.Errorf("%.60q was written", bad)
		}
	}
	if e := write(path); e != "" {
		t.Fatal(e)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "there.zip")); string(b) != "mine" {
		t.Error("something was overwritten")
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		_ = r.Close()
		if err != nil || string(b) != shown[f.Name] {
			t.Errorf("%s is not what was shown: %v", f.Name, err)
		}
	}
	if len(z.File) != len(holds.Files) {
		t.Errorf("%d files", len(z.File))
	}
	if write(filepath.Join(dir, "again.zip")) == "" {
		t.Error("written twice")
	}
}

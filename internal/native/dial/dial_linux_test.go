package dial

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAddress(t *testing.T) {
	for _, tt := range []struct{ scheme, number, want string }{
		{"tel", "+31612345678", "tel:+31612345678"}, {"sip", "0612345678", "sip:0612345678"}, {"tel", "101", "tel:101"},
		{"tel", "", ""}, {"tel", "+", ""}, {"tel", "06 12", ""}, {"tel", "0612;ext=1", ""}, {"tel", "0612@evil", ""}, {"tel", "06%2012", ""},
		{"tel", "*21*0612345678#", ""}, {"tel", "0612\n", ""}, {"tel", "++31", ""}, {"tel", "٠٦١٢", ""}, {"tel", strings.Repeat("1", 41), ""},
		{"http", "0612345678", ""}, {"", "0612345678", ""},
	} {
		got, err := addressOf(tt.scheme, tt.number)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q %q: %q, %v", tt.scheme, tt.number, got, err)
		}
	}
}

func program(t *testing.T, name, more string) (dir string, args func() []string) {
	t.Helper()
	dir = t.TempDir()
	notes := filepath.Join(dir, "notes")
	script := "#!/bin/sh\nfor a in \"$@\"; do printf '%s\\n' \"$a\" >> " + notes + "; done\n" + more + "\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir, func() []string {
		b, _ := os.ReadFile(notes)
		return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	}
}

// TestRun checks that the number is passed as one argument and that
// no shell interprets any part of a command.
func TestRun(t *testing.T) {
	dir, args := program(t, "phone", "")
	command := []string{filepath.Join(dir, "phone"), "$(touch", "x)", "a; b", "to={number}"}
	must.Do(t, Run(t.Context(), command, "+31612345678"), Run(t.Context(), command, "101")) // another number each time
	want := []string{"$(touch", "x)", "a; b", "to=+31612345678", "$(touch", "x)", "a; b", "to=101"}
	if got := args(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if err := Run(t.Context(), []string{"phone", "{number}"}, "0612; reboot"); !errors.Is(err, errNumber) {
		t.Errorf("%v", err)
	}
	for _, c := range []string{"/no/such/program", "false"} {
		if err := Run(t.Context(), []string{c, "{number}"}, "0612345678"); err == nil || strings.Contains(err.Error(), "0612") || strings.Contains(err.Error(), "such") {
			t.Errorf("%s: %v", c, err)
		}
	}
}

func TestOpen(t *testing.T) {
	_, args := program(t, "xdg-open", "")
	must.Do(t, Open(t.Context(), "tel", "+31612345678"))
	if err := Open(t.Context(), "tel", "0612; reboot"); !errors.Is(err, errNumber) {
		t.Errorf("%v", err)
	}
	if got := args(); !slices.Equal(got, []string{"tel:+31612345678"}) {
		t.Errorf("%q", got)
	}
}

func TestOwners(t *testing.T) {
	for says, want := range map[string]bool{"echo linphone.desktop": true, "echo wiebelt-link.desktop": false, "true": false, "exit 4": false,
		"echo linphone.desktop; exit 4": false} {
		_, args := program(t, "xdg-mime", says)
		var o Owners
		if got := o.HasOther(t.Context(), "tel"); got != want {
			t.Errorf("%q: %v, want %v", says, got, want)
		}
		if got := args(); !slices.Equal(got, []string{"query", "default", "x-scheme-handler/tel"}) {
			t.Errorf("asked %q", got)
		}
		if o.HasOther(t.Context(), "tel") != want || len(args()) != 3 {
			t.Error("asked again within a minute")
		}
	}
}

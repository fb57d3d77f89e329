package doctor

import (
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

// crashes are the roles of processes that crash.
var crashes = processtest.Roles{
	"value": func(must.Test, []string) { panic("looked up J. Kanarie at 020 123 4567") },
	"index": func(_ must.Test, args []string) { panic(args[len(args)]) },
}

// TestCrashReports checks that real crash reports keep where the
// crash happened and lose the value the program panicked with.
func TestCrashReports(t *testing.T) {
	known := newRedactor(t.Context(), configured(t, ""))
	for kind, want := range map[string]string{"value": "panic: [text]", "index": "panic: "} {
		cmd := processtest.Command(t.Context(), kind)
		cmd.Env = append(cmd.Env, "GOTRACEBACK=all")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "goroutine 1") {
			t.Fatalf("no crash: %v: %s", err, out)
		}
		got := known.cleanCrash(string(out))
		if strings.Contains(got, "Kanarie") || strings.Contains(got, "4567") || !strings.HasPrefix(got, want) ||
			!strings.Contains(got, "goroutine 1 [running") || !strings.Contains(got, "redact_test.go:") {
			t.Errorf("%s:\n%s\nof\n%s", kind, got, out)
		}
		if lost := strings.Count(got, "[text]\n"); lost > 3 {
			t.Errorf("%d lines lost:\n%s\nof\n%s", lost, got, out)
		}
	}
	for line, kept := range map[string]bool{
		"panic: runtime error: index out of range [5] with length 3":              true,
		"panic: runtime error: invalid memory address or nil pointer dereference": true,
		"[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x1234]":    true,
		"fatal error: all goroutines are asleep - deadlock!":                      true,
		"main.(*T).do(0xc000012345, {0xc0000, 0x5})":                              true,
		"created by wiebelt/internal/resident.(*Resident).run in goroutine 1":     true,
		"fatal error: J. Kanarie":                                                 false,
		"J. Kanarie":                                                              false,
		"main.do(\"Kanarie\")":                                                    false,
		"panic: runtime error: Kanarie":                                           false,
		"goroutine 7 [running]: 0612345678":                                       false,
		"\t/src/a.go:12 +0x1d 0612345678":                                         false,
	} {
		if got := strings.TrimSpace(known.cleanCrash(line)); (got == strings.TrimSpace(line)) != kept {
			t.Errorf("%q became %q", line, got)
		}
	}
}

// TestMasked checks that masked phone line numbers are recognizable to their owner only.
func TestMasked(t *testing.T) {
	for in, want := range map[string]string{"020 123 45 67": "••••••••67", "+31201234567": "•••••••••67", "101": "set", "": "set"} {
		if got := maskNumber(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestBundleTells: a bundle keeps versions and commits, which look like numbers, but of an address only where it leads.
func TestBundleTells(t *testing.T) {
	cfg := configured(t, setUp+"[[softphone]]\nkind = \"ari\"\nextension = \"101\"\nuser = \"w\"\naddress = \"https://pbx.example:8089/ari?key=Geheim9\"\n[[line]]\nnumber = \"020 123 45 67\"\n")
	cfg.Version, cfg.Commit = "1.20.31234567", "0612345678f7298"
	all := must.Get(Collect(t.Context(), cfg, Report{}))(t)
	for want, name := range map[string]string{"wiebelt: 1.20.31234567 0612345678f7298\n": "environment.txt", "https://hub.example": "settings.txt",
		"line[1].number\t••••••••67\t": "settings.txt"} {
		for _, e := range all {
			if e.Name == name && !strings.Contains(string(e.Data), want) {
				t.Errorf("%s lacks %q: %s", name, want, e.Data)
			}
			if strings.Contains(string(e.Data), "Geheim9") || strings.Contains(string(e.Data), "piet") {
				t.Errorf("%s: %s", e.Name, e.Data)
			}
		}
	}
}

package twinkle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"wiebelt/internal/softphone/twinkle"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/phonetest"
)

// TestRealTwinkle checks what the real Twinkle passes to a program, with its arguments, call
// by call.
func TestRealTwinkle(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	// Each run writes its own file, atomically.
	lines := "#!/bin/sh\nf=$(mktemp " + dir + "/run.XXXXXXXX.part)\nARGUMENTS=\"$*\" env -0 >$f\nmv $f ${f%.part}\n"
	must.Do(t, os.WriteFile(script, []byte(lines), 0o700))
	watch := must.Get(fsnotify.NewWatcher())(t)
	defer watch.Close()
	must.Do(t, watch.Add(dir))
	const arguments = "ring --twinkle --profile /tmp/profile"
	phone := phonetest.StartTwinkle(t, script+" "+arguments)
	for _, c := range []struct {
		name     string
		scenario phonetest.Scenario
		want     []string
	}{
		{"given up", phonetest.Scenario{Number: "+31612345678", Name: `Zoë "de" d'Évora`, Ring: 200 * time.Millisecond},
			[]string{`ended sip:+31612345678@127.0.0.1:5060 Zoë "de" d'Évora `, `ringing sip:+31612345678@127.0.0.1:5060 Zoë "de" d'Évora `}},
		{"a tel: address", phonetest.Scenario{From: "<tel:+31-6-1234-5678;ext=12>", Ring: 200 * time.Millisecond},
			[]string{"ended tel:+31-6-1234-5678;ext=12  ", "ringing tel:+31-6-1234-5678;ext=12  "}},
		{"withheld", phonetest.Scenario{Number: "0612345678", Withheld: true, Ring: 200 * time.Millisecond},
			[]string{"ended sip:anonymous@anonymous.invalid Anonymous ", "ringing sip:anonymous@anonymous.invalid Anonymous "}},
		{"refused", phonetest.Scenario{Number: "0201234567", Reject: true},
			[]string{"ended sip:0201234567@127.0.0.1:5060  rejected", "ringing sip:0201234567@127.0.0.1:5060  "}},
		{"answered", phonetest.Scenario{Number: "0201234567", Answer: true, Talk: 200 * time.Millisecond},
			[]string{"answered sip:0201234567@127.0.0.1:5060  ", "ended   completed", "ringing sip:0201234567@127.0.0.1:5060  "}},
	} {
		phone.Call(t, c.scenario)
		var got, ids []string
		for _, run := range runs(t, watch, len(c.want)) {
			e, ok, err := twinkle.Read(run)
			if err != nil || !ok || run("ARGUMENTS") != arguments {
				t.Errorf("%s: %v %v, with %q", c.name, ok, err, run("ARGUMENTS"))
			}
			got = append(got, fmt.Sprintf("%v %s %s %v", e.State, e.Number, e.Name, e.Reason))
			ids = append(ids, e.ID)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if slices.Sort(ids); ids[0] == "" || ids[0] != ids[len(ids)-1] {
			t.Errorf("%s: ids %q", c.name, ids)
		}
	}
}

// runs waits for n runs of the script, and removes their files.
func runs(t *testing.T, watch *fsnotify.Watcher, n int) (all []func(string) string) {
	t.Helper()
	limit := time.After(must.Patience)
	for len(all) < n {
		select {
		case e := <-watch.Events:
			if !e.Has(fsnotify.Create) || strings.HasSuffix(e.Name, ".part") {
				continue
			}
			b := must.Get(os.ReadFile(e.Name))(t)
			vars := map[string]string{}
			for _, v := range strings.Split(string(b), "\x00") {
				k, v, _ := strings.Cut(v, "=")
				vars[k] = v
			}
			all = append(all, func(k string) string { return vars[k] })
		case err := <-watch.Errors:
			t.Fatal(err)
		case <-limit:
			t.Fatalf("%d runs, want %d", len(all), n)
		}
	}
	return all
}

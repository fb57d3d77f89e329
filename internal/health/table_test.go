package health

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

var update = flag.Bool("update", false, "write the table of sentences anew, to be read before it is kept")

var stateNames = map[State]string{Ready: "ready", Doubt: "doubt", HubGone: "hub gone", LinkLost: "link lost",
	CredentialsRefused: "refused", NotSetUp: "not set up", Paused: "paused"}

var phaseNames = map[Phase]string{Unwatched: "no heartbeat", Up: "up", Down: "down", Kicked: "kicked", Refused: "refused", Incomplete: "incomplete"}

// admins are the failures that need action by someone else, whom staff can only inform.
var admins = []contact.Failure{contact.SecretNotForUser, contact.NotSetUp, contact.NameNotResolved, contact.ProxyLogin, contact.ProxyFailed, contact.TLSFailed,
	contact.CertificateUnknown, contact.CertificateExpired, contact.CertificateMismatch, contact.CredentialsRefused, contact.ScopeRefused, contact.NotUnderstood}

// TestTable writes the state machine as a table, kept in testdata: whoever changes a sentence sees where it is used.
func TestTable(t *testing.T) {
	const support = "Jan (IT), toestel 140"
	failures := []contact.Failure{""}
	for _, m := range regexp.MustCompile(` Failure = "(\w+)"`).FindAllSubmatch(must.Get(os.ReadFile("../core/contact/failure.go"))(t), -1) {
		failures = append(failures, contact.Failure(m[1]))
	}
	for _, l := range []text.Language{text.Dutch, text.English} {
		var b bytes.Buffer
		for _, failure := range failures {
			fmt.Fprintf(&b, "# hub: %s\n", cmp.Or(string(failure), "answers"))
			for phase := Unwatched; phase <= Incomplete; phase++ {
				for _, last := range []*Call{nil, {At: at(13, 59), Kind: "command"}} {
					f := failed(failure, at(10, 5))
					f.LastCall = last
					kind := "baresip"
					if phase == Unwatched {
						kind = "command"
					}
					f.Sources = []Source{{Kind: kind, Phase: phase}}
					r := Assess(f, l, support, now)
					proof := "no call yet"
					if last != nil {
						proof = "call at 13:59"
					}
					line := fmt.Sprintf("%-12s | %-13s | %-10s | %s", phaseNames[phase], proof, stateNames[r.State], r.Sentence)
					fmt.Fprintln(&b, line)
					told := phase == Refused || phase == Incomplete
					if r.State != LinkLost {
						told = slices.Contains(admins, failure)
					}
					if strings.HasSuffix(r.Sentence, support+".") != told {
						t.Errorf("%s %q: who helps is named: %v, wanted: %v; %s", l, failure, !told, told, line)
					}
					if strings.ContainsAny(r.Sentence, "%") || strings.Contains(r.Sentence, "status.") || strings.Contains(r.Sentence, "failure.") ||
						strings.Contains(r.Sentence, "  ") || strings.Contains(r.Sentence, "..") || !strings.HasSuffix(r.Sentence, ".") {
						t.Errorf("%s: not a whole sentence: %s", l, line)
					}
					if phase != Up && (strings.Contains(r.Sentence, "verbonden") || strings.Contains(r.Sentence, "connected")) {
						t.Errorf("%s: called connected: %s", l, line)
					}
				}
			}
		}
		t.Logf("%s:\n%s", l, &b)
		path := filepath.Join("testdata", "sentences-"+string(l)+".txt")
		if *update {
			must.Do(t, os.WriteFile(path, b.Bytes(), 0o600))
		}
		want := must.Get(os.ReadFile(path))(t)
		if !bytes.Equal(want, b.Bytes()) {
			t.Errorf("%s: the sentences are others than in %s; read them, then run this test with -update", l, path)
		}
	}
}

// TestSourcesAreNamed checks that every kind of phone has a name.
func TestSourcesAreNamed(t *testing.T) {
	for _, kind := range registry.Names() {
		for _, l := range []text.Language{text.Dutch, text.English} {
			if got := sourceName(Source{Kind: kind}, l); got == string(text.Source(kind)) {
				t.Errorf("%s: %q", l, got)
			}
		}
	}
}

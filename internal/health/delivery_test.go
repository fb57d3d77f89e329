package health

import (
	"strings"
	"testing"
	"time"

	"wiebelt/internal/text"
)

// TestDeliveries checks that required action on deliveries follows the sentence about
// calls, and that the worse of the two determines the icon.
func TestDeliveries(t *testing.T) {
	now := time.Date(2026, 9, 14, 10, 0, 0, 0, time.Local)
	for _, c := range []struct {
		name string
		d    Delivery
		set  bool
		want State
		nl   []string
		en   []string
	}{
		{"nothing", Delivery{}, true, Ready, nil, nil},
		{"refused credentials", Delivery{HoldReason: "credentials"}, true, CredentialsRefused,
			[]string{"Aanleveren staat stil: de hub weigert de koppeling. Meld dit bij Jan."}, []string{"Delivering is on hold: the hub refuses the credentials. Please tell Jan."}},
		{"scope", Delivery{HoldReason: "forbidden"}, true, CredentialsRefused, []string{"mag niet aanleveren"}, []string{"may not deliver"}},
		{"certificate", Delivery{HoldReason: "certificate"}, true, HubGone, []string{"het certificaat van de hub klopt niet"}, []string{"certificate is not right"}},
		{"one maybe", Delivery{Uncertain: 1}, true, Doubt, []string{"1 bericht is mogelijk aangeleverd"}, []string{"1 message is maybe delivered"}},
		{"both", Delivery{HoldReason: "redirect", Uncertain: 3}, true, HubGone, []string{"staat stil", "3 berichten zijn"}, []string{"on hold", "3 messages are"}},
		{"disk", Delivery{Trouble: "disk_full", HoldReason: "credentials"}, true, Doubt, []string{"Aanleveren gaat nu niet: de schijf is vol. Er gaat niets verloren."}, []string{"the disk is full"}},
		{"folder gone", Delivery{Trouble: "spool_gone"}, true, Doubt, []string{"is verdwenen. Zet hem terug"}, []string{"is gone. Put it back"}},
		{"folder removed", Delivery{Lost: 2}, true, Doubt, []string{"met 2 bestanden die nog niet zeker waren aangeleverd. Lever ze opnieuw aan."}, []string{"with 2 files"}},
		{"not set up", Delivery{Uncertain: 1}, false, NotSetUp, []string{"1 bericht"}, []string{"1 message"}},
	} {
		for l, want := range map[text.Language][]string{text.Dutch: c.nl, text.English: c.en} {
			without := Assess(Facts{SetUp: c.set}, l, "Jan", now)
			got := Assess(Facts{SetUp: c.set, Delivery: c.d}, l, "Jan", now)
			if got.State != c.want || !strings.HasPrefix(got.Sentence, without.Sentence) {
				t.Errorf("%s: %d %s", c.name, got.State, got.Sentence)
			}
			for _, w := range want {
				if !strings.Contains(got.Sentence, w) {
					t.Errorf("%s: no %q in %s", c.name, w, got.Sentence)
				}
			}
		}
	}
}

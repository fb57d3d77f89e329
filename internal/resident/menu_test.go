package resident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/health"
	"wiebelt/internal/native/tray"
)

func titles(items []tray.Item) (all []string) {
	for _, i := range items {
		if i.Separator {
			all = append(all, "-")
			continue
		}
		all = append(all, i.Title)
	}
	return all
}

// TestMenuHasWhatIsSetUp checks that the menu has what is set up and nothing else.
func TestMenuHasWhatIsSetUp(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		name     string
		change   func(d *desktop)
		state    health.State
		has, not []string
		broken   []health.Registration
	}{
		{name: "all of it", has: []string{"Klaar.", "Nog geen oproepen", "Oproepen…", "Nummer opzoeken…", "Hub openen", "1 uur pauzeren", "Pauzeren tot morgen", "Telefoon koppelen", "Help…", "Wiebelt afsluiten"},
			not: []string{"Doorgaan", "Demo…", "Berichten aanleveren…"}},
		{name: "no search box", change: func(d *desktop) { d.set.Lookup.Manual = false }, has: []string{"Oproepen…"}, not: []string{"Nummer opzoeken…"}},
		{name: "no hub", change: func(d *desktop) { d.set.Hub.HubURL = "" }, not: []string{"Hub openen"}},
		{name: "deliveries", change: func(d *desktop) { d.set.Hub.Intermediary = "1" }, has: []string{"Berichten aanleveren…"}},
		{name: "paused", state: health.Paused, has: []string{"Doorgaan"}, not: []string{"1 uur pauzeren", "Pauzeren tot morgen"}},
		{name: "the demo", change: func(d *desktop) { d.o.Demo = &Demo{} }, has: []string{"Demo…", "Oproepen…"}, not: []string{"Hub openen", "1 uur pauzeren", "Telefoon koppelen", "Instellingen…"}},
		{name: "a missed call", change: func(d *desktop) { d.put(missedCall()) }, has: []string{"Oproepen… (1 gemist)"}, not: []string{"Oproepen…"}},
		{name: "lost links", broken: []health.Registration{health.Scheme}, has: []string{"Herstellen: links (wiebelt:)"}, not: []string{"Herstellen: starten bij het aanmelden"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesktop(t)
			d.set.Hub.HubURL = d.asked.HubURL()
			if tt.change != nil {
				tt.change(d)
			}
			items := d.menu(health.Report{State: tt.state, Sentence: "Klaar.", Repairable: tt.broken}, nil, now)
			all := titles(items)
			for _, s := range tt.has {
				if !slices.Contains(all, s) {
					t.Errorf("%q is not there: %q", s, all)
				}
			}
			for _, s := range tt.not {
				if slices.Contains(all, s) {
					t.Errorf("%q is there: %q", s, all)
				}
			}
			seen := map[string]bool{}
			for i, it := range items {
				if it.Separator && (i == 0 || i == len(items)-1 || items[i-1].Separator) {
					t.Errorf("nothing is divided at %d: %q", i, all)
				}
				if !it.Separator && (it.ID == "" || seen[it.ID] || it.Title == "") {
					t.Errorf("line %d: %+v", i, it)
				}
				seen[it.ID] = true
			}
			if items[len(items)-1].ID != menuQuit || !items[0].Disabled {
				t.Errorf("begins or ends otherwise: %q", all)
			}
		})
	}
}

// TestMenuLastCalls checks that the menu lists the last five calls by time and
// number, never by name, that those from before the start come last, and that those
// from another week have their date.
func TestMenuLastCalls(t *testing.T) {
	d := newDesktop(t)
	now := time.Date(2026, 11, 20, 14, 30, 0, 0, time.Local) // a Friday
	rules := d.rules(d.set)
	var all []engine.LastCall
	for i, number := range []string{"0698760007", "{number}", "sip:jan.devries@pbx.example", "", "0698760003", "0698760002", "0698760001"} {
		at := now.Add(time.Duration(-i-1) * 5 * time.Hour)
		if i > 3 {
			at = now.AddDate(0, 0, -7*i)
		}
		all = append(all, engine.LastCall{At: at, Number: rules.Parse(number, "J. de Vries"), Kind: "bria"})
	}
	d.facts.change(func(k *knownState) { k.calls = all[2:] })
	items := d.menu(health.Report{Sentence: "Klaar."}, d.facts.lastCalls(&engine.Snapshot{RecentCalls: all[:2]}), now)
	var calls []string
	for _, i := range items {
		if strings.HasPrefix(i.ID, menuCall) {
			calls = append(calls, i.Title)
		}
	}
	want := []string{"09:30 · 06 98 76 00 07", "04:30 · geen nummer", "donderdag 23:30 · geen nummer", "donderdag 18:30 · anoniem", "vr 23 okt 14:30 · 06 98 76 00 03"}
	if !slices.Equal(calls, want) {
		t.Errorf("%q, want %q", calls, want)
	}
}

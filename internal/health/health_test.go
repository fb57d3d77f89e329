package health

import (
	"slices"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/text"
)

// now is a Friday afternoon.
var now = time.Date(2026, 11, 20, 14, 30, 0, 0, time.Local)

func at(hour, minute int) time.Time {
	return time.Date(2026, 11, 20, hour, minute, 0, 0, time.Local)
}

func failed(f contact.Failure, when time.Time) Facts {
	facts := Facts{SetUp: true, StartedAt: at(8, 0)}
	facts.Lookup.Failure, facts.Lookup.At = f, when
	return facts
}

func with(f Facts, change func(*Facts)) Facts {
	change(&f)
	return f
}

// TestSentences checks the sentences word for word as an office reads them.
func TestSentences(t *testing.T) {
	fine := Facts{SetUp: true, StartedAt: at(8, 0)}
	last := &Call{At: at(9, 42), Kind: "3cx"}
	for _, tt := range []struct {
		name   string
		f      Facts
		state  State
		nl, en string
	}{
		{"a proof of yesterday is none of today", with(fine, func(f *Facts) { f.LastCall = &Call{At: at(9, 42).AddDate(0, 0, -1), Kind: "3cx"} }), Ready,
			"Vandaag nog geen oproep ontvangen. Bel uzelf om te testen.", "No call received yet today. Call yourself to test."},
		{"a heartbeat, no call yet", with(fine, func(f *Facts) {
			f.Sources = []Source{{Kind: "websocket"}, {Kind: "relay"}, {Kind: "bria", Phase: Up}, {Kind: "3cx", Name: "de 3CX van kantoor", Phase: Up}}
		}), Ready,
			"Klaar, verbonden met Bria, de 3CX van kantoor. Vandaag nog geen oproep ontvangen.", "Ready, connected to Bria, de 3CX van kantoor. No call received yet today."},
		{"not set up", Facts{}, NotSetUp,
			"Wiebelt is nog niet ingesteld. Meld dit bij Jan (IT), toestel 140.", "Wiebelt is not set up yet. Please tell Jan (IT), toestel 140."},
		{"no secret", with(fine, func(f *Facts) { f.SecretMissing = true }), NotSetUp,
			"Het geheim van de koppeling ontbreekt of is niet te lezen. Meld dit bij Jan (IT), toestel 140.", "The connection's secret is missing or cannot be read. Please tell Jan (IT), toestel 140."},
		{"port", with(fine, func(f *Facts) { f.TakenPort = 27471; f.LastCall = last }), LinkLost,
			"Poort 27471 is bezet: de telefoon kan geen oproepen melden. Meld dit bij Jan (IT), toestel 140.", "Port 27471 is taken: the phone cannot report calls. Please tell Jan (IT), toestel 140."},
		{"tokens", with(fine, func(f *Facts) { f.NoTokens = true; f.LastCall = last }), LinkLost,
			"De sleutels voor telefoons zijn niet te lezen: de telefoon kan geen oproepen melden. Meld dit bij Jan (IT), toestel 140.", "The tokens for phones cannot be read: the phone cannot report calls. Please tell Jan (IT), toestel 140."},
		{"link down for an administrator", with(fine, func(f *Facts) { f.Sources = []Source{{Kind: "ari", Phase: Down, NeedsAdmin: true}}; f.LastCall = last }), LinkLost,
			"Geen verbinding met de telefoon (Asterisk). Meld dit bij Jan (IT), toestel 140.", "No connection with the phone (Asterisk). Please tell Jan (IT), toestel 140."},
		{"relay down", with(fine, func(f *Facts) { f.Sources = []Source{{Kind: "relay", Phase: Down}} }), LinkLost,
			"De relay van kantoor is niet te bereiken. We blijven het proberen. Houdt het aan, meld dit dan bij Jan (IT), toestel 140.", "The office's relay cannot be reached. We keep trying. If it lasts, please tell Jan (IT), toestel 140."},
		{"relay refuses", with(fine, func(f *Facts) { f.Sources = []Source{{Kind: "relay", Phase: Refused}} }), LinkLost,
			"De relay van kantoor laat deze computer niet meer toe. Vraag Jan (IT), toestel 140 om een nieuwe code.", "The office's relay does not let this computer in any more. Ask Jan (IT), toestel 140 for a new code."},
		{"relay without storage", with(fine, func(f *Facts) { f.Sources = []Source{{Kind: "relay", Phase: NoStorage}} }), LinkLost,
			"De relay van kantoor kan nu niet werken: de opslag geeft een storing. Meld dit bij Jan (IT), toestel 140.", "The office's relay cannot work now: its storage has a fault. Please tell Jan (IT), toestel 140."},
		{"relay without exchange", with(fine, func(f *Facts) {
			f.Sources = []Source{{Kind: "relay", Phase: NoExchange, BackendFaultSince: at(13, 40)}}
		}), LinkLost,
			"De relay van kantoor ontvangt sinds 13:40 niets van de telefooncentrale. Meld dit bij Jan (IT), toestel 140.", "The office's relay has received nothing from the exchange since 13:40. Please tell Jan (IT), toestel 140."},
		{"relay without hub", with(fine, func(f *Facts) { f.Sources = []Source{{Kind: "relay", Phase: NoHub}} }), HubGone,
			"De relay van kantoor krijgt geen antwoord van de hub. Kaarten tonen zolang alleen het nummer. Houdt het aan, meld dit dan bij Jan (IT), toestel 140.", "The office's relay gets no answer from the hub. Meanwhile cards show the number only. If it lasts, please tell Jan (IT), toestel 140."},
		{"relay not joined", with(fine, func(f *Facts) { f.Sources = []Source{{Kind: "relay", Phase: Incomplete}} }), LinkLost,
			"Deze computer is nog niet aangemeld bij de relay van kantoor. Vraag Jan (IT), toestel 140 om een code.", "This computer has not joined the office's relay yet. Ask Jan (IT), toestel 140 for a code."},
		{"certificate, of yesterday", failed(contact.CertificateExpired, at(16, 5).AddDate(0, 0, -1)), HubGone,
			"Opzoeken lukte niet (donderdag 16:05): het certificaat van de hub is verlopen. Meld dit bij Jan (IT), toestel 140.",
			"Looking up failed (Thursday 16:05): the hub's certificate has expired. Please tell Jan (IT), toestel 140."},
		{"autostart gone", with(fine, func(f *Facts) { f.LostRegistrations = []Registration{Autostart}; f.LastCall = last }), Doubt,
			"Wiebelt start niet meer vanzelf bij het aanmelden. Kies Herstellen.", "Wiebelt no longer starts by itself at log-on. Choose Repair."},
		{"no calls where there were many", with(fine, func(f *Facts) {
			f.UsualCalls = 23
			f.LastCall = &Call{At: at(11, 0),
				Kind: "http"}
		}), Doubt,
			"Al meer dan 2 uur geen oproep; op de vorige werkdag waren het er 23. Bel uzelf om te testen.",
			"No call for more than 2 hours; the last working day had 23. Call yourself to test."},
		{"few calls are usual", with(fine, func(f *Facts) { f.UsualCalls = 5 }), Ready,
			"Vandaag nog geen oproep ontvangen. Bel uzelf om te testen.", "No call received yet today. Call yourself to test."},
		{"paused stands before everything", Facts{PausedUntil: at(15, 30)}, Paused,
			"Gepauzeerd tot 15:30: er komen geen kaarten.", "Paused until 15:30: no cards come up."},
		{"paused until tomorrow", with(fine, func(f *Facts) { f.PausedUntil = at(6, 0).AddDate(0, 0, 1) }), Paused,
			"Gepauzeerd tot zaterdag 06:00: er komen geen kaarten.", "Paused until Saturday 06:00: no cards come up."},
		{"locked", with(fine, func(f *Facts) { f.LastCall = last; f.Hiding = HidingLocked }), Ready,
			"Klaar. Laatste oproep ontvangen om 09:42, via 3CX. Het scherm is vergrendeld: kaarten wachten.", "Ready. Last call received at 09:42 through 3CX. The screen is locked: cards wait."},
		{"presenting, and the hub is gone", with(failed(contact.HubSlow, at(10, 5)), func(f *Facts) { f.Hiding = NumberPresenting }), HubGone,
			"Opzoeken lukte niet (10:05): de hub reageert niet. Kaarten tonen zolang alleen het nummer. Volledig scherm (presentatie): kaarten tonen alleen het nummer.",
			"Looking up failed (10:05): the hub does not answer. Meanwhile cards show the number only. Full screen (presentation): cards show the number only."},
		{"a pause that is over", with(fine, func(f *Facts) { f.PausedUntil = at(14, 30); f.LastCall = last }), Ready,
			"Klaar. Laatste oproep ontvangen om 09:42, via 3CX.", "Ready. Last call received at 09:42 through 3CX."},
	} {
		for l, want := range map[text.Language]string{text.Dutch: tt.nl, text.English: tt.en} {
			got := Assess(tt.f, l, "Jan (IT), toestel 140", now)
			if got.State != tt.state || got.Sentence != want || !slices.Equal(got.Repairable, tt.f.LostRegistrations) {
				t.Errorf("%s, %s: %v %q, want %v %q", tt.name, l, got.State, got.Sentence, tt.state, want)
			}
		}
	}
}

// TestIsConnected checks that a relay counts as connected even if something behind it does not work.
func TestIsConnected(t *testing.T) {
	for phase, want := range map[Phase]bool{Unwatched: false, Up: true, Down: false, Kicked: false, Refused: false, Incomplete: false,
		NoStorage: true, NoExchange: true, NoHub: true} {
		if phase.IsConnected() != want {
			t.Errorf("phase %d: %v", phase, !want)
		}
	}
}

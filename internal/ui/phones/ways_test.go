package phones

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/guide"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/kittest"
)

// TestWays: what each way in is doing, and never connected without a heartbeat.
func TestWays(t *testing.T) {
	at := kittest.Noon.Add(-78 * time.Minute)
	for _, tt := range []struct {
		s    deskapi.WayState
		m    kit.Mark
		want string
	}{
		{deskapi.WayState{Kind: "baresip", Phase: deskapi.LinkUp, Since: at, Last: at.Add(time.Minute)}, kit.MarkDot, "Verbonden, sinds 10:42. Laatste oproep: 10:43."},
		{deskapi.WayState{Kind: "baresip", Phase: deskapi.LinkDown, Since: at}, kit.MarkTrouble, "Geen verbinding, sinds 10:42. Nog geen oproep ontvangen."},
		{deskapi.WayState{Kind: "bria", Phase: deskapi.LinkRefused, Since: at}, kit.MarkTrouble, "De telefoon laat Wiebelt niet toe, sinds 10:42. Nog geen oproep ontvangen."},
		{deskapi.WayState{Kind: "ari", Phase: deskapi.LinkDown, Since: at, Why: "extension"}, kit.MarkTrouble, "Geen verbinding, sinds 10:42. " + text.LinkTrouble(text.Dutch, "extension") + " Nog geen oproep ontvangen."},
		{deskapi.WayState{Kind: "ari", Phase: deskapi.LinkUp, Since: at, Why: "extension"}, kit.MarkDot, "Verbonden, sinds 10:42. Nog geen oproep ontvangen."},
		{deskapi.WayState{Kind: "ari", Phase: deskapi.LinkDown, Since: at, Why: "unheard of"}, kit.MarkTrouble, "Geen verbinding, sinds 10:42. Nog geen oproep ontvangen."},
		{deskapi.WayState{Kind: "baresip", Phase: deskapi.LinkUnknown}, kit.MarkQuiet, "Nog geen verbinding. Nog geen oproep ontvangen."},
		{deskapi.WayState{Kind: "http", Phase: deskapi.WayListens, Port: 27471, Last: at.AddDate(0, 0, -2)}, kit.MarkTarget, "Klaar om te ontvangen. Laatste oproep: " + text.Dutch.Day(at.AddDate(0, 0, -2), kittest.Noon) + " 10:42."},
		{deskapi.WayState{Kind: "http", Phase: deskapi.WayKeyless, Port: 27471}, kit.MarkTrouble, "De toegangscodes voor telefoons zijn niet te lezen: er komen geen oproepen binnen. Nog geen oproep ontvangen."},
		{deskapi.WayState{Kind: "http", Phase: deskapi.WayTaken, Port: 27471}, kit.MarkTrouble, "Poort 27471 is bezet door een ander programma. Nog geen oproep ontvangen."},
	} {
		m, s := wayLine(text.Dutch, tt.s, kittest.Noon)
		if m != tt.m || s != tt.want {
			t.Errorf("%+v: %d %q, want %d %q", tt.s, m, s, tt.m, tt.want)
		}
	}
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, kind := range []string{"websocket", "http", "url", "command"} {
			for _, last := range []time.Time{{}, at} {
				for _, phase := range []string{deskapi.WayListens, deskapi.WayTaken} {
					m, s := wayLine(l, deskapi.WayState{Kind: kind, Phase: phase, Last: last, Port: 27471}, kittest.Noon)
					if low := strings.ToLower(s); m == kit.MarkDot || strings.Contains(low, "verbonden") || strings.Contains(low, "connected") || strings.Contains(s, "%!") {
						t.Errorf("%s %s: %q", kind, phase, s)
					}
				}
			}
		}
	}
}

// TestWaysInTheRecipes: live on the page of the phone and on that of all.
func TestWaysInTheRecipes(t *testing.T) {
	b := openRecipes(t, text.Dutch, here)
	recipes(b).Choose("baresip")
	link := deskapi.WayState{Kind: "baresip", Name: "baresip", Phase: deskapi.LinkUp, Since: kittest.Noon}
	web := deskapi.WayState{Kind: "http", Phase: deskapi.WayListens, Port: 27472}
	b.Tell(t, deskapi.KindWays, deskapi.Ways{Ways: []deskapi.WayState{web, link}})
	kittest.WantTexts(t, recipes(b).win, "Verbonden, sinds 12:00.")
	if s := strings.Join(kittest.Texts(recipes(b).win), "|"); strings.Contains(s, "webadres") {
		t.Error("another phone's way in on this page")
	}
	link.Phase, link.Since = deskapi.LinkDown, kittest.Noon.Add(time.Minute)
	b.Tell(t, deskapi.KindWays, deskapi.Ways{Ways: []deskapi.WayState{web, link}})
	kittest.WantTexts(t, recipes(b).win, "Geen verbinding, sinds 12:01.")
	recipes(b).Choose("enreach")
	kittest.WantTexts(t, recipes(b).win, "Telefoons met een webadres", "Klaar om te ontvangen.")
	recipes(b).Choose(waysPage)
	kittest.WantTexts(t, recipes(b).win, "Stand van zaken", "Telefoons met een webadres", "Geen verbinding, sinds 12:01.")
	kittest.Press(t, recipes(b).win, "Testen met een echte oproep")
	kittest.Press(t, recipes(b).win, "Welkomstvenster openen")
	if b.Page(deskapi.WindowTest) == nil || b.Page(deskapi.WindowStart) == nil {
		t.Error("the windows did not come")
	}
}

// No word of the ways in is cut, in either language and at every scale.
func TestWaysFit(t *testing.T) {
	measured := 0
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, scale := range kittest.Scales {
			b := openRecipes(t, l, here)
			var ways deskapi.Ways
			for _, phase := range []string{deskapi.LinkUp, deskapi.LinkUnknown, deskapi.LinkDown, deskapi.LinkKicked, deskapi.LinkRefused, deskapi.LinkIncomplete} {
				ways.Ways = append(ways.Ways, deskapi.WayState{Kind: "baresip", Phase: phase, Since: kittest.Noon.AddDate(0, 0, -3), Last: kittest.Noon.AddDate(-1, 0, 0)})
			}
			for _, c := range link.Causes() {
				ways.Ways = append(ways.Ways, deskapi.WayState{Kind: "ari", Name: "centrale", Phase: deskapi.LinkDown, Since: kittest.Noon, Why: string(c)})
			}
			for _, phase := range []string{deskapi.WayListens, deskapi.WayTaken, deskapi.WayKeyless} {
				for _, k := range []string{"websocket", "http", "url", "command"} {
					ways.Ways = append(ways.Ways, deskapi.WayState{Kind: k, Phase: phase, Port: 27471, Last: kittest.Noon})
				}
			}
			b.Tell(t, deskapi.KindWays, ways)
			for _, id := range []string{waysPage, "baresip", "any-url"} {
				recipes(b).Choose(id)
				kittest.Scaled(recipes(b).win, fyne.NewSize(720, 688), scale)
				if scale == 1 && id == waysPage {
					kittest.Shot(t, recipes(b).win, "ways-"+string(l))
				}
				kittest.Uncut(t, string(l)+" "+id, recipes(b).win, guide.All(l)[0].Title, "config van baresip", "baresip's config")
				measured++
			}
			recipes(b).win.Close()
		}
	}
	t.Logf("%d windows measured", measured)
}

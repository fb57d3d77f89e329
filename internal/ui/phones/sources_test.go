package phones

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"wiebelt/internal/guide"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

// TestSources checks the displayed state of each
// source: it never says connected without a heartbeat.
func TestSources(t *testing.T) {
	at := uitest.Noon.Add(-78 * time.Minute)
	for _, tt := range []struct {
		s    windowapi.SourceState
		m    widgets.Mark
		want string
	}{
		{windowapi.SourceState{Kind: "baresip", Phase: windowapi.LinkUp, Since: at, LastCallAt: at.Add(time.Minute)}, widgets.MarkDot, "Verbonden, sinds 10:42. Laatste oproep: 10:43."},
		{windowapi.SourceState{Kind: "baresip", Phase: windowapi.LinkDown, Since: at}, widgets.MarkTrouble, "Geen verbinding, sinds 10:42. Nog geen oproep ontvangen."},
		{windowapi.SourceState{Kind: "bria", Phase: windowapi.LinkRefused, Since: at}, widgets.MarkTrouble, "De telefoon laat Wiebelt niet toe, sinds 10:42. Nog geen oproep ontvangen."},
		{windowapi.SourceState{Kind: "ari", Phase: windowapi.LinkDown, Since: at, Why: "extension"}, widgets.MarkTrouble, "Geen verbinding, sinds 10:42. " + text.LinkTrouble(text.Dutch, "extension") + " Nog geen oproep ontvangen."},
		{windowapi.SourceState{Kind: "ari", Phase: windowapi.LinkUp, Since: at, Why: "extension"}, widgets.MarkDot, "Verbonden, sinds 10:42. Nog geen oproep ontvangen."},
		{windowapi.SourceState{Kind: "ari", Phase: windowapi.LinkDown, Since: at, Why: "unheard of"}, widgets.MarkTrouble, "Geen verbinding, sinds 10:42. Nog geen oproep ontvangen."},
		{windowapi.SourceState{Kind: "baresip", Phase: windowapi.LinkUnknown}, widgets.MarkQuiet, "Nog geen verbinding. Nog geen oproep ontvangen."},
		{windowapi.SourceState{Kind: "http", Phase: windowapi.SourceListens, Port: 27471, LastCallAt: at.AddDate(0, 0, -2)}, widgets.MarkTarget, "Klaar om te ontvangen. Laatste oproep: " + text.Dutch.Day(at.AddDate(0, 0, -2), uitest.Noon) + " 10:42."},
		{windowapi.SourceState{Kind: "http", Phase: windowapi.SourceNoTokens, Port: 27471}, widgets.MarkTrouble, "De sleutels voor telefoons zijn niet te lezen: er komen geen oproepen binnen. Nog geen oproep ontvangen."},
		{windowapi.SourceState{Kind: "url", Phase: windowapi.SourceNotDefault}, widgets.MarkQuiet, "Deze links openen deze Wiebelt niet: wiebelt register. Nog geen oproep ontvangen."},
		{windowapi.SourceState{Kind: "http", Phase: windowapi.SourcePortTaken, Port: 27471}, widgets.MarkTrouble, "Poort 27471 is bezet door een ander programma. Nog geen oproep ontvangen."},
	} {
		m, s := sourceLine(text.Dutch, tt.s, uitest.Noon)
		if m != tt.m || s != tt.want {
			t.Errorf("%+v: %d %q, want %d %q", tt.s, m, s, tt.m, tt.want)
		}
	}
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, kind := range []string{"websocket", "http", "url", "command"} {
			for _, last := range []time.Time{{}, at} {
				for _, phase := range []string{windowapi.SourceListens, windowapi.SourcePortTaken} {
					m, s := sourceLine(l, windowapi.SourceState{Kind: kind, Phase: phase, LastCallAt: last, Port: 27471}, uitest.Noon)
					if low := strings.ToLower(s); m == widgets.MarkDot || strings.Contains(low, "verbonden") || strings.Contains(low, "connected") || strings.Contains(s, "%!") {
						t.Errorf("%s %s: %q", kind, phase, s)
					}
				}
			}
		}
	}
}

// TestSourcesInTheRecipes: the state of a source is updated
// live, on its phone's page and on the page of all sources.
func TestSourcesInTheRecipes(t *testing.T) {
	b := openRecipes(t, text.Dutch, here)
	recipes(b).Choose("baresip")
	link := windowapi.SourceState{Kind: "baresip", Name: "baresip", Phase: windowapi.LinkUp, Since: uitest.Noon}
	web := windowapi.SourceState{Kind: "http", Phase: windowapi.SourceListens, Port: 27472}
	b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{Sources: []windowapi.SourceState{web, link}})
	uitest.WantTexts(t, recipes(b).win, "Verbonden, sinds 12:00.")
	uitest.WantNoTexts(t, recipes(b).win, "webadres") // another phone's source
	link.Phase, link.Since = windowapi.LinkDown, uitest.Noon.Add(time.Minute)
	b.SendFromResident(t, windowapi.KindSources, windowapi.Sources{Sources: []windowapi.SourceState{web, link}})
	uitest.WantTexts(t, recipes(b).win, "Geen verbinding, sinds 12:01.")
	recipes(b).Choose("enreach")
	uitest.WantTexts(t, recipes(b).win, "Telefoons met een webadres", "Klaar om te ontvangen.")
	recipes(b).Choose(sourcesPage)
	uitest.WantTexts(t, recipes(b).win, "Stand van zaken", "Telefoons met een webadres", "Geen verbinding, sinds 12:01.")
	uitest.Press(t, recipes(b).win, "Testen met een echte oproep")
	uitest.Press(t, recipes(b).win, "Welkomstvenster openen")
	if b.Page(windowapi.WindowTest) == nil || b.Page(windowapi.WindowStart) == nil {
		t.Error("the windows did not come")
	}
}

// TestPhonesFit checks that no word of the sources, and of a recipe
// of each kind, is cut, in either language and at every scale.
func TestPhonesFit(t *testing.T) {
	var sources windowapi.Sources
	for _, phase := range []string{windowapi.LinkUp, windowapi.LinkUnknown, windowapi.LinkDown, windowapi.LinkKicked, windowapi.LinkRefused, windowapi.LinkIncomplete, windowapi.LinkBackendFault} {
		sources.Sources = append(sources.Sources, windowapi.SourceState{Kind: "baresip", Phase: phase, Since: uitest.Noon.AddDate(0, 0, -3), LastCallAt: uitest.Noon.AddDate(-1, 0, 0)})
	}
	for _, c := range link.Causes() {
		sources.Sources = append(sources.Sources, windowapi.SourceState{Kind: "ari", Name: "centrale", Phase: windowapi.LinkDown, Since: uitest.Noon, Why: string(c)})
	}
	for _, phase := range []string{windowapi.SourceListens, windowapi.SourcePortTaken, windowapi.SourceNoTokens, windowapi.SourceNotDefault} {
		for _, k := range []string{"websocket", "http", "url", "command"} {
			sources.Sources = append(sources.Sources, windowapi.SourceState{Kind: k, Phase: phase, Port: 27471, LastCallAt: uitest.Noon})
		}
	}
	for _, l := range []text.Language{text.Dutch, text.English} {
		b := openRecipes(t, l, here)
		b.SendFromResident(t, windowapi.KindSources, sources)
		for _, id := range []string{sourcesPage, "baresip", "microsip", "any-url", "3cx-v20", "teams"} {
			recipes(b).Choose(id)
			uitest.Examine(t, "phones-"+string(l)+"-"+id, recipes(b).win, []fyne.Size{{Width: 720, Height: 688}},
				here.values.Exe, guide.All(l)[0].Title, "config van baresip", "baresip's config")
		}
		recipes(b).win.Close()
	}
}

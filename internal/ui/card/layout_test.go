package card

import (
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/window"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/offscreen"
	"wiebelt/internal/ui/theme"
)

var languages = []text.Language{text.Dutch, text.English}

// failures lists every failure of a lookup.
var failures = []contact.Failure{contact.NotSetUp, contact.NoNetwork, contact.NameNotResolved, contact.ConnectionRefused,
	contact.ProxyLogin, contact.ProxyFailed, contact.TLSFailed, contact.CertificateUnknown, contact.CertificateExpired,
	contact.CertificateMismatch, contact.ClockWrong, contact.CredentialsRefused, contact.ScopeRefused, contact.HubError,
	contact.HubSlow, contact.NotUnderstood}

// hostile lists contents that a hub or a phone could send.
var hostile = []string{
	"", " ", ",", "Wolfeschlegelsteinhausenbergerdorffwelchevoralternwarengewissenhaftschaferswessen",
	"Sint-Jacobiparochie aan de Lange Vechtoo", strings.Repeat("W", 60), strings.Repeat("i", 300),
	"اسم طويل جدا لا يتسع في السطر الواحد من البطاقة مهما كان", "שם ארוך מאוד שלא נכנס בשורה אחת של הכרטיס",
	"\u202Egnp.exe\u202C Jansen", "Jansen\u200F\u200E\u2066\u2067\u2069\u061C", "a\u202Eb\u202Dc", "123 محمد 456 - 789",
	"👩\u200D👩\u200D👧\u200D👦👨🏽\u200D🚒🇳🇱🇧🇪 feest ☎️ 1️⃣", "Z" + strings.Repeat("̵͇̿̀́", 40) + "algo", "名前 고객 ลูกค้า ग्राहक",
	"", "A\tB\u00a0\u2003C", "\u2068open", "sluit\u2069", "\uFFFC", "Smit, , Jansen ,", "Łukasz Ąćęłńóśźż Ýþðøæœßĳ",
}

// withContents calls each for every card of the gallery with external
// data, and with each of the hostile contents in every field.
func withContents(t *testing.T, each func(name string, c engine.Card)) {
	for name, c := range gallery(t) {
		each(name, c)
		for i, h := range hostile {
			d := c
			d.PhoneName, d.LineName, d.Via = h, h, h
			d.Contacts = nil
			for range c.Contacts {
				k := contact.Contact{ID: "x", RelationNumber: h, Initials: h, Prefix: h, FamilyName: h, Link: "x",
					Producer: contact.CodedValue{Description: h}, LastModifiedBy: contact.CodedValue{Code: h},
					Address: contact.Address{Street: h, Number: h, Addition: h, PostalCode: h, City: h, Country: h}}
				if i%3 == 1 {
					k.Initials, k.Prefix = "", ""
				}
				d.Contacts = append(d.Contacts, k)
			}
			each(name+" with "+h, d)
		}
	}
	for _, f := range failures {
		c := gallery(t)["failed"]
		c.Failure, c.Retrying = f, !f.NeedsAdmin()
		each("failed: "+string(f), c)
	}
	for _, s := range extras(t) {
		each("extra", s.Card)
	}
}

// checkFit compares every text of a card with its space, and every object with the card:
// nothing may overflow, no texts may overlap, and none of our own words may be cut.
func checkFit(t *testing.T, name string, v *view) {
	t.Helper()
	for _, w := range v.texts {
		if w.ownText && w.full != w.shown {
			t.Errorf("%s: our words %q are cut to %q", name, w.full, w.shown)
		}
		if w.width > w.room+0.5 || w.x+w.width > textRight+0.5+footPad {
			t.Errorf("%s: %q is %.1f wide and has %.1f", name, w.shown, w.width, w.room)
		}
		if s := strings.TrimSuffix(w.shown, "…"); w.full != w.shown && s != strings.TrimRight(s, " ,·-(") {
			t.Errorf("%s: %q is cut behind a comma or space", name, w.shown)
		}
	}
	var texts []*canvas.Text
	for _, o := range v.content.Objects {
		p, s := o.Position(), o.Size()
		if l, ok := o.(*canvas.Line); ok {
			p, s = l.Position1, fyne.NewSize(0, 0)
		}
		x, isText := asText(o)
		if isText {
			texts = append(texts, x)
			// A font of another script has taller lines, with its letters in the middle.
			p.Y, s.Height = p.Y+s.Height/4, s.Height/2
			if x.MinSize().Width > s.Width+0.5 {
				t.Errorf("%s: %q is wider than its place", name, x.Text)
			}
		}
		if p.X < 0 || p.Y < 0 || p.X+s.Width > v.size.Width+0.5 || p.Y+s.Height > v.size.Height+0.5 {
			t.Errorf("%s: %T at %v size %v sticks out of %v", name, o, p, s, v.size)
		}
	}
	for i, a := range texts {
		for _, b := range texts[i+1:] {
			if overlap(a, b) {
				t.Errorf("%s: %q lies on %q", name, a.Text, b.Text)
			}
		}
	}
	for _, a := range v.areas {
		if a.x < 0 || a.y < 0 || a.x+a.w > v.size.Width || a.y+a.h > v.size.Height {
			t.Errorf("%s: a place to click sticks out: %+v", name, a)
		}
	}
}

// asText returns a text, whether or not its picture is cached.
func asText(o fyne.CanvasObject) (*canvas.Text, bool) {
	if k, ok := o.(offscreen.CachedText); ok {
		return k.Text, true
	}
	t, ok := o.(*canvas.Text)
	return t, ok
}

func overlap(a, b *canvas.Text) bool {
	ap, as, bp, bs := a.Position(), a.Size(), b.Position(), b.Size()
	const in = 0.32 // line boxes may touch; letters may not
	return ap.X < bp.X+bs.Width-0.5 && bp.X < ap.X+as.Width-0.5 &&
		ap.Y+as.Height*in < bp.Y+bs.Height*(1-in) && bp.Y+bs.Height*in < ap.Y+as.Height*(1-in)
}

func TestEverythingFits(t *testing.T) {
	long := "Servicedesk Automatisering, Mevr. Van den Oudenhoven, toestel 1404"
	withContents(t, func(name string, c engine.Card) {
		for i, lang := range languages {
			if strings.Contains(name, " with ") && i != len(name)%2 {
				continue // our own words do not depend on the contents
			}
			l := Look{Language: lang, Support: "Jan (IT), toestel 140"}
			checkFit(t, name, layout(c, l))
			strip := c
			strip.Strip, strip.Phase, strip.Answered = true, engine.PhaseAnswered, now.Add(-3*3600e9)
			checkFit(t, name+", strip", layout(strip, l))
			strip.SingleLine = true
			checkFit(t, name+", line", layout(strip, l))
			for _, v := range []Privacy{PrivacyInitials, PrivacyNumber} {
				l.Privacy = v
				checkFit(t, name+", "+string(v), layout(c, l))
			}
			if !strings.Contains(name, " with ") {
				l.Privacy = PrivacyFull
				for _, word := range []string{"relatie", "klantkaart", "dossier"} {
					l.FileWord, l.Support = word, long
					checkFit(t, name+", "+word, layout(c, l))
				}
			}
		}
	})
	for name, s := range extras(t) {
		for _, lang := range languages {
			l := s.in(Look{Language: lang})
			if l.Hover.FullText == "" { // that text covers its neighbours
				checkFit(t, name, layout(s.Card, l))
			}
		}
	}
}

// TestNothingMovesWhenTheContactComes: the searching card has exactly the height and the
// buttons of the found card, whatever the settings.
func TestNothingMovesWhenTheContactComes(t *testing.T) {
	offscreen.Start(theme.New("light"))
	g := gallery(t)
	for _, fields := range [][]string{nil, {}, {fieldAddress}, {fieldModified, fieldRelation}} {
		for _, v := range []Privacy{PrivacyFull, PrivacyInitials, PrivacyNumber} {
			for _, possible := range []bool{false, true} {
				l := Look{Language: text.Dutch, Fields: fields, Privacy: v}
				want := layout(with(g["found"], possible), l)
				for _, name := range []string{"searching-start", "searching", "answered", "again", "nolink", "browser", "outgoing"} {
					f := layout(with(g[name], possible), l)
					if f.size != want.size {
						t.Errorf("%s %v %s: %v, found card %v", name, fields, v, f.size, want.size)
					}
					if n := f.areaFor(Effect{Copy: "0612345678", Caller: g[name].Number}); n == nil || n.x != textLeft+primaryW+gap || n.y != f.size.Height-footPad-footH-footGap-buttonH {
						t.Errorf("%s %v %s: the copy button stands elsewhere: %+v", name, fields, v, n)
					}
				}
			}
		}
	}
	// The buttons of all cards are equally far from the lower edge.
	l := Look{Language: text.Dutch}
	for _, name := range []string{"found", "nobody", "nobody-left", "failed", "refused", "offered", "general"} {
		v := layout(g[name], l)
		if v.areaAt(300, v.size.Height-footPad-footH-footGap-buttonH/2).effect.Copy == "" {
			t.Errorf("%s: no copy button at its place above the lower edge", name)
		}
	}
	// Using the rows changes no size.
	want := layout(g["crowd"], l).size
	for _, list := range []RowsState{{First: 5}, {Filter: "visser"}, {Filter: "zz"}, {First: 99}} {
		for _, typing := range []bool{false, true} {
			l.RowsState, l.Typing = list, typing
			if got := layout(g["crowd"], l).size; got != want {
				t.Errorf("%+v, typing %v: %v, before %v", list, typing, got, want)
			}
		}
	}
}

// words returns the texts of a view, in full.
func words(v *view) string {
	var all []string
	for _, w := range v.texts {
		all = append(all, w.full)
	}
	return strings.Join(all, " ")
}

func with(c engine.Card, possible bool) engine.Card {
	c.Possible = possible
	return c
}

// TestWords: a card of any kind says who passed the call on and how often the caller has rung,
// a line says whose call it is, and no card claims more about what is going on than is true.
func TestWords(t *testing.T) {
	passed := func(c *engine.Card) { c.Via = "Receptie (101)" }
	line := func(c *engine.Card) { c.SingleLine = true }
	for _, tt := range []struct {
		name   string
		change func(*engine.Card)
		want   string
	}{
		{"found", passed, "06 12 34 56 78 doorverbonden door Receptie (101)"},
		{"nobody", passed, "Inkomend op Schade · via Receptie (101)"},
		{"failed", passed, "Inkomend op Schade · via Receptie (101)"},
		{"searching", passed, "Inkomend op Schade · via Receptie (101)"},
		{"withheld", passed, "Inkomend op Schade · via Receptie (101)"},
		{"nobody", func(c *engine.Card) { passed(c); c.RingsToday, c.PreviousRing = 3, now },
			"Inkomend 3e keer · op Schade · via Receptie (101)"},
		{"own", func(c *engine.Card) { c.RingsToday, c.PreviousRing = 3, now.Add(-time.Minute) }, "020 765 43 21 3e keer vandaag, eerder 10:41"},
		{"nobody", func(c *engine.Card) { c.RingsToday = 3 }, "Inkomend 3e keer · op Schade"},
		{"nobody", func(c *engine.Card) { c.LineText = "" }, "Inkomend op Schade 06 12 34 56 78"},
		{"nobody", line, "06 12 34 56 78 Inkomend · Geen relatie"},
		{"nobody-left", line, "Niet J. de Vries, zegt u Inkomend"},
		{"failed", func(c *engine.Card) { c.Phase, c.Answered = engine.PhaseAnswered, now }, "Opzoeken lukt niet: de hub reageert niet. We blijven het proberen."},
		{"failed", func(c *engine.Card) { c.Phase, c.Retrying = engine.PhaseOver, false }, "Opzoeken lukt niet: de hub reageert niet. Opnieuw zoeken"},
	} {
		c := gallery(t)[tt.name]
		tt.change(&c)
		if said := words(layout(c, Look{Language: text.Dutch})); !strings.Contains(said, tt.want) {
			t.Errorf("%s says %q, want %q", tt.name, said, tt.want)
		}
	}
}

// TestPrivacy checks that no text of the card contains what may not be shown.
func TestPrivacy(t *testing.T) {
	secret := map[Privacy][]string{
		PrivacyInitials: {"Vries", "Bakker", "Heuvel", "Dorp", "Kade", "Jansen", "Berg", "Visser"},
		PrivacyNumber:   {"Vries", "Bakker", "Heuvel", "Dorp", "Kade", "Jansen", "Berg", "Visser", "J. de", "B.M.", "Producent", "Receptie", "jan"},
	}
	for v, hidden := range secret {
		for name, c := range gallery(t) {
			for _, strip := range []bool{false, true} {
				c.Strip, c.Via = strip, "Receptie (101)"
				said := words(layout(c, Look{Language: text.Dutch, Privacy: v, RowsState: RowsState{Open: true}}))
				for _, s := range hidden {
					if strings.Contains(said, s) {
						t.Errorf("%s, %s: %q in %q", v, name, s, said)
					}
				}
			}
		}
	}
	for full, want := range map[string]string{"de Vries/J": "J. de V.", "Bakker-Smit/B.M.": "B.M. B.", "Jansen/Piet Hein": "P. H. J.", "Bakkerij Zon/": "B.", "/": ""} {
		name, first, _ := strings.Cut(full, "/")
		k := contact.Contact{Initials: first, FamilyName: name}
		if p, f, ok := strings.Cut(name, " "); ok && p == "de" {
			k.Prefix, k.FamilyName = p, f
		}
		if got := PrivacyInitials.name(k); got != want {
			t.Errorf("%q: %q, want %q", full, got, want)
		}
	}
}

// TestNoFields: card.fields = [] leaves nothing from the person's file, neither on the card of
// a single match nor in the rows of several.
func TestNoFields(t *testing.T) {
	for name, shown := range map[string]string{"found": "100 200", "answered": "100 200", "several": "200 002", "strip": ""} {
		c := gallery(t)[name]
		if said := words(layout(c, Look{Language: text.Dutch})); !strings.Contains(said, shown) {
			t.Errorf("%s: %q without %q: the test looks for the wrong words", name, said, shown)
		}
		said := words(layout(c, Look{Language: text.Dutch, Fields: []string{}}))
		for _, of := range []string{"Producent", "100 200", "200 002", "Dorpsstraat", "Medewerker"} {
			if strings.Contains(said, of) {
				t.Errorf("%s: %q in %q", name, of, said)
			}
		}
	}
}

// TestLargeText: with text at 200 % on screens at 200 and 300 %, every card
// fits on the screen, and none of our own words is cut or overlaps another.
func TestLargeText(t *testing.T) {
	for scale, lang := range map[float32]text.Language{4: text.English, 6: text.Dutch} {
		r := startCards(t, func(c *Config, d *desktop) {
			c.Language = lang
			work := image.Rect(0, 0, 3840, 2100)
			d.monitors = []window.Monitor{{Name: "one", Area: work, Work: work, Scale: scale}}
		})
		for name, c := range gallery(t) {
			what := fmt.Sprint(name, ", ", lang, ", ", scale)
			r.e.show(0, c)
			r.sync()
			checkFit(t, what, r.cs.slots[0].view)
			if up := r.d.up(); len(up) != 1 || !up[0].In(r.d.monitors[0].Work) {
				t.Errorf("%s: at %v", what, up)
			}
			r.e.show(0)
			r.sync()
		}
	}
}

// TestNotByColourAlone checks that whatever a card's
// colour shows, its words or the mark beside it show too.
func TestNotByColourAlone(t *testing.T) {
	for _, lang := range languages {
		says := map[string]color.NRGBA{} // the colour of a state, by its words and the shape of its mark
		for name, c := range gallery(t) {
			for _, fold := range []string{"card", "strip", "line"} {
				c.Strip, c.SingleLine = fold == "strip", fold == "line"
				l := Look{Language: lang}
				v := layout(c, l)
				p := newPainter(l)
				state := p.stateColour(c)
				if fold != "card" {
					state = p.foldedColour(c)
				}
				said := shape(v, state)
				if said == "" {
					t.Errorf("%s, %s, %s: nothing beside the colour", name, lang, fold)
				}
				said += words(v)
				if other, ok := says[said]; ok && other != state {
					t.Errorf("%s, %s, %s: two colours for %q", name, lang, fold, said)
				}
				says[said] = state
			}
		}
	}
}

// shape returns the mark of a card's state: a ring, a dot or a bar, "" for none.
func shape(v *view, state color.NRGBA) string {
	for _, o := range v.content.Objects {
		switch o := o.(type) {
		case *canvas.Circle:
			if o.FillColor == state {
				return "dot"
			}
			return "ring"
		case *canvas.Rectangle:
			if o.FillColor == state && o.Size() == fyne.NewSize(10, 3) {
				return "bar"
			}
		}
	}
	return ""
}

// TestMarkUnderThePointer: a folded card keeps the mark of its state while the pointer is on it.
func TestMarkUnderThePointer(t *testing.T) {
	for _, line := range []bool{false, true} {
		c := gallery(t)["strip"]
		c.SingleLine = line
		at := image.Pt(20, map[bool]int{false: stripHeight, true: lineHeight}[line]/2)
		unfold := cardEffect(c, engine.ActionUnfold)
		if got, want := Picture(c, Look{Hover: unfold}, 1).At(at.X, at.Y), Picture(c, Look{}, 1).At(at.X, at.Y); got != want {
			t.Errorf("line %v: %v, not %v", line, got, want)
		}
	}
}

// TestTargets checks that everything clickable is at least 24 units wide and high.
func TestTargets(t *testing.T) {
	for name, c := range gallery(t) {
		for _, lang := range languages {
			for _, a := range layout(c, Look{Language: lang}).areas {
				if !a.effect.isNone() && (a.w < 24 || a.h < 24) {
					t.Errorf("%s, %s: %q is %v by %v", name, lang, a.name, a.w, a.h)
				}
			}
		}
	}
}

package registry_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/call"
	"wiebelt/internal/guide"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/text"
)

// TestEveryKindIsWhole: each kind has its names, its recipe in both languages,
// its stand-in and, if it is a link, its settings and the link itself; and all of
// them agree with the table.
func TestEveryKindIsWhole(t *testing.T) {
	for _, name := range registry.Names() {
		k := registry.Of(name)
		t.Run(k.Name, func(t *testing.T) {
			for _, l := range languages {
				said(t, l, text.Source(k.Name))
				hasRecipe(t, l, k)
				if !strings.Contains(l.T(text.Key("command.help.simulate --over")), " "+k.Name) {
					t.Errorf("%s: the help of wiebelt simulate does not name it", l)
				}
			}
			address := standsIn(t, k)
			if k.IsLink() {
				connects(t, k, address)
			} else if k.Needs != nil {
				t.Error("it needs settings and is no link")
			}
			if can := k.Capabilities.Answer && k.Capabilities.End; k.ReportLevel == call.AllStates && !can {
				t.Error("it tells more than it can")
			}
			// Stories are played and checked by the table, so they cannot detect this.
			if can := k.Capabilities.End && k.Capabilities.Withheld && k.Capabilities.Outgoing; can == (k.Name == call.KindURL) {
				t.Errorf("it can tell %+v", k.Capabilities)
			}
			want := registry.TransferSameCall
			if slices.Contains(anew, k.Name) {
				want = registry.TransferNewCall
			}
			if k.Capabilities.Transfer != want {
				t.Errorf("a call that was passed on: %d, want %d", k.Capabilities.Transfer, want)
			}
		})
	}
}

// anew lists the kinds that report a call that was passed on as another call.
var anew = []string{call.KindURL, registry.Twinkle, registry.Baresip, registry.Linphone, registry.VoIPGRID, registry.VOIPZeker}

var languages = []text.Language{text.Dutch, text.English}

func said(t *testing.T, l text.Language, key text.Key) {
	t.Helper()
	if s := l.T(key); s == "" || s == string(key) {
		t.Errorf("%s has no %s", l, key)
	}
}

// words maps what recipes promise to what the table says.
var words = map[guide.ReportLevel]call.ReportLevel{guide.RingOnly: call.RingOnly, guide.RingAndEnd: call.RingAndEnd, guide.AllStates: call.AllStates}

func hasRecipe(t *testing.T, l text.Language, k registry.Kind) {
	t.Helper()
	r, ok := guide.Find(l, k.Recipe)
	if !ok {
		t.Errorf("%s: no recipe %q", l, k.Recipe)
		return
	}
	if !k.IsLink() {
		return // recipes of phones that contact us describe what the phone passes on
	}
	if words[r.ReportLevel] != k.ReportLevel {
		t.Errorf("%s: the recipe says %s, the table %d", l, r.ReportLevel, k.ReportLevel)
	}
	if !slices.ContainsFunc(r.Blocks(), func(b guide.Block) bool { return strings.Contains(b.Text, "kind = \""+k.Name+"\"") }) {
		t.Errorf("%s: the recipe %s does not set up this kind", l, k.Recipe)
	}
}

// standsIn checks the fake of a kind, and returns its address if it has one.
func standsIn(t *testing.T, k registry.Kind) (address string) {
	p, err := simulate.Open(t.Context(), k.Name, simulate.Options{Exe: "wiebelt"})
	if err != nil {
		t.Fatalf("no stand-in: %v", err)
	}
	defer p.Close()
	s, isServer := p.(simulate.Server)
	if isServer != k.IsLink() {
		t.Fatal("its stand-in does not stand where the phone does")
	}
	if isServer {
		if a := s.Address(); a.Protocol != k.Name || a.Address == "" || (a.Secret != "") != k.Requires(registry.NeedsSecret) {
			t.Errorf("its stand-in says %+v", a)
		}
		address = s.Address().Address
	}
	return address
}

// connects checks the settings of a link, and the link created from them.
func connects(t *testing.T, k registry.Kind, address string) {
	for _, l := range languages {
		said(t, l, text.LinkKind(k.Name))
	}
	full := map[string]string{registry.NeedsAddress: "https://pbx.example", registry.NeedsExtension: "101", registry.NeedsUser: "u"}
	set := func(without string) settings.Softphone {
		b := strings.Builder{}
		b.WriteString("[[softphone]]\nkind = \"" + k.Name + "\"\n")
		for _, n := range k.Needs {
			if n != without && n != registry.NeedsSecret {
				b.WriteString(n + " = \"" + full[n] + "\"\n")
			}
		}
		s, problems := settings.Parse(b.String())
		if len(problems) > 0 || len(s.Softphones) != 1 {
			t.Fatalf("%v", problems)
		}
		return s.Softphones[0]
	}
	if m := set("").Missing(); m != "" {
		t.Errorf("%s is missing", m)
	}
	for _, n := range k.Needs {
		if m := set(n).Missing(); n != registry.NeedsSecret && m != n {
			t.Errorf("without %s it is %q that is missing", n, m)
		}
	}
	p, err := fromsettings.Link(k.Name, exchangelink.Account{Address: address, User: "u", Extension: "101", Secret: func(context.Context) (string, error) { return "", nil }})
	if err != nil {
		t.Fatalf("no link: %v", err)
	}
	if source := p.Traits().Source; source != k.CallSource(source.Conn) || p.Traits().Local != (k.Reach == registry.ByPhone) {
		t.Errorf("its events say %+v", p.Traits())
	}
}

// TestNoSuchKind: a name that is not in the table is not a kind anywhere.
func TestNoSuchKind(t *testing.T) {
	if _, ok := registry.Find("fax"); ok || registry.Of("fax").IsLink() {
		t.Error("there is a fax")
	}
	if _, err := fromsettings.Link("fax", exchangelink.Account{}); err == nil {
		t.Error("a link to a fax")
	}
	if _, problems := settings.Parse("[[softphone]]\nkind = \"fax\"\n"); len(problems) != 1 {
		t.Errorf("%v", problems)
	}
}

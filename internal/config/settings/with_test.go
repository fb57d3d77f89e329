package settings

import (
	"reflect"
	"slices"
	"testing"

	"wiebelt/internal/testutil/must"
)

func TestWith(t *testing.T) {
	s, _ := Parse("[hub]\nclient_id = \"old\"\nproxy = \"none\"\n[[line]]\nnumber = \"0201234567\"\n")
	next := must.Get(s.With(map[string]any{"hub.client_id": "new", "hub.proxy": nil, "card.fields": []string{"address"}, "line": []Line{}}))(t)
	if next.Hub.ClientID != "new" || next.Hub.Proxy != "system" || next.Source("hub.proxy") != Default || next.Source("hub.client_id") != User ||
		len(next.Lines) != 0 || !reflect.DeepEqual(next.Card.Fields, []string{"address"}) {
		t.Errorf("%+v", next)
	}
	if s.Hub.ClientID != "old" || s.Hub.Proxy != "none" || s.Source("hub.proxy") != User || len(s.Lines) != 1 || len(s.Card.Fields) != len(CardFields) {
		t.Errorf("the old ones have changed: %+v", s)
	}
	for key, v := range map[string]any{"hub.base_url": "http://hub.example", "nonsense": 1, "history.days": "7"} {
		if _, err := s.With(map[string]any{key: v}); err == nil {
			t.Errorf("%s = %v was taken", key, v)
		}
	}
}

// TestLockedBy checks that every locked key names the location of the policy.
func TestLockedBy(t *testing.T) {
	s := Defaults()
	l := layer{source: Policy, place: "/etc/wiebelt/policy.toml"}
	l.parse("[hub]\nbase_url = \"https://hub.example\"\n[ui]\nlanguage = \"nl\"\n[[line]]\nnumber = \"0201234567\"\n")
	s.apply(l)
	for key, want := range map[string]string{"hub.proxy": l.place, "hub.base_url": l.place, "ui.language": l.place, "line": l.place,
		"ui.theme": "", "support.contact": "", "softphone": "", "card.corner": ""} {
		if got := s.LockedBy(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	s.apply(managedLayer(map[string]any{"support": map[string]any{"contact": "Jan"}}))
	if got := s.LockedBy("support.contact"); got == "" {
		t.Error("locked by nobody")
	}
}

func TestCommand(t *testing.T) {
	for command, want := range map[string][]string{
		`phone {number}`:                               {"phone", "{number}"},
		`  phone   -d  {number}  `:                     {"phone", "-d", "{number}"},
		`"C:\Program Files\Phone\p.exe" call:{number}`: {`C:\Program Files\Phone\p.exe`, "call:{number}"},
		`phone "a b" "" {number}`:                      {"phone", "a b", "", "{number}"},
		`phone '{number}' ; rm -rf $HOME`:              {"phone", "'{number}'", ";", "rm", "-rf", "$HOME"},
		`phone`:                                        nil, `{number}`: nil, `{number} x`: nil, `phone {number} {number}`: nil, `"phone {number}`: nil, ``: nil,
		`"" {number}`: nil, `phone{number} x`: nil,
	} {
		if got := Command(command); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

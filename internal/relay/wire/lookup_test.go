package wire

import (
	"reflect"
	"strings"
	"testing"

	"wiebelt/internal/core/contact"
)

// TestLookupAnswer: an answer is read back, within its limits, and a
// message of another shape is refused.
func TestLookupAnswer(t *testing.T) {
	one := contact.Contact{ID: "7", RelationNumber: "100200", Initials: "J.", Prefix: "de", FamilyName: "Vries", Link: "https://hub.example/7",
		Address: contact.Address{Street: "Dorpsstraat", City: "Ons Dorp"}, Producer: contact.Coded{Code: "P1", Description: "Piet"}}
	back, err := ParseLookupAnswer(LookupAnswer{Contacts: []contact.Contact{one}}.Encode())
	if err != nil || !reflect.DeepEqual(back.Contacts, []contact.Contact{one}) {
		t.Errorf("%+v, %v", back, err)
	}
	if a, err := ParseLookupAnswer([]byte(`{"v":2,"contacts":[{"ID":"7","FamilyName":"V\u202eries","New":1}],"failure":"hub_slow"}`)); err != nil || a.Contacts[0].FamilyName != "Vries" || a.Failure != contact.HubSlow {
		t.Errorf("%+v, %v", a, err)
	}
	one.FamilyName = strings.Repeat("n", 200)
	many := LookupAnswer{}
	for range 1000 {
		many.Contacts = append(many.Contacts, one)
	}
	if back, err := ParseLookupAnswer(many.Encode()); err != nil || len(back.Contacts) == 0 || len(back.Contacts) > maxContacts {
		t.Errorf("%d contacts, %v", len(back.Contacts), err)
	}
	for _, bad := range []string{"", "null", "{}", "[]", `{"v":0}`, `{"v":1,"contacts":{}}`, `{"v":1,"contacts":[` + strings.Repeat(`{},`, maxContacts) + `{}]}`,
		`{"v":1,"failure":"hub\u202eslow"}`, `{"v":1,"failure":"` + strings.Repeat("x", maxFailure+1) + `"}`, `{"v":1,"x":"` + strings.Repeat("x", maxAnswer) + `"}`} {
		if _, err := ParseLookupAnswer([]byte(bad)); err == nil {
			t.Errorf("%.40q is an answer", bad)
		}
	}
}

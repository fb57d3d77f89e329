package fromsettings

import (
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
)

// TestSenders checks that there is one client per message box while the settings
// stay the same, and that items whose own box is gone go to the office's.
func TestSenders(t *testing.T) {
	set := settings.Hub{BaseURL: "https://hub.example", HubURL: "https://hub.example", ClientID: "office", OrganisationCode: "1234", SecretStore: "file", Intermediary: "ours"}
	s := &Senders{Dirs: must.Get(profile.Find(t.TempDir()))(t), Settings: func() settings.Hub { return set }}
	t.Cleanup(s.Close)
	ours, other := must.Get(s.Client("ours"))(t), must.Get(s.Client("other"))(t)
	if lost := must.Get(s.Client(""))(t); lost != ours || lost == other {
		t.Error("to another message box than the office's")
	}
	for _, change := range []func(){s.Renew, func() { set.ClientID = "another" }} {
		change()
		if now := must.Get(s.Client("ours"))(t); now == ours || now != must.Get(s.Client("ours"))(t) {
			t.Error("with what held before")
		}
	}
	set.Intermediary = ""
	if _, err := s.Client(""); contact.FailureOf(err) != contact.NotSetUp {
		t.Errorf("to none: %v", err)
	}
}

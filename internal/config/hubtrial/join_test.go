package hubtrial

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/config/setupfile"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/relaytest"
	"wiebelt/internal/text"
)

// TestJoin uses the address given, or that of the settings. A policy applies here too and
// is checked before the code is used, and so is a store that cannot keep the result. A code
// that is wrong, was used, or belongs to another site has one message.
func TestJoin(t *testing.T) {
	r, other := relaytest.Start(t, nil), relaytest.Start(t, nil)
	anna := users.Entry{User: "anna"}
	named := "[relay]\nurl = \"" + r.Address + "\"\nfingerprint = \"" + r.Fingerprint + "\"\n"
	linked := "[[softphone]]\nkind = \"relay\"\nname = \"ours\"\naddress = \"" + r.Address + "\"\n"
	used := r.Invite(anna)
	for name, c := range map[string]struct {
		user, policy string
		relay        Relay
		want         text.Key // "" for a link
	}{
		"by its address":           {"", "", Relay{r.Address + "/", r.Fingerprint, r.Invite(anna)}, ""},
		"by the settings":          {named, "", Relay{Code: " " + strings.ToLower(r.Invite(anna)) + " "}, ""},
		"by the policy":            {"", named, Relay{Code: r.Invite(anna)}, ""},
		"a link of the policy":     {"", named + linked, Relay{Code: r.Invite(anna)}, ""},
		"another's by the policy":  {"", named, Relay{other.Address, other.Fingerprint, other.Invite(anna)}, text.AdminLocked},
		"no links by the policy":   {named, "softphone = []\n", Relay{Code: used}, text.AdminLocked},
		"the policy's fingerprint": {"", strings.Replace(named, r.Fingerprint, other.Fingerprint, 1), Relay{r.Address, r.Fingerprint, used}, text.RelayJoinFingerprint},
		"a wrong code":             {named, "", Relay{Code: "2222-2222-2222-2222"}, text.RelayJoinCode},
		"no code":                  {named, "", Relay{Code: "hello"}, text.RelayJoinCode},
		"another site's":           {named, "", Relay{Code: other.Invite(anna)}, text.RelayJoinCode},
		"no address":               {"", "", Relay{Code: used}, text.RelayJoinAddress},
	} {
		t.Run(name, func(t *testing.T) {
			d := must.Get(profile.Find(t.TempDir()))(t)
			must.Do(t, d.Make())
			c.user = "[hub]\nsecret_store = \"file\"\n" + c.user
			must.Do(t, os.WriteFile(settings.Path(d), []byte(c.user), 0o600))
			before, _ := settings.Load(d)
			if c.policy != "" {
				path := filepath.Join(t.TempDir(), settings.PolicyFile)
				must.Do(t, os.WriteFile(path, []byte(c.policy+"[hub]\nsecret_store = \"file\"\n"), 0o600))
				before, _ = settings.CheckPolicy(path)
			}
			err := Join(t.Context(), d, before, c.relay)
			now, _ := settings.Load(d)
			if c.want != "" {
				if said, ok := err.(*text.Error); !ok || said.Key != c.want || now.HasRelayLink() {
					t.Errorf("%v", err)
				}
				return
			}
			must.Do(t, err)
			l := settings.Softphone{Kind: "relay", Name: "relay", Address: r.Address}
			if before.HasRelayLink() { // the policy's values are not written
				l = before.Softphones[0]
			} else if len(now.Softphones) != 1 || now.Softphones[0] != l {
				t.Fatalf("%+v", now.Softphones)
			}
			p := must.Get(fromsettings.Softphone(d, secret.KindFile, l))(t)
			linktest.Run(t, p).Until(link.Connected)
		})
	}
	d, _ := profile.Find(t.TempDir())
	s := settings.Defaults()
	s.Hub.SecretStore = secret.KindFile
	secrets := filepath.Join(d.State, "secrets")
	must.Do(t, errors.Join(d.Make(), os.WriteFile(secrets, nil, 0o600)))
	var refused *StoreError
	if err := Join(t.Context(), d, s, Relay{r.Address, r.Fingerprint, used}); !errors.As(err, &refused) {
		t.Errorf("nowhere to keep it: %v", err)
	}
	must.Do(t, os.Remove(secrets))
	must.Do(t, settings.Set(d, map[string]any{"softphone": []settings.Softphone{{Kind: "baresip"}}})) // since s was read
	for _, want := range []text.Key{"", text.RelayJoinCode} {
		err := Join(t.Context(), d, s, Relay{r.Address, r.Fingerprint, used})
		if said, _ := err.(*text.Error); want == "" && err != nil || want != "" && (said == nil || said.Key != want) {
			t.Errorf("used: %v", err)
		}
	}
	if now, _ := settings.Load(d); len(now.Softphones) != 2 || now.Softphones[0].Kind != "baresip" {
		t.Errorf("a phone added meanwhile is lost: %+v", now.Softphones)
	}
}

// TestJoinChecksFirst: a code is not redeemed if what comes with it cannot be written, or if
// links of which something is wrong would be lost.
func TestJoinChecksFirst(t *testing.T) {
	r := relaytest.Start(t, nil)
	d := must.Get(profile.Find(t.TempDir()))(t)
	must.Do(t, d.Make())
	code := r.Invite(users.Entry{User: "anna"})
	named := "[hub]\nsecret_store = \"file\"\n[relay]\nurl = \"" + r.Address + "\"\nfingerprint = \"" + r.Fingerprint + "\"\n"
	linked := "[[softphone]]\nkind = \"relay\"\naddress = \"" + r.Address + "\"\n"
	office := map[string]any{"support.contact": "Jan", "softphone": []settings.Softphone{{Kind: "baresip", Name: "baresip"}}}
	for _, c := range []struct {
		file    string
		changes map[string]any
		wants   bool
	}{
		{named + linked + "[card\n", map[string]any{"support.contact": "Jan"}, false},
		{named + "[[softphone]]\nkind = \"barsip\"\n", nil, false},
		{named + "[[softphone]]\nkind = \"barsip\"\n", office, true}, // which replaces them all
	} {
		must.Do(t, os.WriteFile(settings.Path(d), []byte(c.file), 0o600))
		before, _ := settings.Load(d)
		w, err := SaveRequest{Changes: c.changes}.join(t.Context(), d, before, Relay{Code: code})
		if (err == nil) != c.wants || (len(w.LinkSecrets) == 1) != c.wants {
			t.Errorf("%s: %v", c.file, err)
		}
		if !c.wants {
			continue
		}
		must.Get(Save(t.Context(), d, before, w))(t)
		if now, _ := settings.Load(d); len(now.Softphones) != 2 || now.Softphones[0].Kind != "baresip" || now.Softphones[1].Kind != "relay" {
			t.Errorf("%+v", now.Softphones)
		}
	}
}

// TestOpenSetupRelay: a file does not move users out of the relay that they joined, unless
// it names another one.
func TestOpenSetupRelay(t *testing.T) {
	usual := setupfile.WorkFactor
	t.Cleanup(func() { setupfile.WorkFactor = usual })
	setupfile.WorkFactor = 5
	const joined = "[[softphone]]\nkind = \"bria\"\n[[softphone]]\nkind = \"relay\"\naddress = \"https://relay.example/\"\n"
	before, _ := settings.Parse(joined)
	for url, want := range map[string]string{"https://relay.example": "baresip relay", "https://other.example": "baresip"} {
		office, _ := settings.Parse("[relay]\nurl = \"" + url + "\"\n[[softphone]]\nkind = \"baresip\"\n")
		var b bytes.Buffer
		phrase := must.Get(setupfile.Write(&b, setupfile.Office{Settings: office}))(t)
		f := must.Get(OpenSetup(b.Bytes(), phrase, "", before))(t)
		var kinds []string
		for _, l := range f.changes["softphone"].([]settings.Softphone) {
			kinds = append(kinds, l.Kind)
		}
		shown := slices.ContainsFunc(f.Rows, func(r Row) bool {
			return r.Key == "softphone" && strings.Contains(r.New, "relay") == strings.Contains(want, "relay")
		})
		if got := strings.Join(kinds, " "); got != want || !shown {
			t.Errorf("%s: %s, %+v", url, got, f.Rows)
		}
		f.Hub.Intermediary = "another" // the policy has changed meanwhile
		if _, err := f.Apply(t.Context(), profile.Dirs{Config: t.TempDir()}, "", nil, nil); !errors.Is(err, ErrPolicyChanged) {
			t.Errorf("another hub than was shown: %v", err)
		}
	}
}

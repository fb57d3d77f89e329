package fromsettings

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
	"wiebelt/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

// TestRingProgram checks that phones get the program that stays in place, if there is one.
func TestRingProgram(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "1.2.3")
	must.Do(t, os.Mkdir(own, 0o700))
	exe := filepath.Join(own, "wiebelt")
	for _, want := range []string{exe, filepath.Join(own, "wiebelt-ring"), filepath.Join(dir, "wiebelt-ring")} {
		if want != exe {
			must.Do(t, os.WriteFile(want, nil, 0o700))
		}
		if got := RingProgram(exe); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestSystemLanguage checks that the language is Dutch where language or region is
// Dutch, and English everywhere else, as POSIX and gettext read the environment.
func TestSystemLanguage(t *testing.T) {
	for env, want := range map[string]text.Language{
		"":                               text.English,
		"LANG=C":                         text.English,
		"LANG=C.UTF-8":                   text.English,
		"LANG=POSIX":                     text.English,
		"LC_ALL=C LANG=nl_NL.UTF-8":      text.English,
		"LC_MESSAGES=C LANG=nl_NL.UTF-8": text.English,
		"LANG=C LANGUAGE=nl":             text.English,
		"LANG=POSIX LANGUAGE=nl":         text.English,
		"LANG=nl_NL.UTF-8":               text.Dutch,
		"LANG=nl_BE@euro":                text.Dutch,
		"LANG=nl":                        text.Dutch,
		"LANG=en_NL.UTF-8":               text.Dutch,
		"LANG=en_NL@euro":                text.Dutch,
		"LANG=en_US.UTF-8":               text.English,
		"LANG=de_DE.UTF-8":               text.English,
		"LANG=nld":                       text.English, // not a locale's name
		"LANG=en_US LANGUAGE=nl:en":      text.Dutch,
		"LANG=nl_NL LANGUAGE=en_GB:nl":   text.English,
		"LC_ALL=nl_NL LANGUAGE=en":       text.Dutch,
		"LC_MESSAGES=nl_NL LANG=en_US":   text.Dutch,
		"LC_ALL=en_US LC_MESSAGES=nl_NL": text.English,
		"system=nl-NL":                   text.Dutch,
		"system=en-US":                   text.English,
		"system=en-US,en-NL":             text.Dutch,
		"system=en-US,nl-BE":             text.Dutch,
		"LANG=en_US system=nl-NL":        text.English,
	} {
		vars := map[string]string{}
		for _, v := range strings.Fields(env) {
			name, value, _ := strings.Cut(v, "=")
			vars[name] = value
		}
		system := func() []string { return strings.Split(vars["system"], ",") }
		if got := systemLanguage(func(name string) string { return vars[name] }, system); got != want {
			t.Errorf("%q: %s", env, got)
		}
	}
	t.Setenv("LC_ALL", "nl_NL.UTF-8")
	s := settings.Defaults()
	if s.UI.Language = "en"; Language(s) != text.English {
		t.Error("what is set does not count")
	}
}

// TestExchangesThroughTheProxy checks that links to exchanges use the hub's proxy: the
// one in the settings at the time of each connection, else the one in the environment.
func TestExchangesThroughTheProxy(t *testing.T) {
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	t.Setenv("https_proxy", "")
	for _, kind := range []string{"ari", "wazo", "3cx", "broadworks", "xelion", "yeastar-socket"} {
		dir := t.TempDir()
		d := must.Get(profile.Find(dir))(t)
		must.Do(t, d.Make())
		s := settings.Softphone{Kind: kind, Name: "centrale", Address: "https://pbx.example:5001", User: "u", Extension: "101"}
		store := secret.Open(secret.KindFile, d)
		ref := must.Get(secret.SoftphoneRef(s.Kind, s.Name, s.Address))(t)
		must.Do(t, store.Set(t.Context(), ref, "geheim"))
		p := must.Get(Softphone(d, secret.KindFile, s))(t)
		refusing := func() *nettest.Proxy {
			return nettest.StartProxy(t, nettest.Listen(t), "", nettest.Connect("HTTP/1.1 403 no\r\n\r\n"))
		}
		first, second, environment := refusing(), refusing(), refusing()
		t.Setenv("HTTPS_PROXY", "http://"+environment.Address)
		for _, c := range []struct {
			set string
			by  *nettest.Proxy
		}{{"proxy = \"http://" + first.Address + "\"", first}, {"proxy = \"http://" + second.Address + "\"", second}, {"", environment}} {
			must.Do(t, os.WriteFile(filepath.Join(dir, settings.FileName), []byte("[hub]\n"+c.set+"\n"), 0o600))
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			err := link.RunOnce(ctx, link.Config{}, p)
			cancel()
			if asked := c.by.Asked(); len(asked) == 0 || asked[0] != "pbx.example:5001" {
				t.Errorf("%s with %q: the proxy was asked for %q: %v", kind, c.set, asked, err)
			}
		}
	}
}

// shut is a store that returns no secrets.
type shut struct{ secret.Store }

func (shut) Get(context.Context, secret.Ref) (string, error) { return "", secret.ErrLocked }

// TestLinksSayWhy checks that an exchange whose secret is missing
// or locked reports that, and not that the exchange is absent.
func TestLinksSayWhy(t *testing.T) {
	d := must.Get(profile.Find(t.TempDir()))(t)
	for _, kind := range []string{"ari", "wazo", "3cx", "broadworks", "xelion", "yeastar-socket"} {
		s := settings.Softphone{Kind: kind, Name: "centrale", Address: "https://127.0.0.1:1", User: "u", Extension: "101"}
		p := must.Get(Softphone(d, secret.KindFile, s))(t)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		err := link.RunOnce(ctx, link.Config{}, p)
		cancel()
		if got := link.CauseOf(err); got != link.CauseNoSecret {
			t.Errorf("%s without a secret: %q (%v)", kind, got, err)
		}
	}
	_, err := linkSecret(shut{}, secret.Ref{})(t.Context())
	var refusal *link.Refusal
	if !errors.As(err, &refusal) || link.CauseOf(err) != link.CauseSecretStore {
		t.Errorf("a locked store: %v", err)
	}
	if _, err := hubSecret(shut{}, secret.Ref{})(t.Context()); contact.FailureOf(err) != contact.SecretUnreadable {
		t.Errorf("a locked store is %q", contact.FailureOf(err))
	}
}

// TestUnreadableDeletesNothing: what is off, or too old, only because a file cannot be read
// stays where it is.
func TestUnreadableDeletesNothing(t *testing.T) {
	type kept struct {
		keep          history.Keep
		days          int
		paused, spool bool
	}
	const utf16 = "[\x00h\x00"
	for name, c := range map[string]struct {
		user, policy string
		want         kept
	}{
		"nothing set":                {"", "", kept{history.KeepFull, 7, false, false}},
		"off by the policy":          {"", "[history]\nkeep = \"off\"\nchoices = false\n", kept{history.KeepOff, 7, false, false}},
		"a policy in UTF-16":         {"", utf16, kept{history.KeepPaused, history.AllDays, true, true}},
		"a policy with one mistake":  {"", "[history]\nkeep = \"numbers\"\nwhat is this", kept{history.KeepNumbers, history.AllDays, true, true}},
		"days of the policy in text": {"", "[history]\ndays = \"30\"\n", kept{history.KeepFull, history.AllDays, false, false}},
		"a user's file in UTF-16":    {utf16, "", kept{history.KeepPaused, history.AllDays, true, true}},
		"a user's days mistyped":     {"[history]\ndays = 9O\n", "", kept{history.KeepFull, history.AllDays, false, false}},
		"a line elsewhere":           {"[history]\nkeep = \"full\"\n[card]\ncorner \"top-left\"\n", "", kept{history.KeepFull, 7, false, false}},
		"a line in its table":        {"[history]\ndays 90\n", "", kept{history.KeepFull, history.AllDays, false, false}},
		"a store that is not known":  {"", "[hub]\nsecret_store = \"fiel\"\n", kept{history.KeepFull, 7, true, false}},
		"off by the user":            {"[history]\nkeep = \"off\"\n", "", kept{history.KeepOff, 7, false, false}},
	} {
		s, _ := settings.Parse(c.user)
		if c.policy != "" {
			path := filepath.Join(t.TempDir(), settings.PolicyFile)
			must.Do(t, os.WriteFile(path, []byte(c.policy), 0o600))
			s, _ = settings.CheckPolicy(path)
		}
		keep, days := HistoryKeep(s)
		if got := (kept{keep, days, ChoicesPaused(s), DeliveryPolicy(s).KeepSent > 0}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestNumberRules checks that our own numbers and those never to look up are known.
func TestNumberRules(t *testing.T) {
	s, problems := settings.Parse("[phone]\nnever_lookup = [\"020 123 45 67\"]\ninternal_digits = 0\n[[line]]\nnumber = \"020 765 43 21\"\nname = \"Schade\"\n")
	rules, err := NumberRules(s)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	if n := rules.Parse("+31207654321", ""); n.Kind != phone.OwnLine || n.LineName != "Schade" {
		t.Errorf("%+v", n)
	}
	if n := rules.Parse("020 123 45 67", ""); n.CanLookUp() {
		t.Errorf("%+v", n)
	}
	if n := rules.Parse("101", ""); n.Kind == phone.Internal {
		t.Errorf("no extensions: %+v", n)
	}
}

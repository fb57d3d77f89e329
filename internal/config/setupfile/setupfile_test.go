package setupfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/must"
)

const whole = `audit = "eventlog"
[hub]
base_url = "https://api.hub.example"
hub_url = "https://hub.example"
client_id = "office"
organisation_code = "1234"
proxy = "none"
extra_ca_file = "/etc/ssl/office.pem"
secret_expires = "2027-01-31"
secret_store = "file"
[support]
contact = "Jan (IT), toestel 140"
[phone]
call_back = "dial {number}"
never_lookup = ["0201234567"]
[history]
keep = "numbers"
[card]
privacy = "initials"
corner = "top-left"
[ui]
language = "en"
[listener]
port = 30000
[[line]]
number = "0201234568"
name = "Schade"
[[softphone]]
kind = "baresip"
address = "127.0.0.1:4444"
`

// hub is the least that a file must have.
const hub = "[hub]\nbase_url = \"https://a.example\"\nclient_id = \"c\"\norganisation_code = \"1\"\n"

func written(t testing.TB, text, secret string) (file []byte, phrase string) {
	t.Helper()
	s, problems := settings.Parse(text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var b bytes.Buffer
	phrase = must.Get(Write(&b, Office{Settings: s, Secret: secret}))(t)
	return b.Bytes(), phrase
}

// cheap lowers Work for the rest of a test.
func cheap(t *testing.T) {
	usual := WorkFactor
	t.Cleanup(func() { WorkFactor = usual })
	WorkFactor = 5
}

// sealed encrypts any content for a file.
func sealed(t testing.TB, plain, phrase string, factor int) []byte {
	t.Helper()
	to := must.Get(age.NewScryptRecipient(phrase))(t)
	to.SetWorkFactor(factor)
	var b bytes.Buffer
	w := must.Get(age.Encrypt(&b, to))(t)
	must.Get(w.Write([]byte(plain)))(t)
	must.Do(t, w.Close())
	return b.Bytes()
}

func plain(text, secret string) string {
	b, _ := json.Marshal(contents{format, 1, text, secret, ""})
	return string(b)
}

func TestRoundTrip(t *testing.T) {
	if WorkFactor != 18 {
		t.Error("a try at a passphrase costs less than it may")
	}
	cheap(t)
	b, phrase := written(t, whole, "canary secret")
	if again, other := written(t, whole, "canary secret"); bytes.Equal(again, b) || other == phrase || !regexp.MustCompile(`^([a-z2-7]{4}-){4}[a-z2-7]{4}$`).MatchString(phrase) {
		t.Errorf("the passphrase is %q and then %q", phrase, other)
	}
	if bytes.Contains(b, []byte("canary")) || bytes.Contains(b, []byte("example")) || bytes.Contains(b, []byte("0201234568")) {
		t.Error("something stands in the file as it is")
	}
	o := must.Get(Read(b, phrase))(t)
	if o.Secret != "canary secret" || o.Settings.Hub.BaseURL != "https://api.hub.example" || len(o.Settings.Lines) != 1 || len(o.Settings.Softphones) != 1 ||
		o.Settings.Support.Contact == "" || o.Settings.Hub.SecretExpires.IsZero() {
		t.Errorf("%+v", o.Settings)
	}
	c := o.Changes()
	for _, key := range []string{"history.keep", "card.privacy", "audit", "hub.proxy", "hub.extra_ca_file", "ui.language", "hub.secret_expires"} {
		if _, there := c[key]; !there {
			t.Errorf("%s does not travel", key)
		}
	}
	if s, _ := settings.Parse(whole); !slices.Equal(OmittedKeys(s), []string{"hub.secret_store", "phone.call_back", "listener.port", "card.corner"}) {
		t.Errorf("left behind: %v", OmittedKeys(s))
	}
	for _, never := range []string{"phone.call_back", "hub.secret_store", "listener.port"} {
		if _, there := c[never]; there || o.Settings.Source(never) != settings.Default {
			t.Errorf("%s was taken along", never)
		}
	}
	if v, there := c["hub.intermediary"]; !there || v != nil {
		t.Error("a key of the hub that is not set would stay from another hub")
	}
	if _, there := c["phone.region"]; there || slices.Contains(slices.Collect(maps.Keys(c)), "hub.lookup_timeout") {
		t.Error("a key that is not set is changed")
	}
	if s := fmt.Sprintf("%v %+v %#v", o, o, o); strings.Contains(s, "canary") {
		t.Error("printed")
	}
}

func TestRefused(t *testing.T) {
	cheap(t)
	good, phrase := written(t, whole, "s")
	changed := bytes.Clone(good)
	changed[len(changed)-1] ^= 1
	for name, c := range map[string]struct {
		file []byte
		key  bool // the error is about a key
	}{
		"nothing":            {nil, false},
		"a picture":          {[]byte("\x89PNG\r\n"), false},
		"cut in the header":  {good[:20], false},
		"cut at the key":     {good[:100], false},
		"cut in the middle":  {good[:len(good)/2], false},
		"cut at the end":     {good[:len(good)-1], false},
		"one bit":            {changed, false},
		"something after it": {append(bytes.Clone(good), 'x'), false},
		"far too large":      {bytes.Repeat([]byte("x"), maxFile+1), false},
		"not JSON":           {sealed(t, "x", phrase, 4), false},
		"another format":     {sealed(t, `{"format":"other","version":1,"settings":"","secret":"s"}`, phrase, 4), false},
		"another version":    {sealed(t, `{"format":"wiebelt-setup","version":2,"settings":"","secret":"s"}`, phrase, 4), false},
		"too much in it":     {sealed(t, plain(strings.Repeat("#", maxPlain), "s"), phrase, 4), false},
		"no secret":          {sealed(t, plain(hub, ""), phrase, 4), false},
		"a secret too long":  {sealed(t, plain(hub, strings.Repeat("x", 3000)), phrase, 4), false},
		"a code too long":    {sealed(t, strings.Replace(plain(hub, "s"), "{", `{"code":"`+strings.Repeat("x", maxCode+1)+`",`, 1), phrase, 4), false},
		"work for a minute":  {bytes.Replace(good, []byte(" 5\n"), []byte(" 22\n"), 1), false},
		"a command":          {sealed(t, plain(hub+"[phone]\ncall_back = \"rm {number}\"\n", "s"), phrase, 4), true},
		"an origin":          {sealed(t, plain(hub+"[listener]\nallowed_origins = [\"https://evil.example\"]\n", "s"), phrase, 4), true},
		"a wrong value":      {sealed(t, plain(hub+"[phone]\ninternal_digits = 99\n", "s"), phrase, 4), true},
		"no address":         {sealed(t, plain("[hub]\nclient_id = \"c\"\n", "s"), phrase, 4), true},
		"settings not UTF-8": {sealed(t, "{\"format\":\"wiebelt-setup\",\"version\":1,\"settings\":\"\\u0000\",\"secret\":\"s\"}", phrase, 4), true},
	} {
		_, err := Read(c.file, phrase)
		if _, key := errors.AsType[*KeyError](err); key != c.key || !key && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, wrong := range []string{"", "vier willekeurige woordjes", phrase + " ", strings.Repeat("x", maxPhrase+1)} {
		if _, err := Read(good, wrong); !errors.Is(err, ErrPassphrase) {
			t.Errorf("with another passphrase: %v", err)
		}
	}
}

// TestRelay: with a relay a file needs no hub and can contain a code, and without its
// passphrase the file is useless.
func TestRelay(t *testing.T) {
	cheap(t)
	print := strings.Repeat("5e", 32)
	text := "[hub]\nbase_url = \"https://a.example\"\nhub_url = \"https://hub.example\"\n[relay]\nurl = \"https://relay.example:8443\"\nfingerprint = \"" + print + "\"\n" +
		"[[softphone]]\nkind = \"relay\"\naddress = \"https://relay.example:8443\"\n[[softphone]]\nkind = \"bria\"\n"
	s, problems := settings.Parse(text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	const code = "7F3K-9QXM-2LHD-VT8W"
	var b bytes.Buffer
	phrase := must.Get(Write(&b, Office{Settings: s, Code: code}))(t)
	for _, hidden := range []string{"relay", print, code, "7F3K", "hub.example"} {
		if bytes.Contains(b.Bytes(), []byte(hidden)) {
			t.Errorf("%s stands in the file as it is", hidden)
		}
	}
	if o, err := Read(b.Bytes(), "aaaa-aaaa-aaaa-aaaa-aaaa"); !errors.Is(err, ErrPassphrase) || o != (Office{}) {
		t.Errorf("with another passphrase: %v", err)
	}
	o, err := Read(b.Bytes(), phrase)
	if err != nil || o.Code != code || o.Secret != "" || o.Settings.Relay != (settings.Relay{URL: "https://relay.example:8443", Fingerprint: print}) {
		t.Fatalf("%v: %+v", err, o.Settings)
	}
	if all := o.Settings.Softphones; len(all) != 1 || all[0].Kind != registry.Bria {
		t.Errorf("phones: %+v", all) // joining creates the one to the relay
	}
	if c := o.Changes(); c["relay.url"] == nil || c["relay.fingerprint"] == nil {
		t.Errorf("%v", c)
	}
	if s := fmt.Sprintf("%v %+v %#v", o, o, o); strings.Contains(s, code) {
		t.Error("printed")
	}
	for name, c := range map[string]contents{
		"a code for nowhere":    {format, 1, hub, "s", code},
		"no secret for its hub": {format, 1, strings.Replace(text, "[hub]\n", "[hub]\nclient_id = \"c\"\norganisation_code = \"1\"\n", 1), "", ""},
	} {
		if _, err := office(c); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// TestOldFiles: earlier files, with a passphrase that somebody made up and less
// work, still open.
func TestOldFiles(t *testing.T) {
	const old = "vier willekeurige woorden"
	if o, err := Read(sealed(t, plain(hub, "s"), old, 12), old); err != nil || o.Secret != "s" {
		t.Errorf("%v", err)
	}
}

func FuzzOffice(f *testing.F) {
	f.Add(whole, "s")
	f.Add("hub.base_url = 1\n[[line]]\n", "")
	f.Fuzz(func(t *testing.T, text, secret string) {
		if len(text) > 5000 {
			return
		}
		o, err := office(contents{format, 1, text, secret, ""})
		if err == nil {
			must.Get(settings.Compose(o.Changes()))(t)
		}
	})
}

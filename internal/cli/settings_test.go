package cli

import (
	"encoding/json"
	"encoding/xml"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

func setWhole(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	out := t.TempDir()
	exits(t, 0, "", "settings", "--templates", out)
	b := must.Get(os.ReadFile(filepath.Join(out, "policy-sample.en.toml")))(t)
	b = regexp.MustCompile(`(?m)^#(\[\[|[a-z0-9_]+ = )`).ReplaceAll(b, []byte("$1"))
	must.Do(t, os.WriteFile(filepath.Join(dir, "settings.toml"), b, 0o600))
	return dir
}

// TestKeysAreTheSameEverywhere compares the table of keys, the texts, the group policy template, its
// translations, the texts for Intune, the guide's table and the program's output, in both languages.
func TestKeysAreTheSameEverywhere(t *testing.T) {
	want := map[string]bool{}
	for _, k := range settings.AllEntries() {
		want[k.Key] = true
	}
	if len(want) < 60 {
		t.Fatalf("only %d keys", len(want))
	}
	same := func(where string, got map[string]bool) {
		t.Helper()
		for k := range want {
			if !got[k] {
				t.Errorf("%s: %s is missing", where, k)
			}
		}
		for k := range got {
			if !want[k] {
				t.Errorf("%s: %s is no key", where, k)
			}
		}
	}
	out := t.TempDir()
	exits(t, 0, "", "settings", "--templates", out)
	file := func(name string) string {
		return string(must.Get(os.ReadFile(filepath.Join(out, name)))(t))
	}
	found := func(re, s string) map[string]bool {
		all := map[string]bool{}
		for _, m := range regexp.MustCompile(re).FindAllStringSubmatch(s, -1) {
			all[m[1]] = true
		}
		return all
	}

	// The registry values that the template writes, as the program reads them.
	var admx struct {
		Policies []struct {
			Key   string `xml:"key,attr"`
			Value string `xml:"valueName,attr"`
			Boxes struct {
				All []struct {
					Value string `xml:"valueName,attr"`
				} `xml:",any"`
			} `xml:"elements"`
		} `xml:"policies>policy"`
	}
	must.Do(t, xml.Unmarshal([]byte(file("wiebelt.admx")), &admx))
	got := map[string]bool{}
	for _, p := range admx.Policies {
		group, ok := strings.CutPrefix(p.Key, `Software\Policies\Wiebelt`)
		if !ok {
			t.Errorf("the template writes to %s", p.Key)
		}
		group, _, _ = strings.Cut(strings.TrimPrefix(group, `\`), `\`) // line\1
		names := []string{p.Value}
		for _, b := range p.Boxes.All {
			names = append(names, b.Value)
		}
		for _, n := range names {
			if n != "" {
				got[strings.TrimPrefix(group+"."+n, ".")] = true
			}
		}
	}
	same("ADMX", got)
	for _, folder := range []string{"nl-NL", "en-US"} {
		// Every explanation ends with the key on its own line.
		same("ADML "+folder, found(`(?:\n|&#xA;)((?:[a-z0-9]+\.)?[a-z_0-9]+)(?:\n|&#xA;|</string>)`, file(folder+"/wiebelt.adml")))
	}
	same("Intune", found(`([^\s]+)`, strings.Join(regexp.MustCompile(`(?m)^[a-z0-9_. ]+$`).FindAllString(file("intune.txt"), -1), " ")))
	for _, l := range []text.Language{text.Dutch, text.English} {
		same("guide "+string(l), found("(?m)^\\| `([^`]+)` \\|", file("settings."+string(l)+".md")))

		help := exits(t, 0, "", "settings", "--help-keys", "--language", string(l), "--profile", t.TempDir())
		same("--help-keys "+string(l), found(`(?m)^([^\s:]+): `, help.out))

		same("texts "+string(l), func() map[string]bool {
			got := map[string]bool{}
			for k := range want {
				title, about := l.T(text.SettingTitle(k)), l.T(text.SettingHelp(k))
				if title != string(text.SettingTitle(k)) && strings.HasSuffix(about, ".") && about != string(text.SettingHelp(k)) {
					got[k] = true
				}
			}
			return got
		}())
		for k := range want {
			group, _, in := strings.Cut(k, ".")
			if !in {
				group = ""
			}
			if title := l.T(text.SettingGroup(group)); strings.HasPrefix(title, "setting.") {
				t.Errorf("%s: group %q has no title", l, group)
			}
		}
	}
	// Texts of keys that are gone.
	b := must.Get(os.ReadFile("../../assets/text/setting.json"))(t)
	var catalogue map[string]any
	must.Do(t, json.Unmarshal(b, &catalogue))
	helped := map[string]bool{}
	for k := range maps.Keys(catalogue) {
		if key, ok := strings.CutPrefix(k, "setting.help."); ok {
			helped[key] = true
		}
	}
	same("catalogue", helped)

	dir := setWhole(t)
	var o settingsJSON
	_, stdout, _ := run(t, "", "settings", "--json", "--profile", dir)
	must.Do(t, json.Unmarshal([]byte(stdout), &o))
	got = map[string]bool{}
	for _, s := range o.Settings {
		got[regexp.MustCompile(`\[\d+\]`).ReplaceAllString(s.Key, "")] = true
		if s.Source != "user" || s.Problem != "" || s.Type == "" || s.SetBy == "" {
			t.Errorf("%+v", s)
		}
	}
	same("settings --json", got)
	_, stdout, _ = run(t, "", "settings", "--profile", dir)
	got = found(`(?m)^(\S+) `, regexp.MustCompile(`\[\d+\]`).ReplaceAllString(stdout, ""))
	delete(got, "secret")
	same("settings", got)
}

func TestSettingsJSON(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "settings.toml"), []byte("[hub]\nbase_url = \"https://a.example\"\nclient_id = \"c\"\nproxy = 5\n\n[[softphone]]\nkind = \"ari\"\naddress = \"http://127.0.0.1:8088\"\n[nonsense]\nx = 1\n"), 0o600))
	var o settingsJSON
	if s := exits(t, 1, "", "settings", "--json", "--profile", dir).json(&o); s.err != "" {
		t.Fatal(s.err)
	}
	if want := []problemJSON{{"wrong_type", "user", "hub.proxy", 4, o.Problems[0].Message}, {"unknown_key", "user", "nonsense", 9, o.Problems[1].Message}}; !slices.Equal(o.Problems, want) {
		t.Errorf("%+v", o.Problems)
	}
	if i := slices.IndexFunc(o.Settings, func(s settingJSON) bool { return s.Key == "hub.proxy" }); i < 0 || o.Settings[i].Value != "system" ||
		o.Settings[i].Source != "default" || o.Settings[i].Problem == "" || o.Settings[i].SetBy != "admin" || o.Settings[i].Locked {
		t.Errorf("%+v", o.Settings[max(i, 0)])
	}
	if len(o.Secrets) != 2 || o.Secrets[0].Name != "hub" || o.Secrets[1].Name != "softphone ari" || o.Secrets[0].Store != "os" {
		t.Errorf("%+v", o.Secrets)
	}
}

func TestSettingsHelp(t *testing.T) {
	dir := t.TempDir()
	for l, want := range map[string]string{"nl": "Waarde: system", "en": "Value: system"} {
		if s := exits(t, 0, "", "settings", "hub.proxy", "--language", l, "--profile", dir).says(want); strings.Count(s.out, "hub.") != 1 {
			t.Error(s.out)
		}
	}
	exits(t, 2, "", "settings", "hub.nonsense", "--profile", dir)
}

func TestExpiryIsTold(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "settings.toml"), []byte("[hub]\nsecret_expires = \"2020-01-31\"\n[ui]\nlanguage = \"nl\"\n"), 0o600))
	exits(t, 0, "", "settings", "--profile", dir).complains("Het geheim is verlopen.")
}

// TestDamagedTokens: every command that shows tokens says how to get new ones,
// and the command that makes them works.
func TestDamagedTokens(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tokens.json")
	must.Do(t, os.WriteFile(path, []byte("{}"), 0o600))
	for _, args := range [][]string{{"settings", "--ways-in"}, {"recipe", "any-url"}} {
		exits(t, 1, "", append(args, "--profile", dir)...).complains("--renew-tokens")
	}
	first := exits(t, 0, "", "settings", "--renew-tokens", "--profile", dir).says("/v1/call/").out
	if exits(t, 0, "", "settings", "--ways-in", "--profile", dir).out != first {
		t.Error("other tokens are shown than were made")
	}
	if exits(t, 0, "", "settings", "--renew-tokens", "--profile", dir).out == first {
		t.Error("the tokens are the same as before")
	}
}

// TestNotWritten: a settings file that cannot be changed is no misuse of a command, which says
// that nothing was changed, in the language of the run.
func TestNotWritten(t *testing.T) {
	dir := t.TempDir()
	for file, says := range map[string]text.Key{
		"[history\nx": text.SettingsWindowNotWritable, "history = {}\n[[softphone]]\nkind = \"?\"\n": text.SettingsWindowByHand,
	} {
		for _, args := range [][]string{{"settings", "set", "history.days", "9"}, {"join", "https://relay.example", "2222-2222-2222-2222"}} {
			put(t, filepath.Join(dir, "settings.toml"), []byte(file))
			exits(t, exitFailed, "", append(args, "--profile", dir, "--language", "nl")...).complains(text.Dutch.T(says, "settings.toml"))
		}
	}
}

// TestAnotherStore: whoever chooses another place for secrets learns which are missing there.
func TestAnotherStore(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.toml")
	const links = "[[softphone]]\nkind = \"ari\"\nname = \"centrale\"\naddress = \"https://pbx.example\"\n"
	put(t, file, []byte("[hub]\nbase_url = \"https://hub.example\"\nclient_id = \"x\"\norganisation_code = \"1\"\nsecret_store = \"machine\"\n"+links))
	set := func(store string) said {
		return exits(t, 0, "", "settings", "set", "hub.secret_store", store, "--profile", dir, "--language", "en")
	}
	set("file").says("there is no secret for this address", "provision --softphone centrale")
	exits(t, 0, "s\n", "provision", "--secret-stdin", "--profile", dir)
	exits(t, 0, "s\n", "provision", "--secret-stdin", "--softphone", "centrale", "--profile", dir)
	set("file").hides("no secret", "--softphone")
	set("machine")
	exits(t, 0, "", "provision", "--secret-store", "file", "--profile", dir).hides("--softphone")
	put(t, file, []byte("[hub]\nsecret_store = \"machine\"\n[[softphone]]\nkind = \"relay\"\naddress = \"https://relay.example\"\n"))
	set("file").says("wiebelt join").hides("no secret")
}

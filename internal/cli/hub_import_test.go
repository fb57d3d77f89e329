package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

const samples = "../localhub/testdata/"

func emptyHub(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	d := must.Get(localhub.OpenData(t.Context(), dir))(t)
	must.Do(t, d.Close())
	return dir
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestHubImport(t *testing.T) {
	for _, file := range []string{"contacts.csv", "contacts.json"} {
		dir := emptyHub(t)
		for _, step := range []struct {
			args        []string
			code        int
			out, errOut string
		}{
			{[]string{"--check"}, 0, "contacts that can be taken over: 4; nothing was changed\n", "rows read: 4\n"},
			{nil, 0, "contacts taken over: 4; the hub now holds 4\n", "note: telephone numbers with fewer than nine digits: 1 (first: "},
			{nil, 1, "", "id: the hub has a contact with this id already\n"},
			{[]string{"--replace"}, 0, "contacts taken over: 4; the hub now holds 4\n", "note: contacts without a telephone number: 1 (first: "},
		} {
			s := exits(t, step.code, "", append([]string{"hub", "import", "--data", dir, samples + file}, step.args...)...).complains(step.errOut)
			if s.out != step.out {
				t.Errorf("%s %v: %s", file, step.args, s.out)
			}
		}
	}
}

// TestHubImportErrors checks that errors name line and column,
// twenty at most, and none of the contents.
func TestHubImportErrors(t *testing.T) {
	dir := emptyHub(t)
	file := writeFile(t, "fout.csv", "achternaam;telefoon;email\n"+strings.Repeat("Geheimhouder;0698765432;\"canary\nadres\"\n", 30))
	s := exits(t, 1, "", "hub", "import", "--data", dir, file)
	lines := strings.Split(strings.TrimSpace(s.err), "\n")
	if s.out != "" || len(lines) != 23 || lines[1] != "line 2: email: is no e-mail address" || lines[20] != "line 40: email: is no e-mail address" ||
		lines[21] != "and 10 more" || lines[22] != "wiebelt: Nothing was taken over: the file has errors." {
		t.Errorf("%s%s", s.out, s.err)
	}
	s.err = strings.ReplaceAll(s.err, "e-mail address\n", "")
	s.hides("Geheimhouder", "98765432", "canary", "adres\n")
	exits(t, 1, "", "hub", "import", "--data", dir, writeFile(t, "zonder.csv", "Geheimhouder;0698765432;canary\n")).
		complains("the names are id, ").hides("Geheimhouder", "98765432", "canary")
}

func TestHubImportUsage(t *testing.T) {
	dir := emptyHub(t)
	for _, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no file":      {[]string{"--data", dir}, 2, ""},
		"no folder":    {[]string{samples + "contacts.csv"}, 2, "--data"},
		"not a hub":    {[]string{"--data", t.TempDir(), samples + "contacts.csv"}, 1, "There is no hub in"},
		"not there":    {[]string{"--data", dir, filepath.Join(dir, "x.csv")}, 1, "x.csv"},
		"other format": {[]string{"--data", dir, writeFile(t, "x.xlsx", "")}, 2, ".csv or .json"},
		"empty":        {[]string{"--data", dir, writeFile(t, "x.csv", "")}, 1, "holds no contacts"},
	} {
		exits(t, c.code, "", append([]string{"hub", "import"}, c.args...)...).complains(c.says)
	}
}

// TestHubImportHelp checks that the help names every column and its sample is the tests' sample.
func TestHubImportHelp(t *testing.T) {
	help := exits(t, 0, "", "hub", "import", "--help").says(localhub.ImportColumns()...)
	b := must.Get(os.ReadFile(samples + "contacts.csv"))(t)
	for _, line := range strings.Split(strings.TrimPrefix(string(b), "\ufeff"), "\r\n")[:2] {
		help.says("    " + line + "\n")
	}
}

func TestHubImportBar(t *testing.T) {
	var b bytes.Buffer
	r := newImportReport(&env{err: &b, language: text.Dutch}, 1000, true)
	r.progress(10, 250)
	if s := b.String(); !strings.Contains(s, "lezen  25%") {
		t.Errorf("%q", s)
	}
	r.progress(40, 1000)
	if s := b.String(); !strings.Contains(s, "bewaren") || strings.Contains(s, "40 regels") {
		t.Errorf("%q", s)
	}
	r.end()
	if s := b.String(); !strings.HasSuffix(s, "\rregels gelezen: 40\n") {
		t.Errorf("%q", s)
	}
}

// TestHubUserListJSON lists the users who may log in, as JSON.
func TestHubUserListJSON(t *testing.T) {
	dir := emptyHub(t)
	for _, want := range []string{"[]\n", `[{"name":"anna","admin":true}]` + "\n"} {
		if s := exits(t, 0, "", "hub", "user", "list", "--data", dir, "--json"); s.out != want {
			t.Errorf("%s, want %s", s.out, want)
		}
		exits(t, 0, "een-wachtwoord\n", "hub", "user", "add", "--data", dir, "--admin", "--password-stdin", "Anna")
	}
}

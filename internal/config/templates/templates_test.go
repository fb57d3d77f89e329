package templates

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

func files() map[string]string {
	byPath := map[string]string{}
	for _, f := range Files() {
		byPath[f.Path] = string(f.Body)
	}
	return byPath
}

// node is any element of a template.
type node struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Nodes   []node     `xml:",any"`
	Text    string     `xml:",chardata"`
}

func (n node) attr(name string) string {
	for _, a := range n.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (n node) walk(visit func(node)) {
	visit(n)
	for _, c := range n.Nodes {
		c.walk(visit)
	}
}

func parse(t *testing.T, body string) node {
	t.Helper()
	var n node
	must.Do(t, xml.Unmarshal([]byte(body), &n))
	return n
}

// TestTemplate: Windows accepts the template: names are unique and use the characters
// that its schema allows, elements are in the schema's order, and references resolve
// in both languages.
func TestTemplate(t *testing.T) {
	all := files()
	root := parse(t, all["wiebelt.admx"])
	var order []string
	for _, n := range root.Nodes {
		order = append(order, n.XMLName.Local)
	}
	if want := []string{"policyNamespaces", "resources", "supportedOn", "categories", "policies"}; !slices.Equal(order, want) {
		t.Errorf("the parts stand as %v", order)
	}
	name, key := regexp.MustCompile(`^[A-Za-z0-9_]+$`), regexp.MustCompile(`^Software\\Policies\\Wiebelt(\\[a-z0-9]+)*$`)
	names, refs, elementIDs := map[string]bool{}, map[string]string{}, map[string]map[string]bool{}
	var current string
	root.walk(func(n node) {
		if n.XMLName.Space != "http://schemas.microsoft.com/GroupPolicy/2006/07/PolicyDefinitions" {
			t.Errorf("%s stands in namespace %q", n.XMLName.Local, n.XMLName.Space)
		}
		switch n.XMLName.Local {
		case "policy", "category", "definition":
			k := n.XMLName.Local + " " + n.attr("name")
			if names[k] || !name.MatchString(n.attr("name")) {
				t.Errorf("%s: twice, or no name", k)
			}
			names[k] = true
			if n.XMLName.Local == "policy" {
				if !key.MatchString(n.attr("key")) {
					t.Errorf("%s stands at %s", k, n.attr("key"))
				}
				current = n.attr("name")
				elementIDs[current] = map[string]bool{}
				var parts []string
				for _, c := range n.Nodes {
					parts = append(parts, c.XMLName.Local)
				}
				if s := strings.Join(parts, " "); s != "parentCategory supportedOn elements" && s != "parentCategory supportedOn enabledValue disabledValue" {
					t.Errorf("%s has %s", k, s)
				}
			}
		case "parentCategory":
			refs["category "+n.attr("ref")] = current
		case "supportedOn":
			if n.attr("ref") != "" {
				refs["definition "+n.attr("ref")] = current
			}
		case "text", "enum", "decimal", "multiText":
			if id := n.attr("id"); id != "" {
				if elementIDs[current][id] {
					t.Errorf("%s has %s twice", current, id)
				}
				elementIDs[current][id] = true
			}
		}
		for _, a := range n.Attrs {
			if s, ok := strings.CutPrefix(a.Value, "$("); ok {
				refs["$"+strings.TrimSuffix(s, ")")] = current
			}
		}
	})
	if len(elementIDs) < 60 {
		t.Errorf("only %d policies", len(elementIDs))
	}
	for _, l := range languages {
		have := map[string]bool{}
		for k := range names {
			have[k] = true
		}
		parse(t, all[l.code+"/wiebelt.adml"]).walk(func(n node) {
			switch n.XMLName.Local {
			case "string", "presentation":
				k := "$" + n.XMLName.Local + "." + n.attr("id")
				if have[k] || !name.MatchString(n.attr("id")) {
					t.Errorf("%s: %s: twice, or no name", l.code, k)
				}
				if n.XMLName.Local == "string" && strings.TrimSpace(n.Text) == "" {
					t.Errorf("%s: %s is empty", l.code, k)
				}
				have[k] = true
				if n.XMLName.Local == "presentation" {
					shown := map[string]bool{}
					for _, b := range n.Nodes {
						shown[b.attr("refId")] = true
					}
					if want := elementIDs[n.attr("id")]; fmt.Sprint(shown) != fmt.Sprint(want) {
						t.Errorf("%s: %s shows %v, not %v", l.code, k, shown, want)
					}
				}
			}
		})
		for r, by := range refs {
			if !have[r] {
				t.Errorf("%s: %s, which %s refers to, is not there", l.code, r, by)
			}
		}
	}
}

// TestIntune checks that each setting is listed with its address and a value of its kind.
func TestIntune(t *testing.T) {
	body := files()["intune.txt"]
	for address, want := range map[string]string{
		"wiebelt_hub/hub_open_at_start":     "<disabled/>",
		"wiebelt_listener/listener_enabled": "<enabled/>",
		"wiebelt_support/support_contact":   `<enabled/><data id="support_contact" value="Jan (IT), toestel 140"/>`,
		"wiebelt_card/card_fields":          `<enabled/><data id="card_fields" value="relation_number&#xF000;address&#xF000;producer&#xF000;last_modified_by"/>`,
		"wiebelt_line/line_1":               `<enabled/><data id="line_1_number" value="0201234567"/><data id="line_1_name" value="Schade"/>`,
	} {
		if want = "./Device/Vendor/MSFT/Policy/Config/Wiebelt~Policy~wiebelt~" + address + "\n   " + want + "\n"; !strings.Contains(body, want) {
			t.Errorf("%s is not there", want)
		}
	}
}

// TestSample checks that the sample as it is changes nothing, and that
// with every key enabled it is a valid policy that sets every key.
func TestSample(t *testing.T) {
	on := regexp.MustCompile(`(?m)^#(\[\[|[a-z0-9_]+ = )`)
	for path, body := range files() {
		if !strings.HasSuffix(path, ".toml") {
			continue
		}
		for text, want := range map[string]settings.Source{body: settings.Default, on.ReplaceAllString(body, "$1"): settings.User} {
			d := profile.Dirs{Config: t.TempDir()}
			must.Do(t, os.WriteFile(settings.Path(d), []byte(text), 0o600))
			s, problems := settings.Load(d)
			if len(problems) > 0 {
				t.Errorf("%s: %v", path, problems)
			}
			for _, e := range settings.Keys() {
				if s.Source(e.Key) != want {
					t.Errorf("%s: %s comes from %v", path, e.Key, s.Source(e.Key))
				}
			}
			if s.Source("line") != want || s.Source("softphone") != want {
				t.Errorf("%s: lists come from %v and %v", path, s.Source("line"), s.Source("softphone"))
			}
			if want == settings.User && (s.Softphones[0].Extension == "" || s.Lines[0].Name == "") {
				t.Errorf("%s: %+v %+v", path, s.Lines, s.Softphones)
			}
		}
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	for range 2 {
		must.Do(t, Write(dir))
	}
	for path, body := range files() {
		if b, err := os.ReadFile(filepath.Join(dir, path)); err != nil || !bytes.Equal(b, []byte(body)) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestDescribeProblem: a problem is described where it is, which may be no file.
func TestDescribeProblem(t *testing.T) {
	for where, p := range map[string]settings.Problem{
		"settings.toml, line 2":          {Source: settings.User, Line: 2},
		"policy.toml, line 2":            {Source: settings.Policy, Line: 2},
		`HKLM\Software\Policies\Wiebelt`: {Source: settings.Policy, Managed: true},
	} {
		p.Kind, p.Key = settings.NotAllowed, "history.days"
		if got, want := DescribeProblem(text.English, p), where+": history.days: may only be: 1 – 365."; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

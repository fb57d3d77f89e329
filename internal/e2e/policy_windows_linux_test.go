package e2e

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/config/templates"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/winetest"
)

// groupPolicy returns what the group policy editor writes into the registry when every
// policy of the template is set: the file for "reg import", and the keys with their values.
func groupPolicy(t *testing.T) (reg []byte, want map[string]string) {
	t.Helper()
	all := templates.Files()
	want = map[string]string{}
	var template []byte
	for _, f := range all {
		switch f.Path {
		case "wiebelt.admx":
			template = f.Body
		case "policy-sample.en.toml": // allowed values
			s, problems := settings.Parse(regexp.MustCompile(`(?m)^#(\[\[|[a-z0-9_]+ = )`).ReplaceAllString(string(f.Body), "$1"))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			for _, v := range s.Values() {
				want[v.Key] = v.Value
			}
		}
	}
	want["hub.extra_ca_file"] = `C:\ca.pem`
	type element struct {
		XMLName xml.Name
		Value   string `xml:"valueName,attr"`
	}
	var admx struct {
		Policies []struct {
			Key   string `xml:"key,attr"`
			Value string `xml:"valueName,attr"`
			Boxes struct {
				All []element `xml:",any"`
			} `xml:"elements"`
		} `xml:"policies>policy"`
	}
	must.Do(t, xml.Unmarshal(template, &admx))
	b := bytes.NewBufferString("Windows Registry Editor Version 5.00\r\n")
	for _, p := range admx.Policies {
		place := strings.Trim(strings.TrimPrefix(p.Key, `Software\Policies\Wiebelt`), `\`)
		if group, n, in := strings.Cut(place, `\`); in {
			place = group + "[" + n + "]"
			if n != "1" {
				continue // one of each is enough
			}
		}
		fmt.Fprintf(b, "\r\n[HKEY_LOCAL_MACHINE\\%s]\r\n", p.Key)
		if p.Value != "" {
			p.Boxes.All = append(p.Boxes.All, element{xml.Name{Local: "flag"}, p.Value})
		}
		for _, e := range p.Boxes.All {
			v := want[strings.TrimPrefix(place+"."+e.Value, ".")]
			switch e.XMLName.Local {
			case "flag":
				fmt.Fprintf(b, "%q=dword:%08x\r\n", e.Value, map[string]int{"true": 1}[v])
			case "decimal":
				n, err := strconv.Atoi(v)
				if err != nil {
					t.Fatalf("%s: %v", e.Value, err)
				}
				fmt.Fprintf(b, "%q=dword:%08x\r\n", e.Value, n)
			case "multiText":
				var hex []string
				for _, u := range utf16.Encode([]rune(strings.ReplaceAll(v, ", ", "\x00") + "\x00\x00")) {
					hex = append(hex, fmt.Sprintf("%02x,%02x", u&0xff, u>>8))
				}
				fmt.Fprintf(b, "%q=hex(7):%s\r\n", e.Value, strings.Join(hex, ","))
			default:
				fmt.Fprintf(b, "%q=%q\r\n", e.Value, v)
			}
		}
	}
	return b.Bytes(), want
}

// policyUnderWine checks that with every policy of the template set, every key
// has its value from the policy, and that a value of the wrong type is reported.
func policyUnderWine(t *testing.T, p *winetest.Prefix, exe string) {
	t.Helper()
	read := func(what []byte) (e effectiveSettings) {
		t.Helper()
		file := filepath.Join(p.Dir, "drive_c", "policy.reg")
		wide := []byte{0xff, 0xfe} // UTF-16, as the version 5.00 promises
		for _, u := range utf16.Encode([]rune(string(what))) {
			wide = append(wide, byte(u), byte(u>>8))
		}
		must.Do(t, os.WriteFile(file, wide, 0o600))
		if out, err := p.Command("reg", "import", `C:\policy.reg`).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		out, err := p.Command(exe, "settings", "--json", "--profile", wineProfile).Output()
		if err := json.Unmarshal(out, &e); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if (err != nil) != (len(e.Problems) > 0) {
			t.Errorf("%v with %d problems", err, len(e.Problems))
		}
		return e
	}
	reg, want := groupPolicy(t)
	e := read(reg)
	if len(e.Problems) > 0 {
		t.Errorf("%+v", e.Problems)
	}
	for _, s := range e.Settings {
		if s.Source != "policy" || s.Value != want[s.Key] || !s.Locked {
			t.Errorf("%+v, want %q", s, want[s.Key])
		}
		delete(want, s.Key)
	}
	if len(want) > 0 {
		t.Errorf("not read: %v", want)
	}
	many := bytes.NewBufferString("Windows Registry Editor Version 5.00\r\n") // a number block of a whole office
	for n := 2; n <= 150; n++ {
		fmt.Fprintf(many, "\r\n[HKEY_LOCAL_MACHINE\\%s\\line\\%d]\r\n\"number\"=\"0201234%03d\"\r\n", settings.PolicyRegistryKey, n, n)
	}
	lines := 0
	for _, s := range read(many.Bytes()).Settings {
		if strings.HasPrefix(s.Key, "line[") && strings.HasSuffix(s.Key, "].number") {
			lines++
		}
	}
	if lines != 150 {
		t.Errorf("%d lines count of 150", lines)
	}
	e = read([]byte("Windows Registry Editor Version 5.00\r\n\r\n[HKEY_LOCAL_MACHINE\\Software\\Policies\\Wiebelt\\history]\r\n\"days\"=\"many\"\r\n\"keep\"=hex:01,02\r\n\"years\"=dword:00000001\r\n"))
	var keys []string
	for _, pr := range e.Problems {
		keys = append(keys, pr.Key+" "+pr.Kind)
	}
	if got := strings.Join(keys, ", "); got != "history.days wrong_type, history.keep wrong_type, history.years unknown_key" {
		t.Errorf("%s", got)
	}
}

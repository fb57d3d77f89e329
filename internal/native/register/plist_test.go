package register

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// plist reads a property list: dict, array, string, true and false.
func plist(s string) (any, error) {
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		tok, err := d.Token()
		if err != nil {
			return nil, err
		}
		if e, ok := tok.(xml.StartElement); ok {
			if e.Name.Local != "plist" || len(e.Attr) != 1 || e.Attr[0].Value != "1.0" {
				return nil, fmt.Errorf("root %v", e)
			}
			v, err := value(d)
			if err != nil {
				return nil, err
			}
			for { // nothing may follow but white space
				tok, err := d.Token()
				if err == io.EOF {
					return v, nil
				}
				if err != nil {
					return nil, err
				}
				if _, start := tok.(xml.StartElement); start {
					return nil, errors.New("more than one value")
				}
			}
		}
	}
}

var errEnd = errors.New("end of a collection")

func value(d *xml.Decoder) (any, error) {
	for {
		tok, err := d.Token()
		if err != nil {
			return nil, err
		}
		switch e := tok.(type) {
		case xml.EndElement:
			return nil, errEnd
		case xml.CharData:
			if strings.TrimSpace(string(e)) != "" {
				return nil, fmt.Errorf("loose text %q", e)
			}
		case xml.StartElement:
			switch e.Name.Local {
			case "true", "false":
				return e.Name.Local == "true", d.Skip()
			case "string", "key":
				var s string
				err := d.DecodeElement(&s, &e)
				return s, err
			case "array":
				all := []any{}
				for {
					v, err := value(d)
					if err == errEnd {
						return all, nil
					}
					if err != nil {
						return nil, err
					}
					all = append(all, v)
				}
			case "dict":
				m := map[string]any{}
				for {
					k, err := value(d)
					if err == errEnd {
						return m, nil
					}
					if err != nil {
						return nil, err
					}
					if m[k.(string)], err = value(d); err != nil {
						return nil, err
					}
				}
			}
			return nil, fmt.Errorf("unknown element %s", e.Name.Local)
		}
	}
}

func TestInfoPlist(t *testing.T) {
	got, err := plist(InfoPlist())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"LSUIElement": true, "CFBundleURLTypes": []any{map[string]any{
		"CFBundleTypeRole": "Viewer", "CFBundleURLName": "nl.wiebelt.companion.call", "CFBundleURLSchemes": []any{"wiebelt"}}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	b, err := os.ReadFile("../../../FyneApp.toml")
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?m)^ID = "(.*)"$`).FindSubmatch(b); m == nil || string(m[1]) != bundleID {
		t.Errorf("the bundle is %q, and %q here", m, bundleID)
	}
}

func TestLaunchAgent(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want []any
	}{
		{Options{Exe: "/Applications/Wiebelt.app/Contents/MacOS/wiebelt"}, []any{"/Applications/Wiebelt.app/Contents/MacOS/wiebelt", "run", "--background"}},
		{Options{Exe: "/Applications/A & <b> 'c' ]]> é.app/wiebelt", Profile: "/Users/x/a&amp;b"},
			[]any{"/Applications/A & <b> 'c' ]]> é.app/wiebelt", "--profile", "/Users/x/a&amp;b", "run", "--background"}},
	} {
		s, err := LaunchAgent(c.o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := plist(s)
		if err != nil {
			t.Fatalf("%v\n%s", err, s)
		}
		want := map[string]any{"Label": bundleID, "ProgramArguments": c.want, "RunAtLoad": true, "LimitLoadToSessionType": "Aqua", "ProcessType": "Interactive"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v\nwant %v", got, want)
		}
	}
	for _, o := range []Options{{}, {Exe: "wiebelt"}, {Exe: "/a\nb"}, {Exe: "/a\xff"}, {Exe: "/a", Profile: "b"}} {
		if _, err := LaunchAgent(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

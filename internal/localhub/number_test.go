package localhub

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
)

func TestLastNine(t *testing.T) {
	for in, want := range map[string]string{
		"0612345678": "612345678", "+31 6 12 34 56 78": "612345678", "123456789": "123456789", "12345678": "",
		"sip:0612345678@10.1.2.3": "612345678", "tel:0201234567;ext=99": "201234567", "": "", "x": "",
		"020-1234567 tst 12": "201234567", "thuis: 020-1234567": "201234567", "<sip:0612345678@h>;tag=123456789": "612345678",
		"06\u00a01234\u20115678": "612345678", "0900-1234": "", "\xff0612345678": "612345678",
	} {
		got, ok := lastNine(in)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestEmail(t *testing.T) {
	for in, want := range map[string]bool{
		"a@b.nl": true, " A@B.NL ": true, "0612345678@pbx": false, "sip:jan@pbx": false, "jan@": false, "@x": false,
		"112@x": true, "jan 1@x": false, "jan@x;y": false,
	} {
		if _, ok := email(in); ok != want {
			t.Errorf("%q: %v", in, ok)
		}
	}
}

func FuzzLastNine(f *testing.F) {
	for _, s := range []string{"0612345678", "+31 (0)6 12", "sip:06@x", "<>", "a@b", "06-12345678 (x)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		nine, ok := lastNine(s)
		if ok != (len(nine) == 9) || strings.Trim(nine, "0123456789") != "" {
			t.Fatalf("%q", nine)
		}
		if ok {
			for _, same := range []string{nine, "+31" + nine, "0031 (0)" + nine[:3] + "-" + nine[3:] + " "} {
				if again, _ := lastNine(same); again != nine {
					t.Fatalf("%q became %q", same, again)
				}
			}
		}
		if term, ok := email(s); ok {
			if again, ok := email(term); !ok || again != term {
				t.Fatalf("%q became %q", term, again)
			}
		}
		_, _ = termOf(s)
	})
}

func FuzzBasicCredentials(f *testing.F) {
	for _, s := range []string{"a:b", "a%3Ab:c+d", ":", "a:%zz", "é:ü", "a:b:c"} {
		f.Add("Basic " + base64.StdEncoding.EncodeToString([]byte(s)))
	}
	f.Add("Basic")
	f.Add("bearer x")
	f.Fuzz(func(t *testing.T, header string) {
		for _, c := range basicCredentials(header) {
			if c.id == "" || !printable(c.id) || !printable(c.secret) {
				t.Fatalf("%q", c)
			}
		}
		// What a client writes is read back, raw and encoded.
		id, secret, found := strings.Cut(header, ":")
		if !found || id == "" || !printable(header) || len(header) > 500 {
			return
		}
		raw := basicCredentials("Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret)))
		if len(raw) == 0 || raw[0] != (credentials{id, secret}) {
			t.Fatalf("raw %q: %q", header, raw)
		}
		enc := basicCredentials("Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(id)+":"+url.QueryEscape(secret))))
		if len(enc) == 0 || enc[len(enc)-1] != (credentials{id, secret}) {
			t.Fatalf("encoded %q: %q", header, enc)
		}
	})
}

package localhub

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestTermOf(t *testing.T) {
	for want, all := range map[string][]string{
		"612345678": {
			"0612345678", "06-12345678", "06 12 34 56 78", "+31612345678", "+31 (0)6 1234 5678", "0031612345678", "(06) 1234.5678", "612345678", " 31612345678",
			"06/123 456 78", "+31\u00a06\u201112345678", "sip:0612345678@10.11.12.13:5060;user=phone", "<sip:+31612345678@pbx.example;transport=tcp>",
			`"Jan 2" <sip:0612345678@pbx>`, "tel:+31-6-1234-5678;ext=12", "Mob. 06-12345678", "06-12345678 (privé 2)", "+99 777 612345678",
			"sip:0612345678@10.1.2.3", "<sip:0612345678@h>;tag=123456789", "06\u00a01234\u20115678", "\xff0612345678", "0612345678@pbx",
		},
		"201234567": {"tel:0201234567;ext=99", "020-1234567 tst 12", "thuis: 020-1234567"},
		"123456789": {"123456789"},
		"a@b.nl":    {"a@b.nl", " A@B.NL "},
		"112@x":     {"112@x"},
		"":          {"12345678", "", "x", "0900-1234", "sip:jan@pbx", "jan@", "@x", "jan 1@x", "jan@x;y"},
	} {
		for _, s := range all {
			if got, ok := termOf(s); got != want || ok != (want != "") {
				t.Errorf("%q: %q, want %q", s, got, want)
			}
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
	read := func(header string) []credentials {
		return basicCredentials(&http.Request{Header: http.Header{"Authorization": {header}}})
	}
	f.Fuzz(func(t *testing.T, header string) {
		for _, c := range read(header) {
			if c.id == "" || !printable(c.id) || !printable(c.secret) {
				t.Fatalf("%q", c)
			}
		}
		// The credentials that a client sends are read back, raw and encoded.
		id, secret, found := strings.Cut(header, ":")
		if !found || id == "" || !printable(header) || len(header) > 500 {
			return
		}
		raw := read("Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret)))
		if len(raw) == 0 || raw[0] != (credentials{id, secret}) {
			t.Fatalf("raw %q: %q", header, raw)
		}
		enc := read("Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(id)+":"+url.QueryEscape(secret))))
		if len(enc) == 0 || enc[len(enc)-1] != (credentials{id, secret}) {
			t.Fatalf("encoded %q: %q", header, enc)
		}
	})
}

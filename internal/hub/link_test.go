package hub

import (
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

func TestLinks(t *testing.T) {
	l := must.Get(NewLinkChecker("https://Hub.example/praktijk/"))(t)
	const p = "https://hub.example/praktijk/contacts/viewcontact/"
	for link, want := range map[string]string{
		p + "c1":          p + "c1",
		p + "3f2a-9c.x_~": p + "3f2a-9c.x_~",
		p + "a%20b%2E":    p + "a%20b%2E",
		"HTTPS://HUB.EXAMPLE:443/praktijk/contacts/viewcontact/c1": p + "c1",
		p + strings.Repeat("a", 200):                               p + strings.Repeat("a", 200),
	} {
		if got, err := l.Check(link); err != nil || got != want {
			t.Errorf("%q: %q, %v", link, got, err)
		}
	}
	hostile := []string{"", "c1", "/praktijk/contacts/viewcontact/c1", "//hub.example/praktijk/contacts/viewcontact/c1", p,
		p + "c1/", p + "c1/d", p + "/c1", p + "..", p + ".", p + "%2e%2e", p + "%2E", p + "c1?x=1", p + "c1?", p + "c1#x", p + "c1#",
		p + "a%2Fb", p + "a%2fb", p + "a%5Cb", p + "a%5cb", p + "a%00b", p + "a%0Ab", p + "a%1F", p + "a%7Fb", p + "a%", p + "a%2", p + "a%zz",
		p + `a\b`, p + "a b", p + "a\tb", p + "a\nb", p + "a\x00b", p + "é", p + "a;b", p + "a:b", p + "a@b", p + "a&b", p + "a=b", p + "a+b", p + "a,b", p + "a!b", p + "(a)", p + "a'b", p + `a"b`, p + "<a>", p + "a|b", p + "{a}", p + "a^b", p + "a`b", p + "$(a)", p + "a*b", p + "[a]",
		p + strings.Repeat("a", 201), p + strings.Repeat("a", 2049),
		" " + p + "c1", p + "c1 ", "\u202e" + p + "c1",
		"https://hub.example/contacts/viewcontact/c1", "https://hub.example/praktijk//contacts/viewcontact/c1", "https://hub.example/praktijk/../praktijk/contacts/viewcontact/c1",
		"https://hub.example/praktijk/contacts/viewcontacts/c1", "https://hub.example/praktijk/Contacts/viewcontact/c1", "https://hub.example/praktijk/contacts%2Fviewcontact/c1", "https://hub.example/praktijk/contacts/viewcontact%2Fc1", "https://hub.example/praktij%6B/contacts/viewcontact/c1",
		"http://hub.example/praktijk/contacts/viewcontact/c1", "https://hub.example:444/praktijk/contacts/viewcontact/c1", "https://hub.example:/praktijk/contacts/viewcontact/c1", "https://hub.example:80/praktijk/contacts/viewcontact/c1",
		"https://evil.example/praktijk/contacts/viewcontact/c1", "https://hub.example.evil/praktijk/contacts/viewcontact/c1", "https://evilhub.example/praktijk/contacts/viewcontact/c1", "https://sub.hub.example/praktijk/contacts/viewcontact/c1", "https://hub.example./praktijk/contacts/viewcontact/c1",
		"https://hub.example@evil.example/praktijk/contacts/viewcontact/c1", "https://user@hub.example/praktijk/contacts/viewcontact/c1", "https://user:pass@hub.example/praktijk/contacts/viewcontact/c1", "https://@hub.example/praktijk/contacts/viewcontact/c1",
		"https:hub.example/praktijk/contacts/viewcontact/c1", "https:/hub.example/praktijk/contacts/viewcontact/c1", `https:\\hub.example\praktijk\contacts\viewcontact\c1`, "https:///hub.example/praktijk/contacts/viewcontact/c1",
		"javascript:alert(1)", "file:///etc/passwd", "file://hub.example/praktijk/contacts/viewcontact/c1", `\\hub.example\share`, "ms-settings:", "data:text/html,x", "ftp://hub.example/praktijk/contacts/viewcontact/c1", "wss://hub.example/praktijk/contacts/viewcontact/c1", "view-source:" + p + "c1", "mailto:a@hub.example", "tel:+31612345678", "wiebelt:call?number=1", "-x", "--help", "$(xdg-open)", "`id`",
		"https://hub.exаmple/praktijk/contacts/viewcontact/c1", "https://xn--hub-0ga.example/praktijk/contacts/viewcontact/c1", "https://0x7f000001/praktijk/contacts/viewcontact/c1", "https://[::1]/praktijk/contacts/viewcontact/c1", "https://hub.example%00.evil/praktijk/contacts/viewcontact/c1", "https://hub.example%2eevil/praktijk/contacts/viewcontact/c1",
	}
	for _, link := range hostile {
		if got, err := l.Check(link); err == nil {
			t.Errorf("%q is opened as %q", link, got)
		}
	}
}

func TestLinksWithoutAHub(t *testing.T) {
	l := must.Get(NewLinkChecker(""))(t)
	if _, err := l.Check("https://hub.example/contacts/viewcontact/c1"); err != errNoHub {
		t.Errorf("%v", err)
	}
	if _, err := NewLinkChecker("http://hub.example"); err == nil {
		t.Error("plain http was accepted")
	}
	local := must.Get(NewLinkChecker("http://127.0.0.1:8080"))(t)
	if got, err := local.Check("http://127.0.0.1:8080/contacts/viewcontact/c1"); err != nil || got != "http://127.0.0.1:8080/contacts/viewcontact/c1" {
		t.Errorf("%q %v", got, err)
	}
}

func FuzzLink(f *testing.F) {
	l, err := NewLinkChecker("https://hub.example")
	must.Do(f, err)
	f.Add("https://hub.example/contacts/viewcontact/c1")
	f.Add("https://hub.example:443/contacts/viewcontact/%41")
	f.Fuzz(func(t *testing.T, link string) {
		got, err := l.Check(link)
		if err == nil && !strings.HasPrefix(got, "https://hub.example/contacts/viewcontact/") {
			t.Fatalf("%q", got)
		}
		if err == nil {
			if again, err := l.Check(got); err != nil || again != got {
				t.Fatalf("%q is not stable: %q %v", got, again, err)
			}
		}
	})
}

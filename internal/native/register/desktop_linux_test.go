package register

import "testing"

func TestExecLine(t *testing.T) {
	for want, argv := range map[string][]string{
		"/usr/bin/wiebelt open-url -- %u":                        {"/usr/bin/wiebelt", "open-url", "--", "%u"},
		`"/opt/Wie belt/wiebelt" open-url -- %u`:                 {"/opt/Wie belt/wiebelt", "open-url", "--", "%u"},
		`/opt/100%%/wiebelt open-url -- %u`:                      {"/opt/100%/wiebelt", "open-url", "--", "%u"},
		`"/opt/a\\$b\\\\c\\` + "`" + `d/wiebelt" open-url -- %u`: {"/opt/a$b\\c`d/wiebelt", "open-url", "--", "%u"},
	} {
		if got := execLine(argv...); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got := programOf(want); got != argv[0] {
			t.Errorf("%s: the program is %s", want, got)
		}
	}
}

func TestSetDefault(t *testing.T) {
	const m, id = "x-scheme-handler/wiebelt", "wiebelt-link.desktop"
	other := "# mine\n[Added Associations]\nx-scheme-handler/wiebelt=old.desktop;\n\n[Default Applications]\ntext/html=chromium.desktop\n"
	for _, c := range []struct {
		name, text string
		enter      bool
		want       string
	}{
		{"a new file", "", true, "[Default Applications]\n" + m + "=" + id + ";\n"},
		{"beside others", other, true, other + m + "=" + id + ";\n"},
		{"in the middle", "[Default Applications]\na=b\n[Removed Associations]\nc=d\n", true, "[Default Applications]\na=b\n" + m + "=" + id + ";\n[Removed Associations]\nc=d\n"},
		{"no such group", "[Removed Associations]\nc=d\n", true, "[Removed Associations]\nc=d\n\n[Default Applications]\n" + m + "=" + id + ";\n"},
		{"somebody else's", "[Default Applications]\n" + m + " = x.desktop;y.desktop\n", true, "[Default Applications]\n" + m + "=" + id + ";\n"},
		{"twice", "[Default Applications]\n" + m + "=" + id + ";\n", true, "[Default Applications]\n" + m + "=" + id + ";\n"},
		{"taken out", other + m + "=" + id + ";\n", false, other},
		{"taken out beside another", "[Default Applications]\n" + m + "=" + id + ";x.desktop;\n", false, "[Default Applications]\n" + m + "=x.desktop;\n"},
		{"not ours to take out", "[Default Applications]\n" + m + "=x.desktop\n", false, "[Default Applications]\n" + m + "=x.desktop;\n"},
		{"nothing to take out", "", false, ""},
	} {
		if got := setDefault(c.text, m, id, c.enter); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if c.enter && defaultOf(c.want, m) != id {
			t.Errorf("%s: read back as %q", c.name, defaultOf(c.want, m))
		}
	}
}

func FuzzSetDefault(f *testing.F) {
	f.Add("[Default Applications]\nx=y\n")
	f.Fuzz(func(t *testing.T, text string) {
		const m = "x-scheme-handler/wiebelt"
		if got := defaultOf(setDefault(text, m, "a.desktop", true), m); got != "a.desktop" {
			t.Fatalf("%q", got)
		}
	})
}

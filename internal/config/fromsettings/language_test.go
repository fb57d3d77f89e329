package fromsettings

import (
	"strings"
	"testing"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/text"
)

// TestSystemLanguage checks that the language is Dutch where language or region is
// Dutch, and English everywhere else, as POSIX and gettext read the environment.
func TestSystemLanguage(t *testing.T) {
	for env, want := range map[string]text.Language{
		"":                               text.English,
		"LANG=C":                         text.English,
		"LANG=C.UTF-8":                   text.English,
		"LANG=POSIX":                     text.English,
		"LC_ALL=C LANG=nl_NL.UTF-8":      text.English,
		"LC_MESSAGES=C LANG=nl_NL.UTF-8": text.English,
		"LANG=C LANGUAGE=nl":             text.English,
		"LANG=POSIX LANGUAGE=nl":         text.English,
		"LANG=nl_NL.UTF-8":               text.Dutch,
		"LANG=nl_BE@euro":                text.Dutch,
		"LANG=nl":                        text.Dutch,
		"LANG=en_NL.UTF-8":               text.Dutch,
		"LANG=en_NL@euro":                text.Dutch,
		"LANG=en_US.UTF-8":               text.English,
		"LANG=de_DE.UTF-8":               text.English,
		"LANG=nld":                       text.English, // not a locale's name
		"LANG=en_US LANGUAGE=nl:en":      text.Dutch,
		"LANG=nl_NL LANGUAGE=en_GB:nl":   text.English,
		"LC_ALL=nl_NL LANGUAGE=en":       text.Dutch,
		"LC_MESSAGES=nl_NL LANG=en_US":   text.Dutch,
		"LC_ALL=en_US LC_MESSAGES=nl_NL": text.English,
		"system=nl-NL":                   text.Dutch,
		"system=en-US":                   text.English,
		"system=en-US,en-NL":             text.Dutch,
		"system=en-US,nl-BE":             text.Dutch,
		"LANG=en_US system=nl-NL":        text.English,
	} {
		vars := map[string]string{}
		for _, v := range strings.Fields(env) {
			name, value, _ := strings.Cut(v, "=")
			vars[name] = value
		}
		system := func() []string { return strings.Split(vars["system"], ",") }
		if got := systemLanguage(func(name string) string { return vars[name] }, system); got != want {
			t.Errorf("%q: %s", env, got)
		}
	}
	t.Setenv("LC_ALL", "nl_NL.UTF-8")
	s := settings.Defaults()
	if s.UI.Language = "en"; Language(s) != text.English {
		t.Error("what is set does not count")
	}
}

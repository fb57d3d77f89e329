package configure

import (
	"os"
	"strings"

	"wiebelt/internal/settings"
	"wiebelt/internal/text"
)

// Language is the language of everything a person reads: as set, else Dutch if
// the system's language or region is Dutch, else English.
func Language(s *settings.Settings) text.Language {
	switch s.UI.Language {
	case "nl":
		return text.Dutch
	case "en":
		return text.English
	}
	return systemLanguage(os.Getenv, systemLocale)
}

// systemLanguage decides from the environment and, where that says nothing, from
// the system itself.
func systemLanguage(env func(string) string, system func() string) text.Language {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANGUAGE", "LANG"} {
		if v := env(name); v != "" && v != "C" && v != "POSIX" && !strings.HasPrefix(v, "C.") {
			return languageOf(v)
		}
	}
	if v := system(); v != "" {
		return languageOf(v)
	}
	return text.Dutch // nothing is known: Dutch first
}

func languageOf(locale string) text.Language {
	l := strings.ToLower(strings.ReplaceAll(locale, "-", "_"))
	l, _, _ = strings.Cut(l, ".")
	if strings.HasPrefix(l, "nl") || strings.HasSuffix(l, "_nl") || strings.Contains(l, "_nl_") {
		return text.Dutch
	}
	return text.English
}

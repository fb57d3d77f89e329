package fromsettings

import (
	"os"
	"strings"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/text"
)

// Language returns the language for users: as set, else Dutch if the system's language or
// region is Dutch, else English.
func Language(s *settings.Settings) text.Language {
	switch s.UI.Language {
	case "nl":
		return text.Dutch
	case "en":
		return text.English
	}
	return systemLanguage(os.Getenv, systemLocales)
}

// systemLanguage decides from the environment or, if that says nothing, from the system.
// The variables are checked in the order of POSIX and gettext: LANGUAGE only counts if LANG
// chose the locale, and not in the C locale, which is English.
func systemLanguage(env func(string) string, system func() []string) text.Language {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		locale := env(name)
		if locale == "" {
			continue
		}
		if list := env("LANGUAGE"); list != "" && name == "LANG" && !isPOSIXLocale(locale) {
			locale, _, _ = strings.Cut(list, ":")
		}
		return languageOf(locale)
	}
	for _, locale := range system() {
		if languageOf(locale) == text.Dutch {
			return text.Dutch
		}
	}
	return text.English
}

// baseLocale returns a locale such as nl_NL without character set and modifier.
func baseLocale(locale string) string {
	locale, _, _ = strings.Cut(strings.ToLower(strings.ReplaceAll(locale, "-", "_")), ".")
	locale, _, _ = strings.Cut(locale, "@")
	return locale
}

func isPOSIXLocale(locale string) bool { b := baseLocale(locale); return b == "c" || b == "posix" }

func languageOf(locale string) text.Language {
	parts := strings.Split(baseLocale(locale), "_")
	if parts[0] == "nl" || parts[len(parts)-1] == "nl" {
		return text.Dutch
	}
	return text.English
}

package message

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/core/lazyregexp"
)

const maxName = 1024 // bytes

// checkName checks the name of a file in a ZIP. code is the worst
// finding, "" if there is none. key is equal for names that denote the
// same file on some system: it ignores case and what Windows strips.
func checkName(name string) (code Code, key string) {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return NameImpossible, name
	}
	worse := func(c Code) {
		if code == "" || code.Severity() < c.Severity() {
			code = c
		}
	}
	slashed := strings.ReplaceAll(name, `\`, "/")
	if slashed != name {
		worse(NameBackslash)
	}
	switch colon := strings.IndexByte(name, ':'); {
	case slashed[0] == '/', colon == 1:
		worse(NameAbsolute)
	case colon >= 0:
		worse(NameColon)
	}
	if strings.ContainsFunc(name, displaytext.IsHidden) { // it looks like another name
		worse(NameHidden)
	}
	if strings.ContainsAny(name, `<>"|?*`) {
		worse(NameOdd)
	}
	var steps []string
	for _, s := range strings.Split(strings.TrimSuffix(slashed, "/"), "/") {
		bare := strings.TrimRight(s, " .") // Windows strips them
		switch {
		case bare == "" && strings.HasPrefix(s, ".."):
			worse(NameUp)
		case isDevice(s):
			worse(NameDevice)
		case bare != s, s == "":
			worse(NameOdd)
		}
		if bare != "" {
			steps = append(steps, fold(bare))
		}
	}
	if len(steps) == 0 && code.Severity() < Refused {
		code = NameImpossible
	}
	return code, strings.Join(steps, "/")
}

// fold maps names that differ only in case to the same string.
func fold(s string) string { return strings.ToLower(strings.ToUpper(s)) }

var devices = lazyregexp.New(`^(CON|PRN|AUX|NUL|CLOCK\$|CONIN\$|CONOUT\$|(COM|LPT)[0-9¹²³])$`)

// isDevice reports whether Windows treats a name as a device, with any extension and suffix.
func isDevice(step string) bool {
	base, _, _ := strings.Cut(step, ".")
	base, _, _ = strings.Cut(base, ":")
	return devices().MatchString(strings.ToUpper(strings.TrimRight(base, " ")))
}

package widgets

import (
	"encoding/json"

	"fyne.io/fyne/v2/lang"

	"wiebelt/internal/text"
)

// TranslateBuiltin sets Fyne's language to l. Fyne has no Dutch and its language cannot be
// selected; only the strings of the system's language can be replaced.
func TranslateBuiltin(l text.Language) error {
	all := map[string]string{}
	for _, theirs := range text.FyneWords {
		all[theirs] = l.T(text.WindowFyne(theirs))
	}
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return lang.AddTranslationsForLocale(b, lang.SystemLocale())
}

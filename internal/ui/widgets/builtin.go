package widgets

import (
	"encoding/json"

	"fyne.io/fyne/v2/lang"

	"wiebelt/internal/text"
)

// TranslateBuiltin sets the language of Fyne's own words to l.
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

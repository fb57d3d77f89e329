package widgets

import (
	"encoding/json"

	"fyne.io/fyne/v2/lang"

	"wiebelt/internal/text"
)

// TranslateBuiltin makes Fyne speak language l. It has no Dutch and cannot be told
// which language to use, only what the strings of the system's language are.
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

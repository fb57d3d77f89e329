package widgets

import (
	"encoding/json"

	"fyne.io/fyne/v2/lang"

	"wiebelt/internal/text"
)

// builtin are Fyne's own strings, which our windows can show: its key, and ours.
// Fyne has no Dutch and cannot be told which language to use, only what the
// strings of the system's language are.
var builtin = map[string]text.Key{
	"Advanced": text.DeskFyneAdvanced, "Cancel": text.DeskFyneCancel, "Confirm": text.DeskFyneConfirm,
	"Copy": text.DeskFyneCopy, "Create Folder": text.DeskFyneCreateFolder, "Cut": text.DeskFyneCut,
	"Enter filename": text.DeskFyneFilename, "Error": text.DeskFyneError, "Favourites": text.DeskFyneFavourites,
	"File": text.DeskFyneFile, "Folder": text.DeskFyneFolder, "New Folder": text.DeskFyneNewFolder,
	"No": text.DeskFyneNo, "OK": text.DeskFyneOk, "Open": text.DeskFyneOpen, "Paste": text.DeskFynePaste,
	"Quit": text.DeskFyneQuit, "Redo": text.DeskFyneRedo, "Save": text.DeskFyneSave,
	"Select all": text.DeskFyneSelectAll, "Show Hidden Files": text.DeskFyneHidden, "Undo": text.DeskFyneUndo,
	"Yes": text.DeskFyneYes, "file.name": text.DeskFyneName, "file.parent": text.DeskFyneParent,
}

// TranslateBuiltin makes Fyne speak language l.
func TranslateBuiltin(l text.Language) error {
	all := map[string]string{}
	for theirs, ours := range builtin {
		all[theirs] = l.T(ours)
	}
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return lang.AddTranslationsForLocale(b, lang.SystemLocale())
}

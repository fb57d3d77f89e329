package settings

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/config/setupfile"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// Bounds of the search for set-up files.
const (
	maxFound  = 8
	maxNames  = 5000 // per folder
	maxFolder = 60   // characters of a folder shown
)

// setupFolders are the usual download folders of mail programs and browsers.
var setupFolders = []string{"", "Downloads", "Desktop", "Documents", "Bureaublad", "Documenten"}

// pickSetupFile asks which set-up file to open: one found in the usual folders, any by its path,
// or one dropped on the window.
func (w *window) pickSetupFile() {
	w.openFile("")
	v := w.file
	w.background.file = w.runInBackground(func(_ context.Context, post func(func(*window))) { // folders may be on a network
		home, err := os.UserHomeDir()
		if err != nil {
			return
		}
		found := setupFiles(home)
		post(func(w *window) {
			if w.file == v && v.path == "" {
				v.found = found
				v.show()
			}
		})
	})
}

// setupFiles searches the usual folders for set-up files.
func setupFiles(home string) (found []string) {
	for _, folder := range setupFolders {
		dir, err := os.Open(filepath.Join(home, folder))
		if err != nil {
			continue
		}
		names, _ := dir.Readdirnames(maxNames) // what cannot be read is skipped
		_ = dir.Close()
		for _, n := range names {
			path := filepath.Join(home, folder, n)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && isSetup(n) && len(found) < maxFound {
				found = append(found, path)
			}
		}
	}
	return found
}

func isSetup(name string) bool { return strings.EqualFold(filepath.Ext(name), setupfile.Suffix) }

func (w *window) dropped(all []fyne.URI) {
	for _, u := range all {
		if u.Scheme() == "file" && isSetup(u.Name()) && w.state != nil && !w.testingFile() {
			w.openFile(filepath.FromSlash(u.Path()))
			return
		}
	}
}

func (w *window) testingFile() bool { return w.file != nil && w.file.testing }

// showPicking asks for a file.
func (v *setupView) showPicking(b *fyne.Container) {
	l := v.w.host.Lang
	b.Add(widgets.Paragraph(l.T(text.SettingsWindowFilePick)))
	for _, path := range v.found {
		name := widgets.NewButton(filepath.Base(path), func() { v.w.openFile(path) })
		name.Alignment = widget.ButtonAlignLeading
		folder := filepath.Dir(path)
		if r := []rune(folder); len(r) > maxFolder {
			folder = "…" + string(r[len(r)-maxFolder:])
		}
		b.Add(widgets.Column(2, name, widgets.Small(folder)))
	}
	open := widgets.NewButton(l.T(text.SettingsWindowFileShow), nil)
	fault := widgets.NewSlot()
	open.OnTapped = func() {
		p := strings.Trim(strings.TrimSpace(v.typed.Text), `"`) // as Windows copies a path
		if !filepath.IsAbs(p) {
			fault.Trouble(l.T(text.SettingsWindowFileWhole))
			return
		}
		v.w.openFile(p)
	}
	v.typed.OnSubmitted = func(string) { open.OnTapped() }
	b.Add(widgets.Column(4, widgets.Bold(l.T(text.SettingsWindowFilePath), theme.SizeHint),
		container.NewBorder(nil, nil, nil, widgets.Padded(0, 0, 8, 0, open),
			explore.WithName(v.typed, l.T(text.SettingsWindowFilePath), "", func() string { return fault.ContentName })), fault.Container))
	b.Add(container.NewHBox(widgets.NewButton(l.T(text.SettingsWindowFileCancel), v.w.closeFile)))
}

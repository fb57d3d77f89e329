package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/doctor"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

const (
	bundleWidth = 216 // of the file list
	lineRunes   = 62  // maximum length of a displayed line
)

type bundleFile struct {
	name  string
	size  int // bytes
	lines []string
}

// bundleFiles breaks all files into lines that fit.
func bundleFiles(all []doctor.Entry) (files []bundleFile) {
	for _, e := range all {
		files = append(files, bundleFile{e.Name, len(e.Data), breakLines(strings.ToValidUTF8(string(e.Data), "?"), lineRunes)})
	}
	return files
}

// bundlePath suggests a path that the user can find again.
func bundlePath(now time.Time) string {
	dir, err := os.UserHomeDir()
	if err != nil {
		dir = os.TempDir()
	}
	for _, sub := range []string{"Desktop", "Bureaublad", "Downloads"} {
		if info, err := os.Stat(filepath.Join(dir, sub)); err == nil && info.IsDir() {
			dir = filepath.Join(dir, sub)
			break
		}
	}
	return filepath.Join(dir, "wiebelt-"+now.Format("2006-01-02-1504")+".zip")
}

// bundleView shows every file of the bundle exactly as it would be written.
type bundleView struct {
	w       *window
	entries []doctor.Entry // what is written
	files   []bundleFile   // what is shown of it
	list    *widgets.List
	shown   bundleFile
	view    *widgets.List
	path    *widgets.Field
	note    *widgets.Slot
	save    *widgets.Button
	object  fyne.CanvasObject
}

func newBundleView(w *window, all []doctor.Entry, files []bundleFile, path string) *bundleView {
	l := w.host.Lang
	v := &bundleView{w: w, entries: all, files: files, note: widgets.NewSlot(), path: widgets.NewField()}
	var items []widgets.SideItem
	for _, f := range files {
		items = append(items, widgets.SideItem{ID: f.name, Title: f.name + " · " + l.Size(int64(f.size))})
	}
	var side fyne.CanvasObject
	v.list, side = widgets.NewSide(v, l.T(text.DoctorWindowHolds), items)
	v.view = widgets.NewList(func() int { return len(v.shown.lines) },
		func() fyne.CanvasObject {
			label := widget.NewLabel("")
			label.TextStyle.Monospace, label.SizeName, label.Truncation = true, base.SizeNameCaptionText, fyne.TextTruncateClip
			return widgets.Padded(-8, -8, 0, 0, label)
		},
		func(i int, o fyne.CanvasObject) {
			if i < len(v.shown.lines) {
				o.(*fyne.Container).Objects[0].(*widget.Label).SetText(v.shown.lines[i])
			}
		}, func(int) {})
	v.view.Skip = func(i int) bool { return i < len(v.shown.lines) && strings.TrimSpace(v.shown.lines[i]) == "" }
	v.view.Name = l.T(text.DoctorWindowHolds)
	v.path.SetText(path)
	v.path.OnSubmitted = func(string) { v.write() }
	v.save = widgets.NewPrimary(l.T(text.DoctorWindowWrite), v.write)
	back := widgets.NewButton(l.T(text.DoctorWindowBack), w.back)

	head := widgets.Column(8,
		widgets.Title(l.T(text.DoctorWindowHolds)),
		widgets.Paragraph(l.T(text.DoctorWindowHoldsHint)),
		widgets.NewTextLine(l.T(text.DoctorWindowPlace), theme.SizeHint, base.ColorNamePlaceHolder, false).Truncate(),
		explore.WithName(v.path, l.T(text.DoctorWindowPlace), "", nil),
		v.note.Container)
	page := widgets.Padded(0, 0, 12, 0, v.view)
	v.object = widgets.WithHeader(widgets.Padded(20, 12, widgets.Edge, widgets.Edge, head),
		container.NewBorder(nil, widgets.Footer(widgets.Buttons(back, v.save)), nil, nil, container.New(widgets.SideLayout(bundleWidth), side, page)))
	v.Choose(files[0].name)
	return v
}

// Chosen implements widgets.Chooser.
func (v *bundleView) Chosen() string { return v.shown.name }

// Choose shows another file from its beginning.
func (v *bundleView) Choose(name string) {
	for _, f := range v.files {
		if f.name == name {
			v.shown = f
			v.list.Refresh()
			v.view.Refresh()
			v.view.ScrollToTop()
		}
	}
}

// breakLines cuts a text into lines of at most n runes.
func breakLines(s string, n int) []string {
	var all []string
	for line := range strings.Lines(s) {
		r := []rune(strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), "\r\n"))
		for len(r) > n {
			all = append(all, string(r[:n]))
			r = r[n:]
		}
		all = append(all, string(r))
	}
	return all
}

// write writes exactly what is shown, once.
func (v *bundleView) write() {
	l, path, all := v.w.host.Lang, strings.TrimSpace(v.path.Text), v.entries
	v.note.Trouble("")
	if len(path) > 4096 || !filepath.IsAbs(path) || strings.ToLower(filepath.Ext(path)) != ".zip" {
		v.fail(l.T(text.DoctorWindowPath))
		return
	}
	v.save.Disable()
	v.w.end = v.w.host.Work(func(_ context.Context, post func(func())) {
		err := doctor.Write(path, all)
		post(func() {
			switch {
			case v.w.shownBundle != v: // the user went back
			case errors.Is(err, doctor.ErrExists):
				v.fail(l.T(text.DoctorWindowThere))
			case err != nil:
				v.fail(l.T(text.DoctorWindowUnwritten))
			default:
				v.w.back()
				v.w.showNote(l.T(text.DoctorWindowWritten, path), false)
			}
		})
	})
}

// fail shows why nothing was written.
func (v *bundleView) fail(sentence string) {
	v.save.Enable()
	v.note.Trouble(sentence)
}

package doctor

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/theme"
)

const (
	bundleWidth = 216       // of the list of files
	maxBundle   = 2 << 20   // bytes of one file; its end is not of another kind
	shownAtOnce = 128 << 10 // bytes, before somebody asks for more
	lineRunes   = 62        // where long lines are broken: what fits
)

// bundleView shows every file of the bundle as it would be written.
type bundleView struct {
	w      *window
	files  []deskapi.DoctorFile
	items  []kit.SideItem
	list   *widget.List
	shown  string // name of the file
	at     int    // its place
	text   strings.Builder
	lines  []string // of text, as shown
	want   int      // up to here it is asked for by itself
	next   int      // where the rest of it begins, 0 at its end
	view   *widget.List
	more   *kit.Button
	foot   *fyne.Container // holds more
	path   *widget.Entry
	notes  *fyne.Container
	save   *kit.Button
	object fyne.CanvasObject
}

func newBundleView(w *window, m deskapi.DoctorHolds) *bundleView {
	l := w.d.Lang
	v := &bundleView{w: w, files: m.Files, notes: newStack(8), path: widget.NewEntry()}
	for _, f := range m.Files {
		v.items = append(v.items, kit.SideItem{ID: f.Name, Title: f.Name + " · " + kit.SizeOf(l, int64(f.Size))})
	}
	var side fyne.CanvasObject
	v.list, side = kit.NewSide(v, func() []kit.SideItem { return v.items })
	v.view = widget.NewList(func() int { return len(v.lines) },
		func() fyne.CanvasObject {
			label := widget.NewLabel("")
			label.TextStyle.Monospace, label.SizeName, label.Truncation = true, base.SizeNameCaptionText, fyne.TextTruncateClip
			return container.New(layout.NewCustomPaddedLayout(-8, -8, 0, 0), label)
		},
		func(i widget.ListItemID, o fyne.CanvasObject) {
			if i < len(v.lines) {
				o.(*fyne.Container).Objects[0].(*widget.Label).SetText(v.lines[i])
			}
		})
	v.view.HideSeparators = true
	v.view.OnSelected = func(i widget.ListItemID) { v.view.Unselect(i) }
	v.more = kit.NewButton(l.T(text.DoctorWindowMore), v.ask)
	v.path.SetText(m.Path)
	v.path.OnSubmitted = func(string) { v.write() }
	v.save = kit.NewButton(l.T(text.DoctorWindowWrite), v.write)
	v.save.Importance = widget.HighImportance
	back := kit.NewButton(l.T(text.DoctorWindowBack), w.back)

	head := newStack(8)
	head.Add(kit.NewWords(l.T(text.DoctorWindowHolds), base.SizeNameHeadingText, base.ColorNameForeground, true).Cutting())
	head.Add(kit.Paragraph(l.T(text.DoctorWindowHoldsHint)))
	head.Add(kit.NewWords(l.T(text.DoctorWindowPlace), theme.SizeHint, base.ColorNamePlaceHolder, false).Cutting())
	head.Add(v.path)
	head.Add(v.notes)
	v.foot = kit.Buttons(back, v.save, v.more)
	page := container.New(layout.NewCustomPaddedLayout(0, 0, 12, 0), v.view)
	v.object = kit.Headed(container.New(layout.NewCustomPaddedLayout(20, 12, kit.Edge, kit.Edge), head),
		container.NewBorder(nil, kit.Foot(v.foot), nil, nil, container.New(kit.Sided(bundleWidth), side, page)))
	v.notes.Hide()
	v.Choose(m.Files[0].Name)
	return v
}

// Chosen implements kit.Chooser.
func (v *bundleView) Chosen() string { return v.shown }

// Choose shows another file from its beginning.
func (v *bundleView) Choose(name string) {
	for i, f := range v.files {
		if f.Name == name {
			v.shown, v.at, v.lines, v.next, v.want = name, i, nil, 0, 0
			v.text.Reset()
			v.tail(false)
			v.list.Refresh()
			v.view.Refresh()
			v.view.ScrollToTop()
			v.ask()
		}
	}
}

// ask asks for the next pieces of the file.
func (v *bundleView) ask() {
	v.want = v.next + shownAtOnce
	v.more.Disable()
	v.piece()
}

func (v *bundleView) piece() {
	v.w.d.Send(deskapi.KindDoctorPeek, deskapi.DoctorPeek{File: v.at, From: v.next})
}

// take adds a piece, if it is the one that is waited for.
func (v *bundleView) take(m deskapi.DoctorPiece) {
	if m.File != v.at || m.From != v.next || m.From > 0 && v.text.Len() == 0 {
		return
	}
	v.text.WriteString(m.Text)
	v.next = m.Next
	if m.Next > 0 && m.Next < v.want {
		v.piece()
		return
	}
	v.lines = broken(v.text.String(), lineRunes)
	v.more.Enable()
	v.tail(m.Next > 0 && m.Next <= maxBundle)
	v.view.Refresh()
}

// broken cuts a text into lines of at most n runes.
func broken(s string, n int) []string {
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

// tail shows the button for the rest, or takes it away.
func (v *bundleView) tail(more bool) {
	v.more.Hidden = !more
	v.foot.Refresh()
}

func (v *bundleView) write() {
	v.notes.Hide()
	v.save.Disable()
	v.w.d.Send(deskapi.KindDoctorWrite, deskapi.DoctorWrite{Path: strings.TrimSpace(v.path.Text)})
}

// fail says why nothing was written.
func (v *bundleView) fail(sentence string) {
	v.save.Enable()
	v.notes.Objects = []fyne.CanvasObject{kit.Trouble(sentence)}
	v.notes.Show()
	v.notes.Refresh()
}

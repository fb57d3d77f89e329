package delivery

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// maxShown is how many files and folders of one folder are shown.
const maxShown = 5000

// chooser is a page on which ZIP files of a folder are chosen, several at
// once, or one whose path is typed.
type chooser struct {
	w       *window
	dir     string
	wanted  string // the folder that is being read
	found   []chooseItem
	chosen  map[string]bool // paths
	content fyne.CanvasObject
	path    *widgets.FilterBox
	list    *widget.List
	send    *widgets.Button
	said    *widgets.Words
}

// chooseItem is a file or a folder.
type chooseItem struct {
	name   string
	folder bool
	size   int64
}

func newChooser(w *window) *chooser {
	l := w.d.Lang
	c := &chooser{w: w, chosen: map[string]bool{}}
	c.path = widgets.NewFilterBox(l.T(text.MessagesChoosePath))
	c.path.OnSubmitted = func(s string) { c.typed(s) }
	c.path.Down = func() { c.typed(c.path.Text) }
	c.said = widgets.NewWords("", base.SizeNameCaptionText, base.ColorNamePlaceHolder, false).Cutting()
	c.list = widget.NewList(
		func() int { return len(c.found) },
		func() fyne.CanvasObject { return newChooseLine(c) },
		func(i widget.ListItemID, o fyne.CanvasObject) { o.(*chooseLine).set(i) })
	c.list.HideSeparators = true
	c.list.OnSelected = func(i widget.ListItemID) { // by the keyboard; the lines take clicks themselves
		c.list.Unselect(i)
		c.pick(i)
	}
	c.send = widgets.NewButton("", c.deliver)
	c.send.Importance = widget.HighImportance
	back := widgets.NewButtonWithIcon(l.T(text.MessagesBack), base.NavigateBackIcon(), w.back)
	up := widgets.NewButtonWithIcon(l.T(text.MessagesChooseUp), base.MoveUpIcon(), func() { c.open(filepath.Dir(c.dir)) })
	title := widgets.NewWords(l.T(text.MessagesChooseTitle), base.SizeNameHeadingText, base.ColorNameForeground, true).Cutting()
	head := container.New(layout.NewCustomPaddedLayout(16, 4, widgets.Edge, widgets.Edge), container.New(layout.NewCustomPaddedVBoxLayout(8),
		container.NewBorder(nil, nil, nil, container.New(layout.NewCustomPaddedHBoxLayout(8), back, c.send), container.New(widgets.Middle(), title)),
		container.NewBorder(nil, nil, nil, container.New(layout.NewCustomPaddedLayout(0, 0, 8, 0), up), c.path), c.said))
	c.content = container.NewBorder(head, nil, nil, nil, c.list)
	c.count()
	return c
}

// start is where choosing begins.
func (c *chooser) start() {
	home, err := os.UserHomeDir()
	if err != nil {
		home = string(filepath.Separator)
	}
	c.open(home)
}

// open shows another folder. It is read elsewhere: it may lie on a server that
// does not answer.
func (c *chooser) open(dir string) {
	c.wanted = dir
	c.w.d.After(0, func() {
		found, err := zipsIn(dir)
		c.w.d.Post(func() {
			if c.wanted != dir || c.w.chooser != c {
				return
			}
			if err != nil {
				c.said.Say(c.w.d.Lang.T(text.MessagesChooseFailed), base.ColorNameWarning)
				return
			}
			c.dir, c.found = dir, found
			c.path.SetText(dir)
			said := ""
			if len(found) == 0 {
				said = c.w.d.Lang.T(text.MessagesChooseEmpty)
			}
			c.said.Say(said, base.ColorNamePlaceHolder)
			c.list.ScrollToTop()
			c.list.Refresh()
		})
	})
}

// zipsIn are the folders and ZIP files of a folder, folders first.
func zipsIn(dir string) ([]chooseItem, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []chooseItem
	for _, e := range entries {
		name := e.Name()
		info, err := os.Stat(filepath.Join(dir, name)) // what a link leads to
		if err != nil || strings.HasPrefix(name, ".") || len(all) == maxShown {
			continue
		}
		if info.IsDir() || info.Mode().IsRegular() && strings.EqualFold(filepath.Ext(name), ".zip") {
			all = append(all, chooseItem{name, info.IsDir(), info.Size()})
		}
	}
	slices.SortStableFunc(all, func(a, b chooseItem) int {
		if a.folder != b.folder {
			if a.folder {
				return -1
			}
			return 1
		}
		return cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name))
	})
	return all, nil
}

// typed opens a folder, or chooses a file, whose path was typed.
func (c *chooser) typed(s string) {
	s = strings.TrimSpace(s)
	if s == "" {
		return
	}
	if !filepath.IsAbs(s) {
		s = filepath.Join(c.dir, s)
	}
	if strings.EqualFold(filepath.Ext(s), ".zip") {
		c.chosen[s] = true
		c.count()
		c.open(filepath.Dir(s))
		return
	}
	c.open(s)
}

// pick opens a folder, and chooses a file or takes that back.
func (c *chooser) pick(i int) {
	if i >= len(c.found) {
		return
	}
	path := filepath.Join(c.dir, c.found[i].name)
	switch {
	case c.found[i].folder:
		c.open(path)
		return
	case c.chosen[path]:
		delete(c.chosen, path)
	default:
		c.chosen[path] = true
	}
	c.count()
	c.list.RefreshItem(i)
}

func (c *chooser) count() {
	n := len(c.chosen)
	c.send.SetText(c.w.d.Lang.N(text.MessagesChooseSend, n))
	if n == 0 {
		c.send.Disable()
	} else {
		c.send.Enable()
	}
}

func (c *chooser) deliver() {
	var paths []string
	for p := range c.chosen {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	c.w.back()
	c.w.add(paths)
}

// chooseLine is a file or folder of the list.
type chooseLine struct {
	widget.BaseWidget
	c    *chooser
	n    int
	icon *widget.Icon
	name *widgets.Words
	size *widgets.Words
}

const chooseHigh = 36

func newChooseLine(c *chooser) *chooseLine {
	v := &chooseLine{c: c, icon: widget.NewIcon(nil), name: widgets.NewWords("", base.SizeNameText, base.ColorNameForeground, false).CuttingMiddle(),
		size: widgets.NewWords("", theme.SizeHint, base.ColorNamePlaceHolder, false)}
	v.size.Align = fyne.TextAlignTrailing
	v.ExtendBaseWidget(v)
	return v
}

func (v *chooseLine) set(n int) {
	v.n = n
	if n >= len(v.c.found) {
		return
	}
	it := v.c.found[n]
	v.name.Say(it.name, base.ColorNameForeground)
	icon, size := base.FolderIcon(), ""
	if !it.folder {
		icon, size = base.CheckButtonIcon(), widgets.SizeOf(v.c.w.d.Lang, it.size)
		if v.c.chosen[filepath.Join(v.c.dir, it.name)] {
			icon = base.NewColoredResource(base.CheckButtonCheckedIcon(), base.ColorNamePrimary)
		}
	}
	v.size.Say(size, base.ColorNamePlaceHolder)
	v.icon.SetResource(icon)
}

// Tapped implements fyne.Tappable.
func (v *chooseLine) Tapped(*fyne.PointEvent) { v.c.pick(v.n) }

// CreateRenderer implements fyne.Widget.
func (v *chooseLine) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.New(chooseLayout{}, v.icon, v.name, v.size))
}

type chooseLayout struct{}

func (chooseLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(leastWidth, chooseHigh)
}

func (chooseLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	const icon, line, wide = 20, 20, 88
	y := (size.Height - line) / 2
	o[0].Move(fyne.NewPos(widgets.Edge, (size.Height-icon)/2))
	o[0].Resize(fyne.NewSquareSize(icon))
	o[1].Move(fyne.NewPos(widgets.Edge+icon+12, y))
	o[1].Resize(fyne.NewSize(size.Width-2*widgets.Edge-icon-24-wide, line))
	o[2].Move(fyne.NewPos(size.Width-widgets.Edge-wide, y))
	o[2].Resize(fyne.NewSize(wide, line))
}

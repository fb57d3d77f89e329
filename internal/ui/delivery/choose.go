package delivery

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/delivery/folderwatch"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// maxShown is the maximum number of files and folders shown for one folder.
const maxShown = 5000

// chooser is a page to choose ZIP files from a folder, several at once, or
// one by typing its path.
type chooser struct {
	w          *window
	dir        string
	pendingDir string // the folder being read
	found      []chooseItem
	chosen     map[string]bool // paths
	content    fyne.CanvasObject
	path       *widgets.FilterBox
	list       *widgets.List
	send       *widgets.Button
	status     *widgets.TextLine
}

// chooseItem is a file or a folder.
type chooseItem struct {
	name   string
	folder bool
	size   int64
}

func newChooser(w *window) *chooser {
	l := w.host.Lang
	c := &chooser{w: w, chosen: map[string]bool{}}
	c.path = widgets.NewFilterBox(l.T(text.DeliveryWindowChoosePath))
	c.path.OnSubmitted = func(s string) { c.openTyped(s) }
	c.path.OnDown = func() { c.openTyped(c.path.Text) }
	c.status = widgets.Caption("")
	c.list = widgets.NewList(
		func() int { return len(c.found) },
		newChooseLine, c.write, c.pick)
	c.list.Name = l.T(text.DeliveryWindowChooseTitle)
	c.list.Mark = func(i int) bool { return i < len(c.found) && c.chosen[filepath.Join(c.dir, c.found[i].name)] }
	c.send = widgets.NewPrimary("", c.deliver)
	back := widgets.NewButtonWithIcon(l.T(text.DeliveryWindowBack), base.NavigateBackIcon(), w.back)
	up := widgets.NewButtonWithIcon(l.T(text.DeliveryWindowChooseUp), base.MoveUpIcon(), func() { c.open(filepath.Dir(c.dir)) })
	title := widgets.Title(l.T(text.DeliveryWindowChooseTitle))
	head := widgets.Padded(16, 4, widgets.Edge, widgets.Edge, widgets.Column(8,
		container.NewBorder(nil, nil, nil, container.New(layout.NewCustomPaddedHBoxLayout(8), back, c.send), container.New(widgets.Middle(), title)),
		container.NewBorder(nil, nil, nil, widgets.Padded(0, 0, 8, 0, up), c.path), c.status))
	c.content = container.NewBorder(head, nil, nil, nil, c.list)
	c.count()
	return c
}

func (c *chooser) start() {
	home, err := os.UserHomeDir()
	if err != nil {
		home = string(filepath.Separator)
	}
	c.open(home)
}

// open shows another folder. It is read in the background: it may be on a server
// that does not respond.
func (c *chooser) open(dir string) {
	c.pendingDir = dir
	typed := c.path.Text
	c.w.host.After(0, func() {
		found, err := zipsIn(dir)
		c.w.host.Post(func() {
			if c.pendingDir != dir || c.w.chooser != c {
				return
			}
			if err != nil {
				c.status.SetText(c.w.host.Lang.T(text.DeliveryWindowChooseFailed), base.ColorNameWarning)
				return
			}
			c.dir, c.found = dir, found
			if c.path.Text == typed { // else somebody is typing the next path
				c.path.SetText(dir)
			}
			said := ""
			if len(found) == 0 {
				said = c.w.host.Lang.T(text.DeliveryWindowChooseEmpty)
			}
			c.status.SetText(said, base.ColorNamePlaceHolder)
			c.list.ScrollToTop()
			c.list.Refresh()
		})
	})
}

// zipsIn returns the folders and ZIP files in a folder, folders first.
func zipsIn(dir string) ([]chooseItem, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []chooseItem
	for _, e := range entries {
		name := e.Name()
		info, err := os.Stat(filepath.Join(dir, name)) // follows links
		if err != nil || strings.HasPrefix(name, ".") || len(all) == maxShown {
			continue
		}
		if info.IsDir() || info.Mode().IsRegular() && folderwatch.IsZIP(name) {
			all = append(all, chooseItem{name, info.IsDir(), info.Size()})
		}
	}
	slices.SortStableFunc(all, func(a, b chooseItem) int {
		if a.folder != b.folder {
			return widgets.Either(a.folder, -1, 1)
		}
		return cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name))
	})
	return all, nil
}

// openTyped opens the folder, or chooses the file, whose path was typed.
func (c *chooser) openTyped(s string) {
	s = strings.TrimSpace(strings.Trim(strings.TrimSpace(s), `"`)) // Windows copies paths in quotes
	if s == "" {
		return
	}
	if !filepath.IsAbs(s) {
		s = filepath.Join(c.dir, s)
	}
	s = filepath.Clean(s) // as pick spells it
	if strings.EqualFold(filepath.Ext(s), ".zip") {
		c.chosen[s] = true
		c.count()
		c.open(filepath.Dir(s))
		return
	}
	c.open(s)
}

// pick opens a folder, or toggles the choice of a file.
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
	c.send.SetText(c.w.host.Lang.N(text.DeliveryWindowChooseSend, n))
	widgets.SetEnabled(c.send, n > 0)
}

func (c *chooser) deliver() {
	paths := slices.Sorted(maps.Keys(c.chosen))
	c.w.back()
	c.w.add(paths)
}

// newChooseLine creates the line of a file or folder: name, icon and size.
func newChooseLine() fyne.CanvasObject {
	name := widgets.NewTextLine("", base.SizeNameText, base.ColorNameForeground, false).TruncateMiddle()
	size := widgets.NewTextLine("", theme.SizeHint, base.ColorNamePlaceHolder, false)
	return widgets.Padded(8, 8, widgets.Edge, widgets.Edge, container.NewBorder(nil, nil, widget.NewIcon(nil), size, name))
}

// write fills a line with a file or folder.
func (c *chooser) write(n int, line fyne.CanvasObject) {
	if n >= len(c.found) {
		return
	}
	it := c.found[n]
	icon, size := base.FolderIcon(), ""
	if !it.folder {
		icon, size = base.CheckButtonIcon(), c.w.host.Lang.Size(it.size)
		if c.chosen[filepath.Join(c.dir, it.name)] {
			icon = base.NewColoredResource(base.CheckButtonCheckedIcon(), base.ColorNamePrimary)
		}
	}
	parts := line.(*fyne.Container).Objects[0].(*fyne.Container)
	parts.Objects[0].(*widgets.TextLine).SetText(it.name, base.ColorNameForeground)
	parts.Objects[1].(*widget.Icon).SetResource(icon)
	parts.Objects[2].(*widgets.TextLine).SetText(size, base.ColorNamePlaceHolder)
	parts.Refresh() // the size may need another width
}

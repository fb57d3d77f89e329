package calls

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/theme"
)

// undoIs is how long removed calls are offered to be put back; the resident keeps
// them a little longer.
const undoIs = 15 * time.Second

// canUndo offers for a while to put a removed call back.
func (c *window) canUndo(entry int64) {
	c.removed = append(c.removed, entry)
	c.showNote()
	c.d.After(undoIs, func() {
		c.d.Post(func() {
			if n := len(c.removed); n > 0 && c.removed[n-1] == entry { // none came after it
				c.removed = nil
				c.showNote()
			}
		})
	})
}

// undo puts back what was removed.
func (c *window) undo() {
	if len(c.removed) == 0 {
		return
	}
	for _, id := range c.removed {
		c.d.Send(deskapi.KindCallsUndo, deskapi.CallsEntry{Entry: id})
	}
	c.removed = nil
	c.showNote()
	if c.page == "" {
		c.win.Canvas().Focus(c.list) // where the keyboard was before the button
	}
}

// undoLine says what was removed, beside the button that puts it back.
func (c *window) undoLine(said string) fyne.CanvasObject {
	button := kit.NewButton(c.d.Lang.T(text.CallsUndo), c.undo)
	return container.NewBorder(nil, nil, nil, container.NewCenter(button),
		container.New(kit.Middle(), kit.Plain(said, theme.SizeHint, widget.MediumImportance)))
}

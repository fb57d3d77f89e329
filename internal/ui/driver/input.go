package driver

import (
	"image"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/storage"

	"wiebelt/internal/native/window"
)

type handler struct{ w *frame }

func (h handler) do(f func(w *frame)) {
	h.w.app.queue.add(func() {
		if !h.w.closed {
			f(h.w)
		}
	})
}

func (h handler) FramePointer(p image.Point) {
	h.do(func(w *frame) { w.moved(p) })
}
func (h handler) FrameLeft() { h.do(func(w *frame) { w.pointer.left() }) }
func (h handler) FrameButton(p image.Point, b window.Button, down bool, held window.Modifiers) {
	h.do(func(w *frame) { w.button(p, b, down, held) })
}
func (h handler) FrameScrolled(p image.Point, dx, dy float32) {
	h.do(func(w *frame) { w.scrolled(p, dx, dy) })
}
func (h handler) FrameKey(e window.KeyEvent) { h.do(func(w *frame) { w.key(e) }) }
func (h handler) FrameFocus(has bool)        { h.do(func(w *frame) { w.focus(has) }) }
func (h handler) FrameResized(s image.Point) { h.do(func(w *frame) { w.resized(s) }) }
func (h handler) FrameClosing()              { h.do((*frame).closing) }
func (h handler) FrameDisplayChanged()       { h.do(func(w *frame) { w.app.desktopChanged() }) }
func (h handler) FrameDropped(p image.Point, files []string) {
	h.do(func(w *frame) { w.dropped(p, files) })
}

func (w *frame) resized(s image.Point) {
	// Of several sizes in a row only the last is laid out. A window manager can set any
	// size; beyond what desktops have, nothing is painted.
	s = image.Pt(min(s.X, maxSide), min(s.Y, maxSide))
	if s != w.size {
		w.size, w.needsLayout = s, true
	}
}

// maxSide is the longest side of a painted window, in pixels.
const maxSide = 1 << 13

func (w *frame) closing() {
	if w.intercept != nil {
		w.intercept()
		return
	}
	w.Close()
}

func (w *frame) dropped(p image.Point, files []string) {
	if w.onDropped == nil {
		return
	}
	var all []fyne.URI
	for _, f := range files {
		all = append(all, storage.NewFileURI(filepath.ToSlash(f)))
	}
	w.onDropped(w.toUnits(p), all)
}

func (w *frame) focus(has bool) {
	if w.focused == has {
		return
	}
	w.focused = has
	w.app.heldModifiers = 0
	if !has {
		w.pointer.release() // the buttons may be released where that is not reported
	}
	switch o := w.canvas.Focused(); {
	case o == nil:
	case has:
		o.FocusGained()
	default:
		o.FocusLost()
	}
}

func (w *frame) toUnits(p image.Point) fyne.Position {
	s := w.canvas.Scale()
	return fyne.NewPos(float32(p.X)/s, float32(p.Y)/s)
}

type pointer struct {
	at         fyne.Position
	down       desktop.MouseButton
	over       desktop.Hoverable
	pressed    fyne.CanvasObject
	from       fyne.Position // start of a drag, or the last reported position
	drag       fyne.Draggable
	offset     fyne.Position // of the dragged object in the window, at the start
	start      fyne.Position // of the dragged object in its parent
	clicked    fyne.CanvasObject
	cancelWait func() // stops waiting for a second click
}

// dragThreshold is how far the pointer must move for a press to become a drag, in units.
const dragThreshold = 2

func (p *pointer) left() {
	if p.over != nil && p.down == 0 {
		p.over.MouseOut()
		p.over = nil
	}
}

func (p *pointer) release() {
	if drag := p.drag; drag != nil {
		p.drag = nil
		drag.DragEnd()
	}
	p.down, p.pressed = 0, nil
}

func (p *pointer) reset() {
	callIfSet(p.cancelWait)
	*p = pointer{}
}

func (w *frame) moved(px image.Point) {
	p := &w.pointer
	before := p.at
	p.at = w.toUnits(px)
	cursor := desktop.Cursor(desktop.DefaultCursor)
	o, in := w.canvas.objectAt(p.at, func(o fyne.CanvasObject) bool {
		if c, ok := o.(desktop.Cursorable); ok {
			cursor = c.Cursor()
		}
		_, ok := o.(desktop.Hoverable)
		return ok
	})
	w.setCursor(cursor)
	if p.down != 0 && p.down != desktop.MouseButtonSecondary && p.drag == nil {
		d := p.at.Subtract(p.from)
		if math.Abs(float64(d.X)) >= dragThreshold || math.Abs(float64(d.Y)) >= dragThreshold {
			o, in := w.canvas.objectAt(before, func(o fyne.CanvasObject) bool { _, ok := o.(fyne.Draggable); return ok })
			if drag, ok := o.(fyne.Draggable); ok {
				p.drag, p.offset, p.start = drag, before.Subtract(in), o.Position()
			}
		}
	}
	p.hover(o, in)
	if p.drag != nil && p.down&^desktop.MouseButtonSecondary != 0 {
		moved := p.start.Subtract(p.drag.(fyne.CanvasObject).Position())
		p.drag.Dragged(&fyne.DragEvent{
			PointEvent: fyne.PointEvent{AbsolutePosition: p.at, Position: p.at.Subtract(p.offset).Add(moved)},
			Dragged:    fyne.NewDelta(p.at.X-p.from.X, p.at.Y-p.from.Y),
		})
		p.from = p.at
	}
}

func (p *pointer) hover(o fyne.CanvasObject, in fyne.Position) {
	h, _ := o.(desktop.Hoverable)
	e := &desktop.MouseEvent{PointEvent: fyne.PointEvent{AbsolutePosition: p.at, Position: in}, Button: p.down}
	switch {
	case p.drag != nil && (sameObject(o, p.drag) || sameObject(p.over, p.drag)):
	case h != nil && h == p.over:
		h.MouseMoved(e)
	default:
		if p.over != nil {
			p.over.MouseOut()
		}
		if p.over = h; h != nil {
			h.MouseIn(e)
		}
	}
}

func sameObject(a, b any) bool { return a != nil && a == b }

var cursors = map[desktop.Cursor]window.Cursor{desktop.TextCursor: window.CursorText, desktop.PointerCursor: window.CursorHand}

func (w *frame) setCursor(c desktop.Cursor) {
	if to := cursors[c]; to != w.cursor && w.native != nil {
		w.cursor = to
		w.check(w.native.SetCursor(to))
	}
}

func (w *frame) button(px image.Point, n window.Button, down bool, held window.Modifiers) {
	p := &w.pointer
	w.app.heldModifiers, w.canvas.keyboardUsed = modifiers(held), false
	if p.at != w.toUnits(px) {
		w.moved(px)
	}
	b := map[window.Button]desktop.MouseButton{window.Left: desktop.MouseButtonPrimary, window.Middle: desktop.MouseButtonTertiary, window.Right: desktop.MouseButtonSecondary}[n]
	dragged := p.drag != nil
	o, in := w.canvas.objectAt(p.at, func(o fyne.CanvasObject) bool {
		switch o.(type) {
		case fyne.Tappable, fyne.SecondaryTappable, fyne.DoubleTappable, fyne.Focusable, desktop.Mouseable:
			return true
		case fyne.Draggable:
			return dragged
		}
		return false
	})
	point := fyne.PointEvent{Position: in, AbsolutePosition: p.at}
	w.mouse(o, point, b, down, held)
	w.unfocusElsewhere(o)
	if down {
		p.down |= b
		p.from = p.at
	} else {
		p.down &^= b
	}
	if drag := p.drag; !down && drag != nil {
		p.drag = nil
		drag.DragEnd()
		if sameObject(p.over, drag) && !sameObject(o, drag) {
			p.over.MouseOut()
			p.over = nil
		}
	}
	_, tap := o.(fyne.Tappable)
	second, secondary := o.(fyne.SecondaryTappable)
	switch {
	case down && (tap || secondary):
		p.pressed = o
	case !down && b == desktop.MouseButtonSecondary && secondary && o == p.pressed:
		w.secondaryTap(second, &point)
	}
	if !down && b == desktop.MouseButtonPrimary && !dragged {
		w.tap(o, &point)
	}
	if !px.In(image.Rectangle{Max: w.size}) { // the pointer left with the button pressed
		p.left()
	}
}

func (w *frame) mouse(o fyne.CanvasObject, at fyne.PointEvent, b desktop.MouseButton, down bool, held window.Modifiers) {
	e := &desktop.MouseEvent{PointEvent: at, Button: b, Modifier: modifiers(held)}
	m, ok := o.(desktop.Mouseable)
	if !down && w.pointer.drag != nil {
		if d, is := w.pointer.drag.(desktop.Mouseable); is {
			e.Position = e.AbsolutePosition.Subtract(w.pointer.offset)
			d.MouseUp(e)
			return
		}
	}
	switch {
	case !ok:
	case down:
		m.MouseDown(e)
	default:
		m.MouseUp(e)
	}
}

// unfocusElsewhere removes the focus from anything that was not clicked.
func (w *frame) unfocusElsewhere(o fyne.CanvasObject) {
	focused := w.canvas.Focused()
	if f, ok := o.(fyne.Focusable); ok && f == focused {
		return
	}
	if obj, ok := focused.(fyne.CanvasObject); ok {
		if under, _ := w.canvas.objectAt(w.pointer.at, func(o fyne.CanvasObject) bool { return o == obj }); under != nil {
			return
		}
	}
	w.canvas.Unfocus()
}

// secondaryTap handles a click with the secondary button. One that only closes a menu also
// applies to what is below it.
func (w *frame) secondaryTap(o fyne.SecondaryTappable, e *fyne.PointEvent) {
	before := w.canvas.Overlays().Top()
	o.TappedSecondary(e)
	if before == nil || slices.Contains(w.canvas.Overlays().List(), before) {
		return
	}
	under, in := w.canvas.objectAt(w.pointer.at, func(o fyne.CanvasObject) bool { _, ok := o.(fyne.SecondaryTappable); return ok })
	if s, ok := under.(fyne.SecondaryTappable); ok {
		s.TappedSecondary(&fyne.PointEvent{Position: in, AbsolutePosition: w.pointer.at})
	}
}

// tap handles a click; objects that accept double clicks wait for a second one.
func (w *frame) tap(o fyne.CanvasObject, e *fyne.PointEvent) {
	p := &w.pointer
	single, ok := o.(fyne.Tappable)
	pressed := ok && o == p.pressed
	p.pressed = nil
	double, ok := o.(fyne.DoubleTappable)
	if !ok {
		if pressed {
			single.Tapped(e)
		}
		return
	}
	callIfSet(p.cancelWait)
	if p.cancelWait != nil && p.clicked == o {
		p.cancelWait, p.clicked = nil, nil
		double.DoubleTapped(e)
		return
	}
	p.clicked = o
	p.cancelWait = w.app.after(w.app.DoubleTapDelay(), func() {
		p.cancelWait, p.clicked = nil, nil
		if pressed && !w.closed {
			single.Tapped(e)
		}
	})
}

// Distance of one wheel step; several at once go slightly further.
const (
	wheelStep = 25
	wheelFast = 5 / 3.0
)

func (w *frame) scrolled(px image.Point, dx, dy float32) {
	p := w.toUnits(px)
	o, in := w.canvas.objectAt(p, func(o fyne.CanvasObject) bool { _, ok := o.(fyne.Scrollable); return ok })
	if s, ok := o.(fyne.Scrollable); ok {
		s.Scrolled(&fyne.ScrollEvent{
			PointEvent: fyne.PointEvent{Position: in, AbsolutePosition: p},
			Scrolled:   fyne.NewDelta(dx*wheelStep*wheelFast, dy*wheelStep*wheelFast),
		})
		w.moved(px) // the pointer is over something else now
	}
}

// modifiers converts to Fyne's type, which has the same bits.
func modifiers(m window.Modifiers) fyne.KeyModifier { return fyne.KeyModifier(m) }

var keyNames = map[window.Key]fyne.KeyName{
	window.KeyUp: fyne.KeyUp, window.KeyDown: fyne.KeyDown, window.KeyLeft: fyne.KeyLeft, window.KeyRight: fyne.KeyRight,
	window.KeyHome: fyne.KeyHome, window.KeyEnd: fyne.KeyEnd, window.KeyPageUp: fyne.KeyPageUp, window.KeyPageDown: fyne.KeyPageDown,
	window.KeyTab: fyne.KeyTab, window.KeyEnter: fyne.KeyReturn, window.KeyEscape: fyne.KeyEscape,
	window.KeyBackspace: fyne.KeyBackspace, window.KeyDelete: fyne.KeyDelete, window.KeyInsert: fyne.KeyInsert,
	window.KeySpace: fyne.KeySpace, window.KeyMenu: desktop.KeyMenu,
	window.KeyShift: desktop.KeyShiftLeft, window.KeyCtrl: desktop.KeyControlLeft, window.KeyAlt: desktop.KeyAltLeft, window.KeySuper: desktop.KeySuperLeft,
	window.KeyF1: fyne.KeyF1, window.KeyF1 + 1: fyne.KeyF2, window.KeyF1 + 2: fyne.KeyF3, window.KeyF1 + 3: fyne.KeyF4,
	window.KeyF1 + 4: fyne.KeyF5, window.KeyF1 + 5: fyne.KeyF6, window.KeyF1 + 6: fyne.KeyF7, window.KeyF1 + 7: fyne.KeyF8,
	window.KeyF1 + 8: fyne.KeyF9, window.KeyF1 + 9: fyne.KeyF10, window.KeyF1 + 10: fyne.KeyF11, window.KeyF12: fyne.KeyF12,
}

// keyName returns Fyne's name of a key: its letter in upper case if it types one.
func keyName(e window.KeyEvent) fyne.KeyName {
	if n := keyNames[e.Key]; n != "" {
		return n
	}
	if e.Letter != 0 {
		return fyne.KeyName(strings.ToUpper(string(e.Letter)))
	}
	return fyne.KeyUnknown
}

func (w *frame) key(e window.KeyEvent) {
	name := keyName(e)
	event := &fyne.KeyEvent{Name: name}
	held := modifiers(e.Held)
	w.app.heldModifiers = held
	keyable, _ := w.canvas.Focused().(desktop.Keyable)
	if !e.Down {
		if keyable != nil {
			keyable.KeyUp(event)
		}
		return
	}
	w.canvas.keyboardUsed = true
	if keyable != nil {
		keyable.KeyDown(event)
	}
	if !w.typedKey(e, event, held) {
		return
	}
	for len(e.Text) > 0 {
		r, n := utf8.DecodeRuneInString(e.Text)
		e.Text = e.Text[n:]
		if f := w.canvas.Focused(); f != nil {
			f.TypedRune(r)
		} else if f := w.canvas.OnTypedRune(); f != nil {
			f(r)
		}
	}
}

// typedKey handles Tab, shortcuts and keys with a meaning, and reports whether the key's
// text should still be typed.
func (w *frame) typedKey(e window.KeyEvent, event *fyne.KeyEvent, held fyne.KeyModifier) bool {
	if e.Key == window.KeyTab && held&^fyne.KeyModifierShift == 0 {
		if t, ok := w.canvas.Focused().(fyne.Tabbable); !ok || !t.AcceptsTab() {
			if held == 0 {
				w.canvas.FocusNext()
			} else {
				w.canvas.FocusPrevious()
			}
			w.canvas.revealFocus()
			return false
		}
	}
	if s := w.shortcut(e, held); s != nil && w.typedShortcut(s) {
		return false
	}
	if f := w.canvas.Focused(); f != nil {
		f.TypedKey(event)
	} else if f := w.canvas.OnTypedKey(); f != nil {
		f(event)
	}
	return true
}

// shortcut returns the shortcut for a key with the modifiers held; nil if none.
func (w *frame) shortcut(e window.KeyEvent, held fyne.KeyModifier) fyne.Shortcut {
	board := w.app.Clipboard()
	copied, cut, paste := &fyne.ShortcutCopy{Clipboard: board}, &fyne.ShortcutCut{Clipboard: board}, &fyne.ShortcutPaste{Clipboard: board}
	name := keyName(e)
	switch held {
	case 0:
		return nil
	case fyne.KeyModifierControl:
		if s := map[fyne.KeyName]fyne.Shortcut{fyne.KeyZ: &fyne.ShortcutUndo{}, fyne.KeyY: &fyne.ShortcutRedo{}, fyne.KeyA: &fyne.ShortcutSelectAll{},
			fyne.KeyC: copied, fyne.KeyInsert: copied, fyne.KeyX: cut, fyne.KeyV: paste}[name]; s != nil {
			return s
		}
	case fyne.KeyModifierShift:
		return map[fyne.KeyName]fyne.Shortcut{fyne.KeyInsert: paste, fyne.KeyDelete: cut}[name]
	}
	if e.Key.IsModifier() || name == fyne.KeyUnknown {
		return nil
	}
	return &desktop.CustomShortcut{KeyName: name, Modifier: held}
}

func (w *frame) typedShortcut(s fyne.Shortcut) bool {
	focused := w.canvas.Focused()
	if f, ok := focused.(fyne.Shortcutable); ok {
		if d, ok := focused.(interface {
			fyne.Disableable
			SelectedText() string
		}); ok && d.Disabled() && s.ShortcutName() != (&fyne.ShortcutCopy{}).ShortcutName() {
			return false
		}
		f.TypedShortcut(s)
		return true
	}
	if c, ok := w.canvas.WindowlessCanvas.(fyne.Shortcutable); ok {
		c.TypedShortcut(s)
	}
	return true
}

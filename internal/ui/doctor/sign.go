package doctor

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/doctor"
)

// sign draws the state of a check in a square of 12 units, each state with a
// shape of its own: a tick, a triangle, a cross, a dash, and a ring for one that
// is not known yet.
type sign struct {
	widget.BaseWidget
	state doctor.State
}

// waits is the state of a check that is not known yet.
const waits doctor.State = "wait"

const signSize = 12

func newSign(state doctor.State) *sign {
	s := &sign{state: state}
	s.ExtendBaseWidget(s)
	return s
}

// signColour is the colour of a state's sign and word.
func signColour(state doctor.State) fyne.ThemeColorName {
	switch state {
	case doctor.OK:
		return base.ColorNameSuccess
	case doctor.Warn:
		return base.ColorNameWarning
	case doctor.Fail:
		return base.ColorNameError
	}
	return base.ColorNamePlaceHolder
}

// strokes of the states, from corner to corner of the square.
var signStrokes = map[doctor.State][][4]float32{
	doctor.OK:   {{1.5, 6.5, 4.5, 9.5}, {4.5, 9.5, 10.5, 2.5}},
	doctor.Warn: {{6, 1.5, 11, 10.5}, {11, 10.5, 1, 10.5}, {1, 10.5, 6, 1.5}},
	doctor.Fail: {{2, 2, 10, 10}, {10, 2, 2, 10}},
	doctor.Off:  {{2, 6, 10, 6}},
}

// CreateRenderer implements fyne.Widget.
func (s *sign) CreateRenderer() fyne.WidgetRenderer {
	r := &signRenderer{s: s}
	r.Refresh()
	return r
}

type signRenderer struct {
	s       *sign
	objects []fyne.CanvasObject
}

func (r *signRenderer) Destroy()                     {}
func (r *signRenderer) Layout(fyne.Size)             {}
func (r *signRenderer) MinSize() fyne.Size           { return fyne.NewSquareSize(signSize) }
func (r *signRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (r *signRenderer) Refresh() {
	c := r.s.Theme().Color(signColour(r.s.state), fyne.CurrentApp().Settings().ThemeVariant())
	r.objects = nil
	for _, p := range signStrokes[r.s.state] {
		l := canvas.NewLine(c)
		l.StrokeWidth = 2
		l.Position1, l.Position2 = fyne.NewPos(p[0], p[1]), fyne.NewPos(p[2], p[3])
		r.objects = append(r.objects, l)
	}
	if len(r.objects) == 0 {
		ring := canvas.NewCircle(nil)
		ring.StrokeColor, ring.StrokeWidth = c, 1.5
		ring.Resize(fyne.NewSquareSize(8))
		ring.Move(fyne.NewPos(2, 2))
		r.objects = append(r.objects, ring)
	}
}

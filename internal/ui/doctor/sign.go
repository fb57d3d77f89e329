package doctor

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/doctor"
	"wiebelt/internal/ui/widgets"
)

// sign draws the state of a check in a square of 12 units, with a distinct shape per state:
// a tick, a triangle, a cross, a dash, and a ring while unknown.
type sign struct {
	widget.BaseWidget
	state doctor.State
}

// statePending is the state of a check without a result yet.
const statePending doctor.State = "wait"

const signSize = 12

func newSign(state doctor.State) *sign {
	s := &sign{state: state}
	s.ExtendBaseWidget(s)
	return s
}

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

// signStrokes are the strokes of the states, within the square.
var signStrokes = map[doctor.State][][4]float32{
	doctor.OK:   {{1.5, 6.5, 4.5, 9.5}, {4.5, 9.5, 10.5, 2.5}},
	doctor.Warn: {{6, 1.5, 11, 10.5}, {11, 10.5, 1, 10.5}, {1, 10.5, 6, 1.5}},
	doctor.Fail: {{2, 2, 10, 10}, {10, 2, 2, 10}},
	doctor.Off:  {{2, 6, 10, 6}},
}

// CreateRenderer implements fyne.Widget.
func (s *sign) CreateRenderer() fyne.WidgetRenderer {
	ring := canvas.NewCircle(nil)
	ring.StrokeWidth, ring.Hidden = 1.5, len(signStrokes[s.state]) > 0
	ring.Resize(fyne.NewSquareSize(8))
	ring.Move(fyne.NewPos(2, 2))
	parts := []fyne.CanvasObject{ring}
	var strokes []*canvas.Line
	for _, p := range signStrokes[s.state] {
		l := canvas.NewLine(nil)
		l.StrokeWidth = 2
		l.Position1, l.Position2 = fyne.NewPos(p[0], p[1]), fyne.NewPos(p[2], p[3])
		strokes, parts = append(strokes, l), append(parts, l)
	}
	return widgets.Draw(s, widgets.Drawing{Parts: parts,
		Least:   func() fyne.Size { return fyne.NewSquareSize(signSize) },
		Arrange: func(fyne.Size) {},
		Paint: func(colour func(fyne.ThemeColorName) color.Color) {
			ring.StrokeColor = colour(signColour(s.state))
			for _, l := range strokes {
				l.StrokeColor = ring.StrokeColor
			}
		}})
}

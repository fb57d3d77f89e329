package widgets

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

// TestChoiceInANarrowWindow: words that do not fit beside the others are below them. A click
// chooses the word at its place, none beside them; the arrow keys follow their order.
func TestChoiceInANarrowWindow(t *testing.T) {
	w := test.NewTempApp(t).NewWindow("")
	var chosen []int
	c := NewChoice(func(i int) { chosen = append(chosen, i) })
	c.Set([]string{"Alles", "Gemist", "Door collega"}, 0)
	w.SetPadded(false)
	w.SetContent(c)
	first := c.words[0].Width() + 2*OptionPad
	for _, tt := range []struct {
		name   string
		width  float32
		rows   float32
		second fyne.Position
	}{
		{"wide", c.Width() + 40, 1, fyne.NewPos(first+5, 10)},
		{"two rows", c.Width() - 1, 2, fyne.NewPos(first+5, 10)},
		{"a row a word", c.MinSize().Width, 3, fyne.NewPos(5, ChoiceHeight+10)},
	} {
		chosen = nil
		w.Resize(fyne.NewSize(tt.width, 200))
		if got := c.MinSize().Height; got != tt.rows*ChoiceHeight {
			t.Errorf("%s: %v high", tt.name, got)
		}
		test.TapAt(c, tt.second)
		test.TapAt(c, fyne.NewPos(5, tt.rows*ChoiceHeight-2))
		test.TapAt(c, fyne.NewPos(5, tt.rows*ChoiceHeight+2))
		last := map[float32]int{1: 0, 2: 2, 3: 2}[tt.rows]
		if want := []int{1, last}; last > 0 && !slices.Equal(chosen, want) || last == 0 && !slices.Equal(chosen, want[:1]) {
			t.Errorf("%s: chosen %v", tt.name, chosen)
		}
	}
}

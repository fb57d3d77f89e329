package card

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/text"
)

// BenchmarkCard measures from a snapshot to the picture in the window's hands: a
// call that rings, the contact that comes, the rows of several, and the strip.
func BenchmarkCard(b *testing.B) {
	g := gallery(b)
	numbers := make([]phone.Number, 100)
	for i := range numbers {
		numbers[i] = number(b, fmt.Sprintf("06981%05d", i))
	}
	for _, size := range []struct {
		name  string
		scale float32
	}{{"100", 1}, {"200", 2}} {
		for _, name := range []string{"searching-start", "found", "several", "strip"} {
			b.Run(name+"/"+size.name, func(b *testing.B) {
				d, e := newDesktop(), newScript()
				d.monitors[0].Scale = size.scale
				cs, err := New(Config{Language: text.Dutch, Appearance: Light, Corner: BottomRight, Log: slog.New(slog.DiscardHandler)}, e, d)
				if err != nil {
					b.Fatal(err)
				}
				c := g[name]
				b.ReportAllocs()
				for b.Loop() {
					c.ID++ // another call of somebody else every time
					c.Number = numbers[int(c.ID)%len(numbers)]
					if c.Contacts = slices.Clone(c.Contacts); len(c.Contacts) > 0 {
						c.Contacts[0].FamilyName = fmt.Sprint("de Vries ", c.ID)
					}
					e.snap = &engine.Snapshot{Cards: []engine.Card{c}}
					cs.show()
				}
			})
		}
	}
}

package card

import (
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"slices"
	"testing"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// BenchmarkCard measures the time from a snapshot to the picture passed to the window: for
// a ringing call, the contact that arrives, the rows of several matches, and the strip.
func BenchmarkCard(b *testing.B) {
	g := gallery(b)
	numbers := make([]phone.Number, 100)
	for i := range numbers {
		numbers[i] = number(b, fmt.Sprintf("06981%05d", i))
	}
	config := Config{Language: text.Dutch, Appearance: "light", Corner: BottomRight, Log: slog.New(slog.DiscardHandler)}
	for _, size := range []struct {
		name  string
		scale float32
	}{{"100", 1}, {"200", 2}} {
		for _, name := range []string{"searching-start", "found", "several", "strip"} {
			b.Run(name+"/"+size.name, func(b *testing.B) {
				d, e := newDesktop(), newScript()
				d.monitors[0].Scale = size.scale
				cs, err := New(func() Config { return config }, e, d)
				must.Do(b, err)
				c := g[name]
				b.ReportAllocs()
				for b.Loop() {
					c.ID++ // a new call from another caller every time
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

// TestCardsAllocateLittle: from the second card on, a number and then
// its contact are shown with the memory of earlier ones. Whatever a card
// allocates, the collector has to free while the next one is painted.
func TestCardsAllocateLittle(t *testing.T) {
	g := gallery(t)
	for _, scale := range []float32{1, 2} {
		r := startCards(t, func(_ *Config, d *desktop) { d.monitors[0].Scale = scale })
		show := func(cards ...engine.Card) uint64 {
			r.e.snap = &engine.Snapshot{Cards: cards}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r.cs.show()
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		ring, answer := uint64(math.MaxUint64), uint64(math.MaxUint64) // the least: pools may be empty
		for i := range 25 {
			rings, found := g["searching-start"], g["found"]
			rings.ID, rings.Number = engine.CardID(i+1), number(t, fmt.Sprintf("06981%05d", i))
			found.ID, found.Number, found.Contacts = rings.ID, rings.Number, slices.Clone(found.Contacts)
			found.Contacts[0].FamilyName = fmt.Sprint("de Vries ", i)
			ring, answer = min(ring, show(rings)), min(answer, show(found))
			show()
		}
		if ring > 18_000 {
			t.Errorf("scale %v: a number takes %d bytes", scale, ring)
		}
		if answer > 48_000 {
			t.Errorf("scale %v: a contact takes %d bytes", scale, answer)
		}
	}
}

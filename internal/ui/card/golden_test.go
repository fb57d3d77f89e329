package card

import (
	"bytes"
	"cmp"
	"flag"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"wiebelt/internal/testutil/must"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

const golden = "testdata/golden"

// small turns a picture into one of sixteen colours, which is a third of the
// size and exact enough for the eye: always the colour next that the others
// stand in worst for.
func small(img *image.RGBA) *image.Paletted {
	count := map[color.RGBA]int{}
	at := func(i int) color.RGBA { return color.RGBA{img.Pix[i], img.Pix[i+1], img.Pix[i+2], 255} }
	for i := 0; i < len(img.Pix); i += 4 {
		count[at(i)]++
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	apart := func(a, b color.RGBA) int {
		r, g, b1 := int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B)
		return r*r + g*g + b1*b1
	}
	near := make([]int, len(all)) // how far each is from the palette
	for i := range near {
		near[i] = 1
	}
	var palette color.Palette
	for len(palette) < min(16, len(all)) {
		best := 0
		for i, c := range all {
			if count[c]*near[i] > count[all[best]]*near[best] {
				best = i
			}
		}
		palette = append(palette, all[best])
		for i, c := range all {
			if d := apart(c, all[best]); len(palette) == 1 || d < near[i] {
				near[i] = d
			}
		}
	}
	index := map[color.RGBA]uint8{}
	out := image.NewPaletted(img.Rect, palette)
	for i := 0; i < len(img.Pix); i += 4 {
		c := at(i)
		n, known := index[c]
		if !known {
			n = uint8(palette.Index(c))
			index[c] = n
		}
		out.Pix[i/4] = n
	}
	return out
}

// TestGolden holds the picture of every card against the one that was looked at.
// With -update it writes them anew.
func TestGolden(t *testing.T) {
	all := pictures(t)
	if *update {
		must.Do(t, os.RemoveAll(golden))
		must.Do(t, os.MkdirAll(golden, 0o755))
	}
	for _, p := range all {
		got := p.draw()
		file := filepath.Join(golden, p.name+".png")
		if *update {
			var b bytes.Buffer
			must.Do(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, small(got)))
			must.Do(t, os.WriteFile(file, b.Bytes(), 0o644))
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s was never looked at: %v", p.name, err)
			continue
		}
		want, err := png.Decode(bytes.NewReader(b))
		must.Do(t, err)
		if n := differ(got, want); n > got.Rect.Dx()*got.Rect.Dy()/2000 {
			t.Errorf("%s: %d pixels differ from the golden picture (-update writes it anew; look at it)", p.name, n)
		}
	}
	kept, err := filepath.Glob(golden + "/*.png")
	if err != nil || len(kept) != len(all) {
		t.Errorf("%d golden pictures for %d cards, %v", len(kept), len(all), err)
	}
}

// differ counts the pixels that are further from the golden picture than its few
// colours explain.
func differ(got *image.RGBA, want image.Image) (n int) {
	w, ok := want.(*image.Paletted)
	if !ok || got.Rect != w.Rect {
		return got.Rect.Dx() * got.Rect.Dy()
	}
	colours := make([]color.RGBA, len(w.Palette))
	for i, c := range w.Palette {
		colours[i] = color.RGBAModel.Convert(c).(color.RGBA)
	}
	far := func(a, b uint8) bool { return max(a, b)-min(a, b) > 0x40 }
	for i, at := range w.Pix {
		c, p := colours[at], got.Pix[4*i:4*i+3]
		if far(c.R, p[0]) || far(c.G, p[1]) || far(c.B, p[2]) {
			n++
		}
	}
	return n
}

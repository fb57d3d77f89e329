// Package shottest compares reviewed pictures, mostly the guide's, with what the program draws
// now. With WIEBELT_SHOTS_WRITE set (make shots), it rewrites the guide's pictures.
package shottest

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// dir is the folder of the pictures, relative to a package two folders below internal.
const dir = "../../../assets/guide/shots"

// All lists the variants of each picture, with the suffixes of their names.
var All = []struct {
	Language     text.Language
	Look, Suffix string
}{
	{text.Dutch, "light", ""}, {text.Dutch, "dark", "-dark"},
	{text.English, "light", ""}, {text.English, "dark", "-dark"},
}

// Kept is how pictures are stored, and how much the current drawing may differ.
type Kept struct {
	Colours int     // in a file
	Far     int     // allowed difference of red, green or blue
	Most    float64 // the share of pixels that may differ
	Write   bool    // rewrite the files
	How     string  // how to rewrite them
}

// guide is for the guide's pictures: some antialiased edges may differ, but never a word.
var guide = Kept{Colours: 128, Far: 32, Most: 0.002,
	Write: os.Getenv("WIEBELT_SHOTS_WRITE") != "", How: "make shots"}

// UpToDate fails if the guide's picture with that name and language,
// such as "calls" and "nl", does not show got.
func UpToDate(t *testing.T, name, language string, got image.Image) {
	t.Helper()
	guide.UpToDate(t, filepath.Join(dir, name+"."+language+".png"), got)
}

// UpToDate fails if the picture in a file does not show img.
func (k *Kept) UpToDate(t *testing.T, path string, img image.Image) {
	t.Helper()
	got, name := rgba(img), filepath.Base(path)
	if k.Write {
		var b bytes.Buffer
		e := png.Encoder{CompressionLevel: png.BestCompression}
		must.Do(t, e.Encode(&b, paletted(got, k.Colours)))
		must.Do(t, os.WriteFile(path, b.Bytes(), 0o644))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%s was never looked at: %v (%s draws it)", name, err, k.How)
		return
	}
	want := rgba(must.Get(png.Decode(bytes.NewReader(b)))(t))
	if want.Rect != got.Rect {
		t.Errorf("%s is %v, and it looks %v now (%s draws it anew)", name, want.Rect.Max, got.Rect.Max, k.How)
		return
	}
	n := differ(want, got, k.Far)
	share := float64(n) / float64(len(got.Pix)/4)
	t.Logf("%s: %d pixels differ (%.3f %%)", name, n, 100*share)
	if share > k.Most {
		t.Errorf("%s is out of date: %d pixels differ (%s draws it anew; look at it)", name, n, k.How)
	}
}

// paletted reduces a picture to its most frequent colours. This saves more than two thirds of
// the file size, and only the edges of letters differ slightly.
func paletted(all *image.RGBA, most int) image.Image {
	often := map[color.RGBA]int{}
	for p := range slices.Chunk(all.Pix, 4) {
		often[color.RGBA{p[0], p[1], p[2], p[3]}]++
	}
	colors := slices.SortedFunc(maps.Keys(often), func(a, b color.RGBA) int {
		return cmp.Or(often[b]-often[a], cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, c := range colors[:min(most, len(colors))] {
		palette = append(palette, c)
	}
	out := image.NewPaletted(all.Rect, palette)
	draw.Draw(out, out.Rect, all, image.Point{}, draw.Src)
	return out
}

func rgba(img image.Image) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out
}

func differ(a, b *image.RGBA, far int) (n int) {
	for i := 0; i < len(a.Pix); i += 4 {
		for k := range 3 {
			if d := int(a.Pix[i+k]) - int(b.Pix[i+k]); d > far || d < -far {
				n++
				break
			}
		}
	}
	return n
}

// Package shottest holds the pictures of the guide against what the program draws
// now. With WIEBELT_SHOTS_WRITE set (make shots) they are written anew.
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

// dir is where the pictures are, seen from a package two folders below internal.
const dir = "../../../assets/guide/shots"

// All are the ways in which each picture is there, with what stands behind its
// name.
var All = []struct {
	Language     text.Language
	Look, Suffix string
}{
	{text.Dutch, "light", ""}, {text.Dutch, "dark", "-dark"},
	{text.English, "light", ""}, {text.English, "dark", "-dark"},
}

// most is the share of pixels that may look different: an antialiased edge here
// and there, and never a word.
const most = 0.002

// UpToDate fails if the guide's picture of that name and language, such as "calls"
// and "nl", is not what got shows.
func UpToDate(t *testing.T, name, language string, got image.Image) {
	t.Helper()
	path := filepath.Join(dir, name+"."+language+".png")
	if os.Getenv("WIEBELT_SHOTS_WRITE") != "" {
		var b bytes.Buffer
		e := png.Encoder{CompressionLevel: png.BestCompression}
		must.Do(t, e.Encode(&b, paletted(got)))
		must.Do(t, os.WriteFile(path, b.Bytes(), 0o644))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%s: %v (make shots draws it)", name, err)
	}
	want, err := png.Decode(bytes.NewReader(b))
	must.Do(t, err)
	if want.Bounds().Size() != got.Bounds().Size() {
		t.Errorf("%s.%s is %v, and it looks %v now (make shots draws it anew)", name, language, want.Bounds().Size(), got.Bounds().Size())
		return
	}
	n := differ(rgba(want), rgba(got))
	share := float64(n) / float64(len(rgba(got).Pix)/4)
	t.Logf("%s.%s: %d pixels differ (%.3f %%)", name, language, n, 100*share)
	if share > most {
		t.Errorf("%s.%s is out of date: %d pixels differ (make shots draws it anew; look at it)", name, language, n)
	}
}

// paletted is a picture with its 128 most frequent colours: less than a third of the
// file, and only edges of letters look different, if one looks for them.
func paletted(img image.Image) image.Image {
	often := map[color.RGBA]int{}
	all := rgba(img)
	for p := range slices.Chunk(all.Pix, 4) {
		often[color.RGBA{p[0], p[1], p[2], p[3]}]++
	}
	colors := slices.SortedFunc(maps.Keys(often), func(a, b color.RGBA) int {
		return cmp.Or(often[b]-often[a], cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, c := range colors[:min(128, len(colors))] {
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

func differ(a, b *image.RGBA) (n int) {
	for i := 0; i < len(a.Pix); i += 4 {
		for k := range 3 {
			if d := int(a.Pix[i+k]) - int(b.Pix[i+k]); d > 32 || d < -32 {
				n++
				break
			}
		}
	}
	return n
}

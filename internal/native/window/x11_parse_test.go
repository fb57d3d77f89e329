//go:build linux

package window

import (
	"encoding/binary"
	"image"
	"maps"
	"slices"
	"testing"

	"wiebelt/internal/testutil/must"
)

// xsettings encodes the property of a settings manager.
func xsettings(all map[string]any) []byte {
	order := binary.LittleEndian
	b := []byte{0, 0, 0, 0, 0, 0, 0, 0}
	b = order.AppendUint32(b, uint32(len(all)))
	pad := func(s string) {
		b = append(b, s...)
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		kind := byte(0)
		if _, ok := all[name].(string); ok {
			kind = 1
		}
		b = append(b, kind, 0)
		b = order.AppendUint16(b, uint16(len(name)))
		pad(name)
		b = order.AppendUint32(b, 7)
		switch v := all[name].(type) {
		case int32:
			b = order.AppendUint32(b, uint32(v))
		case string:
			b = order.AppendUint32(b, uint32(len(v)))
			pad(v)
		}
	}
	return b
}

func TestParseXSettings(t *testing.T) {
	want := map[string]any{"Net/ThemeName": "Arc-Dark", "Xft/DPI": int32(98304), "a": ""}
	b := xsettings(want)
	if got := parseXSettings(b); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	for n := range b {
		if got := parseXSettings(b[:n]); len(got) == len(want) {
			t.Errorf("cut at %d: %v", n, got)
		}
	}
}

func FuzzParseXSettings(f *testing.F) {
	f.Add(xsettings(map[string]any{"Net/ThemeName": "Arc-Dark", "Xft/DPI": int32(98304)}))
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 1, 0, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		if all := parseXSettings(b); len(all) > len(b) {
			t.Errorf("%d settings from %d bytes", len(all), len(b))
		}
	})
}

func TestResourceDPI(t *testing.T) {
	for text, want := range map[string]float64{
		"":                              0,
		"Xft.dpi:\t192\n":               192,
		"*color0: #000\nXft.dpi: 120.5": 120.5,
		"Xft.dpi: many\n":               0,
		"Xft.dpix: 3\n":                 0,
	} {
		if got := resourceDPI(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for dpi, ok := range map[float64]bool{0: false, -1: false, 96: true, 1e9: false, 20: false} {
		if _, got := scaleOf(dpi); got != ok {
			t.Errorf("%v dpi: %v", dpi, got)
		}
	}
}

func TestDarkTheme(t *testing.T) {
	for name, want := range map[string]bool{
		"Adwaita": false, "Adwaita-dark": true, "Mint-Y-Dark-Aqua": true, "BreezeDark": true, "": false, "Darkness-light": false,
	} {
		if darkTheme(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func TestWorkArea(t *testing.T) {
	screen := image.Rect(0, 0, 3000, 1000)
	left, right := image.Rect(0, 0, 1500, 1000), image.Rect(1500, 0, 3000, 1000)
	for _, c := range []struct {
		name        string
		v           [12]uint32
		left, right image.Rectangle
	}{
		{"none", [12]uint32{}, left, right},
		{"top of all", [12]uint32{2: 24, 9: 2999}, image.Rect(0, 24, 1500, 1000), image.Rect(1500, 24, 3000, 1000)},
		{"left edge", [12]uint32{0: 60, 5: 999}, image.Rect(60, 0, 1500, 1000), right},
		{"left edge of the right monitor", [12]uint32{0: 1560, 5: 999}, left, image.Rect(1560, 0, 3000, 1000)},
		{"right edge of the left monitor", [12]uint32{1: 1560, 7: 999}, image.Rect(0, 0, 1440, 1000), right},
		{"bottom right only", [12]uint32{3: 40, 10: 1500, 11: 2999}, left, image.Rect(1500, 0, 3000, 960)},
		{"nonsense", [12]uint32{0: 1 << 31, 1: 1 << 31, 2: 1 << 31, 3: 1 << 31, 5: 1 << 31, 7: 1 << 31, 9: 1 << 31, 11: 1 << 31}, left, right},
	} {
		st := parseStrut(c.v[:], screen)
		if l, r := workArea(left, st), workArea(right, st); l != c.left || r != c.right {
			t.Errorf("%s: %v %v, want %v %v", c.name, l, r, c.left, c.right)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, f := range []format{
		{depth: 16, bytes: 2, pad: 4, red: 0xf800, green: 0x7e0, blue: 0x1f},
		{depth: 24, bytes: 3, pad: 4, red: 0xff0000, green: 0xff00, blue: 0xff},
		{depth: 24, bytes: 4, pad: 4, red: 0xff, green: 0xff00, blue: 0xff0000},
		{depth: 24, bytes: 4, pad: 4, red: 0xff0000, green: 0xff00, blue: 0xff, msb: true},
		{depth: 30, bytes: 4, pad: 4, red: 0x3ff00000, green: 0xffc00, blue: 0x3ff},
	} {
		const w, h = 5, 3
		pic := NewPicture(w, h, nil)
		for i := range pic.Pix {
			pic.Pix[i] = byte(i * 37)
		}
		raw := make([]byte, f.stride(w)*h)
		f.encode(raw, pic.Pix, w)
		img := image.NewRGBA(image.Rect(0, 0, w, h))
		must.Do(t, f.decode(img, img.Rect, raw))
		for i := 0; i < len(pic.Pix); i += 4 {
			for k := range 3 {
				a, b := int(pic.Pix[i+2-k]), int(img.Pix[i+k])
				if a-b > 8 || b-a > 8 {
					t.Fatalf("%+v: pixel %d part %d: %d became %d", f, i/4, k, a, b)
				}
			}
		}
		if f.decode(img, img.Rect, raw[1:]) == nil {
			t.Error("short picture accepted")
		}
	}
}

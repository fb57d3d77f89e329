package main

import (
	"bytes"
	"image"
	"os"
	"path/filepath"
	"testing"
)

// TestCheckedIn: the pictures in the project are those that this draws.
func TestCheckedIn(t *testing.T) {
	dir, kept := t.TempDir(), "../../assets/icons"
	if err := makeAll(dir); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadDir(kept)
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != len(have) {
		t.Errorf("%d pictures are checked in, %d are drawn", len(have), len(made))
	}
	for _, f := range made {
		want, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(kept, f.Name()))
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: go generate ./assets", f.Name())
		}
	}
}

// TestApart: without their colours, as brightness on a dark and on a light
// panel, no two states look alike.
func TestApart(t *testing.T) {
	for _, size := range traySizes {
		for _, panel := range []int{0x20, 0xF0} {
			for i, a := range states {
				for _, b := range states[:i] {
					if d := apart(draw(a.draw, size), draw(b.draw, size), panel); d < 0.06 {
						t.Errorf("%s and %s at %d pixels on %#x: only %.1f%% apart", a.name, b.name, size, panel, 100*d)
					}
				}
			}
		}
	}
}

// apart is the mean difference in brightness, 1 being that of black and white.
func apart(a, b *image.NRGBA, panel int) float64 {
	sum := 0
	for i := 0; i < len(a.Pix); i += 4 {
		x, y := brightness(a.Pix[i:], panel), brightness(b.Pix[i:], panel)
		sum += max(x-y, y-x)
	}
	return float64(sum) / 255 / float64(len(a.Pix)/4)
}

func brightness(p []uint8, panel int) int {
	v := (299*int(p[0]) + 587*int(p[1]) + 114*int(p[2])) / 1000
	return (v*int(p[3]) + panel*(255-int(p[3]))) / 255
}

// TestSeen: every picture stands out from a dark and from a light panel.
func TestSeen(t *testing.T) {
	for _, s := range states {
		for _, panel := range []int{0x20, 0xF0} {
			img, n := draw(s.draw, 16), 0
			for i := 0; i < len(img.Pix); i += 4 {
				if d := brightness(img.Pix[i:], panel) - panel; d > 60 || d < -60 {
					n++
				}
			}
			if n < 40 {
				t.Errorf("%s on %#x: only %d of 256 pixels stand out", s.name, panel, n)
			}
		}
	}
}

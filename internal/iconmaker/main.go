// Command iconmaker draws the app's icon and the tray's icons into a folder: a
// card with a ringing edge, and a shape of its own for every state, so that
// they can be told apart in one colour.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"math"
	"os"
	"path/filepath"
)

// Shapes are drawn on a square of 16 units. A shape says how much of its colour
// a point has: the card's blue, white on it, or nothing.
type paint uint8

const (
	none paint = iota
	blue
	white
)

type shape func(x, y float64) paint

var (
	accent = color.NRGBA{0x2B, 0x82, 0xDA, 0xFF} // readable on light and on dark panels
	paper  = color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: iconmaker FOLDER")
	}
	dir := os.Args[1]
	icons := map[string]shape{
		"app": ready, "tray-ready": ready, "tray-not-set-up": notSetUp, "tray-link-lost": linkLost,
		"tray-hub-gone": hubGone, "tray-credentials": credentials, "tray-paused": paused,
	}
	for name, s := range icons {
		sizes := []int{16, 22, 24, 32, 48}
		if name == "app" {
			sizes = append(sizes, 64, 128, 256)
		}
		for _, n := range sizes {
			var b bytes.Buffer
			if err := png.Encode(&b, draw(s, n)); err != nil {
				log.Fatal(err)
			}
			write(filepath.Join(dir, fmt.Sprintf("%s-%d.png", name, n)), b.Bytes())
		}
		ico := []int{16, 24, 32, 48}
		if name == "app" {
			ico = append(ico, 256)
		}
		write(filepath.Join(dir, name+".ico"), icoFile(s, ico))
	}
}

func write(path string, b []byte) {
	if err := os.WriteFile(path, b, 0o644); err != nil {
		log.Fatal(err)
	}
}

// The parts of the pictures, in units.

func card(x, y float64) bool { return rounded(x, y, 0.5, 4.5, 12.5, 15.5, 1.8) }

func rounded(x, y, x0, y0, x1, y1, r float64) bool {
	if x < x0 || x > x1 || y < y0 || y > y1 {
		return false
	}
	cx, cy := math.Min(math.Max(x, x0+r), x1-r), math.Min(math.Max(y, y0+r), y1-r)
	return math.Hypot(x-cx, y-cy) <= r
}

// arcs are two rings around the card's upper right corner.
func arcs(x, y float64) bool {
	dx, dy := x-9.6, 7.2-y
	if dx < 0.2 || dy < 0.2 {
		return false
	}
	r := math.Hypot(dx, dy)
	return r > 3.9 && r < 5.2 || r > 6.1 && r < 7.4
}

// body is a card with its person on it.
func body(x, y float64) paint {
	if !card(x, y) {
		return none
	}
	head := math.Hypot(x-6.5, y-8.2) <= 1.7
	chest := math.Hypot((x-6.5)/1.25, y-14.2) <= 2.7 && y < 14
	if head || chest {
		return white
	}
	return blue
}

func plain(x, y float64) paint {
	if card(x, y) {
		return blue
	}
	return none
}

func ready(x, y float64) paint {
	if arcs(x, y) {
		return blue
	}
	if nearArcs(x, y) {
		return none
	}
	return body(x, y)
}

// nearArcs keeps the inner ring apart from the card.
func nearArcs(x, y float64) bool {
	dx, dy := x-9.6, 7.2-y
	r := math.Hypot(dx, dy)
	return dx > -0.6 && dy > -0.6 && r > 3.1 && r < 8
}

func notSetUp(x, y float64) paint {
	p := plain(x, y)
	if p == none {
		return none
	}
	dx, dy := x-6.5, y-8.1
	r := math.Hypot(dx, dy)
	bow := r > 1.3 && r < 2.75 && !(dx < 0 && dy > 0.2)
	stem := math.Abs(dx) < 0.75 && y > 9.4 && y < 11.6
	dot := math.Hypot(dx, y-13.3) < 0.95
	if bow || stem || dot {
		return white
	}
	return p
}

func linkLost(x, y float64) paint {
	if d := x + y*0.35 - 10; d > -1.1 && d < 1.1 { // a gap through the card
		return none
	}
	return plain(x, y)
}

func hubGone(x, y float64) paint {
	d := (x - y) / math.Sqrt2
	if x > 0.4 && x < 15.6 && math.Abs(d) < 0.9 {
		return blue
	}
	if math.Abs(d) < 2.1 {
		return none
	}
	return plain(x, y)
}

func credentials(x, y float64) paint {
	p := plain(x, y)
	if p == none {
		return none
	}
	r := math.Hypot(x-4.4, y-10)
	bow := r < 2.5 && r > 1.05
	bar := y > 9.3 && y < 10.7 && x > 6.2 && x < 11.4
	teeth := y > 10 && y < 12.4 && (x > 10.1 && x < 11.4 || x > 7.9 && x < 9.2)
	if bow || bar || teeth {
		return white
	}
	return p
}

func paused(x, y float64) paint {
	if rounded(x, y, 3, 2, 6.6, 14, 1) || rounded(x, y, 9.4, 2, 13, 14, 1) {
		return blue
	}
	return none
}

// draw samples a shape eight times each way in every pixel.
func draw(s shape, size int) *image.NRGBA {
	const n = 8
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	unit := 16 / float64(size)
	for py := range size {
		for px := range size {
			var blues, whites int
			for i := range n * n {
				x := (float64(px) + (float64(i%n)+0.5)/n) * unit
				y := (float64(py) + (float64(i/n)+0.5)/n) * unit
				switch s(x, y) {
				case blue:
					blues++
				case white:
					whites++
				}
			}
			all := blues + whites
			if all == 0 {
				continue
			}
			mix := func(a, b uint8) uint8 { return uint8((int(a)*blues + int(b)*whites) / all) }
			img.SetNRGBA(px, py, color.NRGBA{mix(accent.R, paper.R), mix(accent.G, paper.G), mix(accent.B, paper.B), uint8(all * 255 / (n * n))})
		}
	}
	return img
}

// icoFile makes a Windows icon: plain bitmaps for small sizes, which every
// version reads, PNG for the large one.
func icoFile(s shape, sizes []int) []byte {
	var head, data bytes.Buffer
	put := func(b *bytes.Buffer, v any) { _ = binary.Write(b, binary.LittleEndian, v) }
	put(&head, [3]uint16{0, 1, uint16(len(sizes))})
	for _, n := range sizes {
		var one bytes.Buffer
		img := draw(s, n)
		if n >= 256 {
			if err := png.Encode(&one, img); err != nil {
				log.Fatal(err)
			}
		} else {
			put(&one, struct {
				Size         uint32
				W, H         int32
				Planes, Bits uint16
				Rest         [6]uint32
			}{40, int32(n), int32(2 * n), 1, 32, [6]uint32{}})
			for y := n - 1; y >= 0; y-- {
				for x := range n {
					c := img.NRGBAAt(x, y)
					one.Write([]byte{c.B, c.G, c.R, c.A})
				}
			}
			one.Write(make([]byte, (n+31)/32*4*n)) // the mask: alpha says it all
		}
		put(&head, [4]uint8{uint8(n), uint8(n), 0, 0})
		put(&head, [2]uint16{1, 32})
		put(&head, [2]uint32{uint32(one.Len()), uint32(6 + 16*len(sizes) + data.Len())})
		data.Write(one.Bytes())
	}
	return append(head.Bytes(), data.Bytes()...)
}

// Command iconmaker draws the app's icon and the tray's icons into a folder. The
// motif is the card of a call: its left edge thick, and ringing at its corner.
// Every state has a shape of its own, so that the states can be told apart in
// one colour, and a white outline, so that they can be seen on dark panels and
// on light ones.
//
// It owns the pictures in assets/icons, which are checked in, and starts no
// goroutines.
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

// states are the tray's pictures; the app shows the first.
var states = []struct {
	name string
	draw picture
}{
	{"ready", ready},
	{"not-set-up", notSetUp},
	{"doubt", doubt},
	{"link-lost", linkLost},
	{"hub-gone", hubGone},
	{"credentials", credentials},
	{"paused", paused},
}

var (
	// traySizes are those of panels at common scales, appSizes add those of
	// menus and switchers.
	traySizes = []int{16, 22, 24, 32, 48}
	appSizes  = []int{16, 22, 24, 32, 48, 64, 128, 256}
	// Windows takes the size it needs out of one file.
	trayICO = []int{16, 24, 32, 48}
	appICO  = []int{16, 24, 32, 48, 64, 256}
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: iconmaker FOLDER")
	}
	if err := makeAll(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// makeAll writes every picture into dir.
func makeAll(dir string) error {
	if err := write(dir, "app", states[0].draw, appSizes, appICO); err != nil {
		return err
	}
	for _, s := range states {
		if err := write(dir, "tray-"+s.name, s.draw, traySizes, trayICO); err != nil {
			return err
		}
	}
	return nil
}

func write(dir, name string, p picture, sizes, ico []int) error {
	for _, n := range sizes {
		var b bytes.Buffer
		if err := png.Encode(&b, draw(p, n)); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d.png", name, n)), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	b, err := icoFile(p, ico)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".ico"), b, 0o644)
}

// draw samples a picture eight times each way in every pixel, which is all the
// smoothing that small icons need.
func draw(p picture, size int) *image.NRGBA {
	const n = 8
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	at := p(grid(size))
	unit := 16 / float64(size)
	for py := range size {
		for px := range size {
			var r, g, b, all int
			for i := range n * n {
				x := (float64(px) + (float64(i%n)+0.5)/n) * unit
				y := (float64(py) + (float64(i/n)+0.5)/n) * unit
				if k := at(x, y); k != nothing {
					c := colours[k]
					r, g, b, all = r+int(c.R), g+int(c.G), b+int(c.B), all+1
				}
			}
			if all > 0 {
				img.SetNRGBA(px, py, color.NRGBA{uint8(r / all), uint8(g / all), uint8(b / all), uint8(all * 255 / (n * n))})
			}
		}
	}
	return img
}

// grid puts a length in units onto the pixels of an icon of that size; edges
// between pixels would be blurred.
type grid int

func (g grid) snap(v float64) float64 { return math.Round(v*float64(g)/16) * 16 / float64(g) }

// icoFile makes a Windows icon: plain bitmaps for small sizes, which every
// version reads, PNG for the large one, which would weigh a quarter megabyte.
func icoFile(p picture, sizes []int) ([]byte, error) {
	var head, data bytes.Buffer
	put := func(b *bytes.Buffer, v any) { _ = binary.Write(b, binary.LittleEndian, v) } // a buffer takes all
	put(&head, [3]uint16{0, 1, uint16(len(sizes))})
	for _, n := range sizes {
		var one bytes.Buffer
		img := draw(p, n)
		if n >= 256 {
			if err := png.Encode(&one, img); err != nil {
				return nil, err
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
		put(&head, [4]uint8{uint8(n), uint8(n), 0, 0}) // 256 is written as 0
		put(&head, [2]uint16{1, 32})
		put(&head, [2]uint32{uint32(one.Len()), uint32(6 + 16*len(sizes) + data.Len())})
		data.Write(one.Bytes())
	}
	return append(head.Bytes(), data.Bytes()...), nil
}

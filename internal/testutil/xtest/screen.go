package xtest

import (
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"math/bits"
	"time"

	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/testutil/must"
)

// Screenshot returns a picture of the whole screen.
func (s *Server) Screenshot() *image.RGBA {
	s.t.Helper()
	p := s.Size()
	return s.Crop(image.Rect(0, 0, p.X, p.Y))
}

// Crop returns a picture of a part of the screen, with the bounds r.
func (s *Server) Crop(r image.Rectangle) *image.RGBA {
	s.t.Helper()
	return must.Get(s.crop(r))(s.t)
}

func (s *Server) crop(r image.Rectangle) (*image.RGBA, error) {
	p := s.Size()
	r = r.Intersect(image.Rect(0, 0, p.X, p.Y))
	if r.Empty() {
		return nil, errors.New("outside the screen")
	}
	rep, err := xproto.GetImage(s.conn, xproto.ImageFormatZPixmap, xproto.Drawable(s.root),
		int16(r.Min.X), int16(r.Min.Y), uint16(r.Dx()), uint16(r.Dy()), ^uint32(0)).Reply()
	if err != nil {
		return nil, err
	}
	var v xproto.VisualInfo
	for _, d := range s.setup.DefaultScreen(s.conn).AllowedDepths {
		for _, vi := range d.Visuals {
			if vi.VisualId == rep.Visual || rep.Visual == 0 && vi.VisualId == s.setup.DefaultScreen(s.conn).RootVisual {
				v = vi
			}
		}
	}
	bytes := 4
	for _, f := range s.setup.PixmapFormats {
		if f.Depth == rep.Depth {
			bytes = int(f.BitsPerPixel) / 8
		}
	}
	img := image.NewRGBA(r)
	decode(img, rep.Data, bytes, v)
	return img, nil
}

// decode paints what the server sent, with so many bytes per pixel. No other goroutine has
// access to either, and race detection takes ten times as long as the work.
//
//go:norace
func decode(img *image.RGBA, data []byte, bytes int, v xproto.VisualInfo) {
	stride := (img.Rect.Dx()*bytes + 3) &^ 3
	plain := bytes == 4 && v.RedMask == 0xFF0000 && v.GreenMask == 0xFF00 && v.BlueMask == 0xFF
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			at := data[y*stride+x*bytes:]
			to := img.Pix[y*img.Stride+4*x:][:4]
			if plain {
				to[0], to[1], to[2], to[3] = at[2], at[1], at[0], 255
				continue
			}
			var px uint32
			if bytes == 2 {
				px = uint32(binary.LittleEndian.Uint16(at))
			} else {
				px = binary.LittleEndian.Uint32(at)
			}
			to[0], to[1], to[2], to[3] = part(px, v.RedMask), part(px, v.GreenMask), part(px, v.BlueMask), 255
		}
	}
}

// Count returns how many pixels of a picture have a colour
// (0xRRGGBB), each component plus or minus tolerance.
//
//go:norace
func Count(img *image.RGBA, rgb uint32, tolerance int) (n int) {
	r, g, b := int(rgb>>16&0xFF), int(rgb>>8&0xFF), int(rgb&0xFF)
	for y := range img.Rect.Dy() {
		row := img.Pix[y*img.Stride:][:4*img.Rect.Dx()]
		for i := 0; i < len(row); i += 4 {
			if max(int(row[i])-r, r-int(row[i]), int(row[i+1])-g, g-int(row[i+1]), int(row[i+2])-b, b-int(row[i+2])) <= tolerance {
				n++
			}
		}
	}
	return n
}

// part scales the bits under mask to 0..255.
func part(px, mask uint32) uint8 {
	if mask == 0 {
		return 0
	}
	top := mask >> bits.TrailingZeros32(mask)
	return uint8((px & mask) >> bits.TrailingZeros32(mask) * 255 / top)
}

// Pixel returns the colour at a place on the screen.
func (s *Server) Pixel(x, y int) color.RGBA {
	s.t.Helper()
	return s.Crop(image.Rect(x, y, x+1, y+1)).RGBAAt(x, y)
}

// Near reports whether two colours differ by at most tolerance in every component.
func Near(a, b color.RGBA, tolerance int) bool {
	d := func(x, y uint8) bool { return max(int(x), int(y))-min(int(x), int(y)) <= tolerance }
	return d(a.R, b.R) && d(a.G, b.G) && d(a.B, b.B)
}

// WaitPixel waits until a place on the screen has a colour (plus or minus 10, for screens
// with fewer bits), and fails the test if it never does.
func (s *Server) WaitPixel(x, y int, want color.RGBA) {
	s.t.Helper()
	var got color.RGBA
	s.Until("a pixel gets its colour", func() bool {
		got = s.Pixel(x, y)
		return Near(got, want, 10)
	}, func() []any { return []any{"place", image.Pt(x, y), "has", got, "want", want} })
}

// Until polls, a few milliseconds apart or more if polling takes long, until ok
// returns true, and fails the test after must.Patience. It is for what other programs do
// without an event, and leaves them time to do it.
func (s *Server) Until(what string, ok func() bool, more ...func() []any) {
	s.t.Helper()
	stop := time.After(must.Patience)
	for {
		began := time.Now()
		if ok() {
			return
		}
		select {
		case <-time.After(min(max(4*time.Since(began), 5*time.Millisecond), 50*time.Millisecond)):
		case <-stop:
			args := []any{"never:", what}
			for _, m := range more {
				args = append(args, m()...)
			}
			s.t.Fatal(args...)
		}
	}
}

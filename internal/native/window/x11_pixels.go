//go:build linux

package window

import (
	"encoding/binary"
	"errors"
	"image"
	"math/bits"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// format is the server's pixel format for a visual.
type format struct {
	depth            byte
	bytes            int // per pixel: 2, 3 or 4
	pad              int // rows are padded to a multiple of this many bytes
	red, green, blue uint32
	msb              bool
	// native means that the layout is that of our pictures, so that rows are copied unchanged.
	native bool
}

func newFormat(setup *xproto.SetupInfo, depth byte, v xproto.VisualInfo) (format, bool) {
	f := format{depth: depth, red: v.RedMask, green: v.GreenMask, blue: v.BlueMask, msb: setup.ImageByteOrder == xproto.ImageOrderMSBFirst}
	if v.Class != xproto.VisualClassTrueColor && v.Class != xproto.VisualClassDirectColor || f.red == 0 || f.green == 0 || f.blue == 0 {
		return f, false
	}
	for _, p := range setup.PixmapFormats {
		if p.Depth == depth {
			f.bytes, f.pad = int(p.BitsPerPixel)/8, max(int(p.ScanlinePad)/8, 1)
		}
	}
	f.native = depth == 24 && f.bytes == 4 && !f.msb && f.red == 0xff0000 && f.green == 0xff00 && f.blue == 0xff
	return f, f.bytes >= 2 && f.bytes <= 4
}

// formats chooses the visual of our windows: the root's, or another one that
// takes our pictures unchanged. If there is none, it chooses the root's, and
// every pixel is converted. This happens on 16 and 30 bit screens, where only a
// visual with transparency has 8 bits per colour.
func formats(setup *xproto.SetupInfo, screen *xproto.ScreenInfo) (ours, root format, visual xproto.Visualid, err error) {
	err = errors.New("screen without true colours")
	for _, d := range screen.AllowedDepths {
		for _, v := range d.Visuals {
			f, ok := newFormat(setup, d.Depth, v)
			isRoot := v.VisualId == screen.RootVisual
			if isRoot {
				root = f
			}
			if ok && v.Class == xproto.VisualClassTrueColor && (f.native && isRoot || !ours.native && (f.native || isRoot)) {
				ours, visual, err = f, v.VisualId, nil
			}
		}
	}
	return ours, root, visual, err
}

func (f format) stride(w int) int { return (w*f.bytes + f.pad - 1) / f.pad * f.pad }

// scale scales an 8-bit colour component to a mask.
func scale(v byte, mask uint32) uint32 {
	shift, n := bits.TrailingZeros32(mask), bits.OnesCount32(mask)
	x := uint32(v)
	if n <= 8 {
		x >>= 8 - n
	} else {
		x = x<<(n-8) | x>>(16-n)
	}
	return x << shift & mask
}

// unscale is the inverse of scale, with a result of 0..255.
func unscale(px, mask uint32) byte {
	if mask == 0 {
		return 0
	}
	shift := bits.TrailingZeros32(mask)
	return byte(uint64(px&mask>>shift) * 255 / uint64(mask>>shift))
}

func (f format) encode(dst, rows []byte, w int) {
	if f.native {
		copy(dst, rows)
		return
	}
	stride := f.stride(w)
	for y := 0; len(rows) > 0; y++ {
		line := dst[y*stride:]
		for x := range w {
			p := rows[4*x:]
			px := scale(p[2], f.red) | scale(p[1], f.green) | scale(p[0], f.blue)
			f.store(line[x*f.bytes:], px)
		}
		rows = rows[4*w:]
	}
}

// shift returns the position of the i-th byte in a pixel, in bits.
func (f format) shift(i int) int {
	if f.msb {
		i = f.bytes - 1 - i
	}
	return 8 * i
}

func (f format) store(b []byte, px uint32) {
	for i := range f.bytes {
		b[i] = byte(px >> f.shift(i))
	}
}

func (f format) load(b []byte) (px uint32) {
	for i := range f.bytes {
		px |= uint32(b[i]) << f.shift(i)
	}
	return px
}

func (f format) decode(img *image.RGBA, part image.Rectangle, data []byte) error {
	stride := f.stride(part.Dx())
	if len(data) < stride*part.Dy() {
		return errors.New("the X server sent a short picture")
	}
	for y := range part.Dy() {
		line := data[y*stride:]
		o := img.PixOffset(part.Min.X, part.Min.Y+y)
		for x := range part.Dx() {
			px := f.load(line[x*f.bytes:])
			out := img.Pix[o+4*x:]
			out[0], out[1], out[2], out[3] = unscale(px, f.red), unscale(px, f.green), unscale(px, f.blue), 255
		}
	}
	return nil
}

// drawPixmap draws a picture into a pixmap at p, in strips that fit into one request. The request
// is built here because the library's own would allocate and copy every strip twice.
func (d *x11) drawPixmap(px xproto.Pixmap, p image.Point, pic *Picture) {
	const header, opcode = 24, 72
	d.drawing.Lock()
	defer d.drawing.Unlock()
	stride := d.format.stride(pic.W)
	most := (len(d.strip) - header) / stride
	for y := 0; y < pic.H; y += most {
		n := min(most, pic.H-y)
		size := (header + n*stride + 3) &^ 3
		b := d.strip[:size]
		b[0], b[1] = opcode, xproto.ImageFormatZPixmap
		binary.LittleEndian.PutUint16(b[2:], uint16(size/4))
		xgb.Put32(b[4:], uint32(px))
		xgb.Put32(b[8:], uint32(d.gc))
		binary.LittleEndian.PutUint16(b[12:], uint16(pic.W))
		binary.LittleEndian.PutUint16(b[14:], uint16(n))
		binary.LittleEndian.PutUint16(b[16:], uint16(p.X))
		binary.LittleEndian.PutUint16(b[18:], uint16(p.Y+y))
		b[20], b[21], b[22], b[23] = 0, d.format.depth, 0, 0
		d.format.encode(b[header:], pic.Pix[4*pic.W*y:4*pic.W*(y+n)], pic.W)
		// This returns when the strip has been written, so that it can be reused.
		d.conn.NewRequest(b, d.conn.NewCookie(false, false))
	}
}

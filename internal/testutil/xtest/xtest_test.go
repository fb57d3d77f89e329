package xtest_test

import (
	"image"
	"image/color"
	"testing"

	"wiebelt/internal/testutil/xtest"
)

func TestServer(t *testing.T) {
	for _, wm := range []string{"", "openbox", "xfwm4"} {
		t.Run("wm="+wm, func(t *testing.T) {
			s := xtest.Start(t, wm, xtest.Options{Width: 800, Height: 600})
			s.Run("xsetroot", "-solid", "#204060")
			s.WaitPixel(799, 599, color.RGBA{0x20, 0x40, 0x60, 255})
			term := s.Terminal(image.Rect(40, 40, 440, 240))
			s.Type("Hallo 123", 2)
			term.WaitText("Hallo 123")
		})
	}
}

func TestDepth(t *testing.T) {
	for _, depth := range []int{16, 30} {
		s := xtest.Start(t, "", xtest.Options{Width: 320, Height: 200, Depth: depth})
		s.Run("xsetroot", "-solid", "#ff8000")
		s.WaitPixel(10, 10, color.RGBA{255, 128, 0, 255})
	}
}

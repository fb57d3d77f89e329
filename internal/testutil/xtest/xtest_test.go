package xtest_test

import (
	"image/color"
	"testing"

	"wiebelt/internal/testutil/xtest"
)

func TestDepth(t *testing.T) {
	for _, depth := range []int{16, 30} {
		s := xtest.Start(t, "", xtest.Options{Width: 320, Height: 200, Depth: depth})
		s.Run("xsetroot", "-solid", "#ff8000")
		s.WaitPixel(10, 10, color.RGBA{255, 128, 0, 255})
	}
}

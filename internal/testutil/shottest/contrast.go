package shottest

import (
	"image"
	"image/color"
	"math"
)

// Contrast returns the contrast of two colours according to WCAG 2.2, from 1 to 21.
func Contrast(a, b color.Color) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(c color.Color) float64 {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	linear := func(v uint8) float64 {
		f := float64(v) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(n.R) + 0.7152*linear(n.G) + 0.0722*linear(n.B)
}

// Mark returns the highest contrast between a coloured mark and any pixel of the top row of
// pixels in row, or 0 if the mark is not there.
func Mark(in image.Image, colour color.Color, row image.Rectangle) (most float64) {
	want := color.NRGBAModel.Convert(colour)
	there := false
	for x := row.Min.X; x < row.Max.X; x++ {
		c := color.NRGBAModel.Convert(in.At(x, row.Min.Y))
		there = there || c == want
		most = max(most, Contrast(want, c))
	}
	if !there {
		return 0
	}
	return most
}

package main

import (
	"image/color"
	"math"
)

// paint is what a point of a picture is covered with.
type paint uint8

const (
	nothing paint = iota
	body          // the card
	edge          // its left edge
	white         // the outline and what is on the card
)

var colours = [...]color.NRGBA{
	body:  {0x0B, 0x6B, 0xCB, 0xFF},
	edge:  {0x5A, 0xA9, 0xF2, 0xFF},
	white: {0xFF, 0xFF, 0xFF, 0xFF},
}

// A picture is drawn on a square of 16 units. Given the grid of pixels it
// returns the paint of every point.
type picture func(grid) func(x, y float64) paint

// A form is the distance of a point to its rim, negative inside.
type form func(x, y float64) float64

func box(x0, y0, x1, y1, r float64) form {
	return func(x, y float64) float64 {
		dx := math.Max(x0+r-x, x-x1+r)
		dy := math.Max(y0+r-y, y-y1+r)
		return math.Hypot(math.Max(dx, 0), math.Max(dy, 0)) + math.Min(math.Max(dx, dy), 0) - r
	}
}

func disc(cx, cy, r float64) form {
	return func(x, y float64) float64 { return math.Hypot(x-cx, y-cy) - r }
}

func line(x0, y0, x1, y1, width float64) form {
	return func(x, y float64) float64 {
		dx, dy := x1-x0, y1-y0
		t := math.Min(math.Max(((x-x0)*dx+(y-y0)*dy)/(dx*dx+dy*dy), 0), 1)
		return math.Hypot(x-x0-t*dx, y-y0-t*dy) - width/2
	}
}

// arc is the upper right quarter of a ring.
func arc(cx, cy, r, width float64) form {
	return func(x, y float64) float64 {
		dx, dy := x-cx, cy-y
		if dx > 0 && dy > 0 {
			return math.Abs(math.Hypot(dx, dy)-r) - width/2
		}
		return math.Min(math.Hypot(dx, dy-r), math.Hypot(dx-r, dy)) - width/2
	}
}

func union(forms ...form) form {
	return func(x, y float64) float64 {
		d := math.Inf(1)
		for _, f := range forms {
			d = math.Min(d, f(x, y))
		}
		return d
	}
}

// cut is f without the half plane right of the slanted line through (x0, 8), or
// without the left one.
func cut(f form, x0 float64, left bool) form {
	return func(x, y float64) float64 {
		d := (x - x0 + (y-8)*0.4) / math.Hypot(1, 0.4)
		if left {
			d = -d
		}
		return math.Max(f(x, y), d)
	}
}

func moved(f form, dx, dy float64) form {
	return func(x, y float64) float64 { return f(x-dx, y-dy) }
}

// card is the form of a card, and where its left edge ends.
func card(g grid) (f form, inner float64) {
	return box(g.snap(1), g.snap(4.6), g.snap(12.2), g.snap(15), 1.6), g.snap(3.2)
}

// outline is the width of the white around everything.
func outline(g grid) float64 { return math.Max(g.snap(0.75), 0.7) }

// sheet paints a card with what is written on it.
func sheet(g grid, f form, inner float64, written form) func(x, y float64) paint {
	o := outline(g)
	return func(x, y float64) paint {
		switch d := f(x, y); {
		case d > o:
			return nothing
		case d > 0 || written != nil && written(x, y) <= 0:
			return white
		case x < inner:
			return edge
		}
		return body
	}
}

// over lays a form with its outline on a picture.
func over(g grid, below func(x, y float64) paint, f form) func(x, y float64) paint {
	o := outline(g)
	return func(x, y float64) paint {
		switch d := f(x, y); {
		case d <= 0:
			return body
		case d <= o:
			return white
		}
		return below(x, y)
	}
}

// ready is a card with somebody on it that rings.
func ready(g grid) func(x, y float64) paint {
	f, inner := card(g)
	shoulders := func(x, y float64) float64 {
		return math.Max(math.Hypot((x-7.5)/1.15, y-14.1)-2.7, y-g.snap(14))
	}
	p := sheet(g, f, inner, union(disc(7.5, 8.9, 1.7), shoulders))
	rings := union(arc(9.6, 6.4, 2.6, 1.4), arc(9.6, 6.4, 5.5, 1.4))
	if g < twoRings {
		rings = arc(9.6, 6.4, 4.4, 2)
	}
	return over(g, p, rings)
}

// twoRings is the smallest icon in which two rings with white around each do not
// run together.
const twoRings grid = 28

// notSetUp is a card with nothing on it yet: its rim alone.
func notSetUp(g grid) func(x, y float64) paint {
	f, _ := card(g)
	rim := func(x, y float64) float64 { return math.Abs(f(x, y)+1) - 1 }
	none := func(x, y float64) paint { return nothing }
	return over(g, none, rim)
}

// doubt is a card with a question mark.
func doubt(g grid) func(x, y float64) paint {
	f, inner := card(g)
	bow := func(x, y float64) float64 {
		dx, dy := x-7.7, y-8.4
		if dx < 0 && dy > 0 {
			return math.Hypot(dx+1.9, dy) - 0.7
		}
		return math.Abs(math.Hypot(dx, dy)-1.9) - 0.7
	}
	return sheet(g, f, inner, union(bow, line(7.7, 10.3, 7.7, 11, 1.4), disc(7.7, 13.1, 0.9)))
}

// linkLost is a card in two pieces.
func linkLost(g grid) func(x, y float64) paint {
	f, inner := card(g)
	left := sheet(g, cut(f, 7.6, false), inner, nil)
	right := sheet(g, cut(moved(f, g.snap(2.6), -g.snap(2.6)), 10.6, true), 0, nil)
	return func(x, y float64) paint {
		if k := left(x, y); k != nothing {
			return k
		}
		return right(x, y)
	}
}

func hubGone(g grid) func(x, y float64) paint {
	f, inner := card(g)
	return over(g, sheet(g, f, inner, nil), line(1.9, 1.9, 14.1, 14.1, 2.2))
}

func credentials(g grid) func(x, y float64) paint {
	f, inner := card(g)
	bow := func(x, y float64) float64 { return math.Abs(math.Hypot(x-5.9, y-9.8)-1.5) - 0.65 }
	bar := box(7.2, g.snap(9.2), 11.4, g.snap(10.4), 0)
	teeth := union(box(g.snap(10.2), 9.6, g.snap(11.2), g.snap(12.4), 0), box(g.snap(8.2), 9.6, g.snap(9.2), g.snap(12.4), 0))
	return sheet(g, f, inner, union(bow, bar, teeth))
}

func paused(g grid) func(x, y float64) paint {
	none := func(x, y float64) paint { return nothing }
	top, bottom := g.snap(2), g.snap(14)
	return over(g, none, union(box(g.snap(2.8), top, g.snap(6.2), bottom, 0.8), box(g.snap(9.8), top, g.snap(13.2), bottom, 0.8)))
}

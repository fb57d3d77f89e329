package offscreen

import (
	"image"
	"image/color"
	"slices"
	_ "unsafe" // for go:linkname

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// Surface is what a window shows: a picture of trees of Fyne objects. Render compares them
// with their previous state and repaints only what differs, from pictures of single objects
// that are cached while on screen. The zero value is an empty surface.
type Surface struct {
	picture
	scale      float32
	background color.NRGBA
	parts      []part
	sprites    map[any]*sprite
	versions   map[fyne.CanvasObject]int
	theme      int
	// Buffers of the last frame, emptied: the next one needs as much.
	spareParts   []part
	spareSprites map[any]*sprite
	spareFirst   map[partIdentity]int
	spareNext    []int
}

type part struct {
	key    any // what its looks depend on
	at     image.Point
	clip   image.Rectangle
	sprite *sprite
	fill   color.NRGBA     // of a part without a sprite
	bounds image.Rectangle // its visible part
}

type partIdentity struct {
	key  any
	at   image.Point
	clip image.Rectangle
}

func (p *part) identity() partIdentity { return partIdentity{p.key, p.at, p.clip} }

// Changed records that an object looks different although nothing comparable has changed,
// such as the pixels of a picture.
func (s *Surface) Changed(o fyne.CanvasObject) {
	if s.versions == nil {
		s.versions = map[fyne.CanvasObject]int{}
	}
	s.versions[o]++
}

// NewTheme notes that colours, icons or sizes of the theme have changed.
func (s *Surface) NewTheme() {
	s.theme++
	forgetIcons()
}

// forgetIcons has Fyne redraw its icons. It caches them by colour name, even if the colour
// changes; its own drivers call this too, and there is no public API.
//
//go:linkname forgetIcons fyne.io/fyne/v2/internal/cache.ResetThemeCaches
func forgetIcons()

// Render resizes the surface to size pixels and shows the trees in roots, the last on top,
// at a scale over a background. It calls visit with every visible object and returns the
// parts that have changed.
func (s *Surface) Render(size image.Point, scale float32, background color.NRGBA, roots []fyne.CanvasObject, visit func(fyne.CanvasObject)) []image.Rectangle {
	whole := image.Rectangle{Max: size}
	all := size != (image.Point{s.w, s.h}) || scale != s.scale || background != s.background
	if all {
		if n := 4 * size.X * size.Y; cap(s.pix) >= n {
			s.pix = s.pix[:n]
		} else {
			s.pix = make([]byte, n)
		}
		s.w, s.h, s.background = size.X, size.Y, background
		if scale != s.scale {
			s.scale, s.sprites = scale, nil
		}
	}
	if s.spareSprites == nil {
		s.spareSprites, s.spareFirst = map[any]*sprite{}, map[partIdentity]int{}
	}
	w := walk{s: s, visit: visit, sprites: s.spareSprites, parts: s.spareParts}
	for _, r := range roots {
		w.tree(r, fyne.Position{}, whole)
	}
	var damage []image.Rectangle
	if all {
		damage = []image.Rectangle{whole}
	} else {
		damage = s.changedAreas(w.parts)
	}
	for k, old := range s.sprites {
		if !old.cached && w.sprites[k] == nil {
			old.free()
		}
	}
	clear(s.parts) // it holds people's names
	clear(s.sprites)
	s.spareParts, s.spareSprites = s.parts[:0], s.sprites
	s.parts, s.sprites, s.versions = w.parts, w.sprites, w.versions
	for _, r := range damage {
		s.paint(r)
	}
	return damage
}

// Pixels copies a part of the picture: rows of blue, green, red, unused.
func (s *Surface) Pixels(r image.Rectangle, out []byte) []byte {
	out = slices.Grow(out[:0], 4*r.Dx()*r.Dy())
	for y := r.Min.Y; y < r.Max.Y; y++ {
		out = append(out, s.pix[4*(y*s.w+r.Min.X):][:4*r.Dx()]...)
	}
	return out
}

// Buffer returns the picture, valid until the next Render, as rows of blue,
// green, red, unused.
func (s *Surface) Buffer() (w, h int, pix []byte) { return s.w, s.h, s.pix }

// Forget drops what was shown.
func (s *Surface) Forget() { *s = Surface{} }

// Image returns a copy of the picture.
func (s *Surface) Image() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, s.w, s.h))
	for i := 0; i+3 < len(s.pix); i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = s.pix[i+2], s.pix[i+1], s.pix[i], 0xFF
	}
	return img
}

func (s *Surface) paint(r image.Rectangle) {
	s.fill(r, s.background)
	for i := range s.parts {
		p := &s.parts[i]
		in := p.bounds.Intersect(r)
		switch {
		case in.Empty():
		case p.sprite == nil:
			s.fill(in, p.fill)
		default:
			s.drawSprite(p.sprite, p.at, in)
		}
	}
}

type walk struct {
	s       *Surface
	visit   func(fyne.CanvasObject)
	parts   []part
	sprites map[any]*sprite
	// versions has only objects on screen: others have no earlier state to differ from.
	versions map[fyne.CanvasObject]int
}

// tree adds an object at an offset (in units), and its contents.
func (w *walk) tree(o fyne.CanvasObject, offset fyne.Position, clip image.Rectangle) {
	if o == nil || !o.Visible() {
		return
	}
	if w.visit != nil {
		w.visit(o)
	}
	pos := o.Position().Add(offset)
	children, clips := Children(o)
	if clips {
		clip = clip.Intersect(w.s.pixelRect(pos, o.Size()))
	}
	if clip.Empty() {
		return
	}
	switch o.(type) {
	case *fyne.Container, fyne.Widget:
		for _, c := range children {
			w.tree(c, pos, clip)
		}
	default:
		w.add(o, pos, clip)
	}
}

// Children returns the objects in an object, and whether they are clipped to it.
func Children(o fyne.CanvasObject) (in []fyne.CanvasObject, clips bool) {
	_, clips = o.(fyne.Scrollable)
	switch o := o.(type) {
	case *fyne.Container:
		return o.Objects, clips
	case fyne.Widget:
		r := Renderer(o)
		if _, ok := r.(interface{ IsClip() }); ok {
			clips = true
		}
		return r.Objects(), clips
	}
	return nil, clips
}

// Renderer returns a widget's renderer, the same each time. The only public function for
// it is in Fyne's test package.
//
//go:linkname Renderer fyne.io/fyne/v2/internal/cache.Renderer
func Renderer(fyne.Widget) fyne.WidgetRenderer

func (s *Surface) pixelRect(pos fyne.Position, size fyne.Size) image.Rectangle {
	return image.Rect(pixels(pos.X, s.scale), pixels(pos.Y, s.scale), pixels(pos.X+size.Width, s.scale), pixels(pos.Y+size.Height, s.scale))
}

func (w *walk) add(o fyne.CanvasObject, pos fyne.Position, clip image.Rectangle) {
	if r, ok := o.(*canvas.Rectangle); ok && unseen(r) {
		return
	}
	s := w.s
	around := float32(margin)
	if !s.pixelRect(pos.SubtractXY(around, around), paintedSize(o).AddWidthHeight(2*around, 2*around)).Overlaps(clip) {
		return
	}
	p := part{key: w.key(o), at: image.Pt(pixels(pos.X, s.scale), pixels(pos.Y, s.scale)), clip: clip}
	if r, ok := o.(*canvas.Rectangle); ok && plain(r) {
		p.fill = r.FillColor.(color.NRGBA)
		p.bounds = image.Rectangle{Min: p.at, Max: p.at.Add(image.Pt(pixels(r.Size().Width, s.scale), pixels(r.Size().Height, s.scale)))}
	} else {
		p.sprite = w.sprites[p.key]
		if p.sprite == nil {
			p.sprite = s.sprites[p.key]
		}
		if p.sprite == nil {
			p.sprite = cachedSprite(o, p.key, s.scale)
		}
		w.sprites[p.key] = p.sprite
		p.bounds = image.Rectangle{Max: p.sprite.size}.Add(p.at.Sub(p.sprite.origin))
	}
	if p.bounds = p.bounds.Intersect(clip); !p.bounds.Empty() {
		w.parts = append(w.parts, p)
	}
}

// versionKey is the key of objects that cannot be compared: they look the same
// until Changed is called.
type versionKey struct {
	o            fyne.CanvasObject
	version      int
	size         fyne.Size
	resource     fyne.Resource
	translucency float64
	theme        int
}

// key returns what an object's looks depend on, apart from its position.
func (w *walk) key(o fyne.CanvasObject) any {
	if k := looks(o); k != nil {
		return k
	}
	version := w.s.versions[o]
	if version != 0 {
		if w.versions == nil {
			w.versions = map[fyne.CanvasObject]int{}
		}
		w.versions[o] = version
	}
	c := versionKey{o: o, version: version, size: o.Size(), theme: w.s.theme}
	if i, ok := o.(*canvas.Image); ok {
		c.resource, c.translucency = i.Resource, i.Translucency
	}
	return c
}

// paintedSize returns the painted size of an object: text may extend beyond its area.
func paintedSize(o fyne.CanvasObject) fyne.Size {
	if t, ok := o.(*canvas.Text); ok {
		return t.Size().Max(t.MinSize())
	}
	return o.Size()
}

// changedAreas returns where the given parts look different from those of the surface.
func (s *Surface) changedAreas(now []part) []image.Rectangle {
	// Of identical parts, the first without a counterpart, and after each the next one.
	first, next := s.spareFirst, slices.Grow(s.spareNext[:0], len(s.parts))[:len(s.parts)]
	const none, taken = -1, -2
	for i := len(s.parts) - 1; i >= 0; i-- {
		k := s.parts[i].identity()
		next[i] = none
		if at, ok := first[k]; ok {
			next[i] = at
		}
		first[k] = i
	}
	var d damage
	highest := -1
	for i := range now {
		k := now[i].identity()
		at, ok := first[k]
		if !ok || at == none {
			d.add(now[i].bounds)
			continue
		}
		// Now painted above something it was below.
		if at < highest {
			d.add(now[i].bounds)
		}
		highest = max(highest, at)
		first[k], next[at] = next[at], taken
	}
	for i, n := range next {
		if n != taken {
			d.add(s.parts[i].bounds)
		}
	}
	clear(first)
	s.spareNext = next
	return d
}

// damage is a few non-overlapping rectangles that cover what was added.
type damage []image.Rectangle

// maxDamage is the maximum number of rectangles: each is a painting pass.
const maxDamage = 8

func (d *damage) add(r image.Rectangle) {
	if r.Empty() {
		return
	}
	for again := true; again; {
		again = false
		for i, o := range *d {
			// Join them if that covers hardly more than both.
			if u := r.Union(o); r.Overlaps(o) || area(u) <= area(r)+area(o)+area(u)/8 {
				*d = slices.Delete(*d, i, i+1)
				r, again = u, true
				break
			}
		}
	}
	if *d = append(*d, r); len(*d) > maxDamage {
		all := image.Rectangle{}
		for _, o := range *d {
			all = all.Union(o)
		}
		*d = damage{all}
	}
}

func area(r image.Rectangle) int { return r.Dx() * r.Dy() }

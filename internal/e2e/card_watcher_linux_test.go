package e2e

import (
	"image"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/testutil/must"
)

// cardWatcher watches the windows of cards on a screen.
type cardWatcher struct {
	t    *testing.T
	conn *xgb.Conn
	root xproto.Window
	quit chan struct{}
	done chan struct{}
	seen cardCounts
	// rises counts how often there was one more than before.
	rises atomic.Int32
}

// cardCounts is the result: the most windows at once, the most of them that were complete
// cards, and when there was one more than before.
type cardCounts struct {
	most, whole int
	rose        []time.Duration
}

func newCardWatcher(t *testing.T, o *office) *cardWatcher {
	t.Helper()
	c := must.Get(xgb.NewConnDisplay(o.Display))(t)
	t.Cleanup(c.Close)
	return &cardWatcher{t: t, conn: c, root: xproto.Setup(c).DefaultScreen(c).Root}
}

// watchCards polls every few milliseconds until stop.
func watchCards(t *testing.T, o *office) *cardWatcher {
	t.Helper()
	e := newCardWatcher(t, o)
	e.quit, e.done = make(chan struct{}), make(chan struct{})
	before, began := len(e.columns()), time.Now()
	go func() {
		defer close(e.done)
		tick := time.Tick(20 * time.Millisecond)
		for {
			select {
			case <-e.quit:
				return
			case <-tick:
			}
			all := e.columns()
			n := len(all)
			e.seen.most = max(e.seen.most, n)
			all = slices.DeleteFunc(all, func(r image.Rectangle) bool { return r.Dy() < cardWidth/2 }) // strips and lines
			e.seen.whole = max(e.seen.whole, len(all))
			if n > before {
				e.rises.Add(1)
				e.seen.rose = append(e.seen.rose, time.Since(began).Round(time.Millisecond))
			}
			before = n
		}
	}()
	t.Cleanup(func() { e.stop() })
	return e
}

func (e *cardWatcher) stop() cardCounts {
	select {
	case <-e.done:
	default:
		close(e.quit)
		<-e.done
	}
	return e.seen
}

// columns returns the places of the cards' windows in every column.
func (e *cardWatcher) columns() []image.Rectangle {
	tree, err := xproto.QueryTree(e.conn, e.root).Reply()
	if err != nil {
		e.t.Error(err)
		return nil
	}
	type asked struct {
		attributes xproto.GetWindowAttributesCookie
		geometry   xproto.GetGeometryCookie
	}
	var all []asked
	for _, w := range tree.Children {
		all = append(all, asked{xproto.GetWindowAttributes(e.conn, w), xproto.GetGeometry(e.conn, xproto.Drawable(w))})
	}
	var cards []image.Rectangle
	for _, a := range all {
		at, err := a.attributes.Reply()
		g, err2 := a.geometry.Reply()
		if err != nil || err2 != nil || at.MapState != xproto.MapStateViewable || !at.OverrideRedirect || g.Width != cardWidth {
			continue // a window may have closed meanwhile
		}
		cards = append(cards, image.Rect(0, 0, int(g.Width), int(g.Height)).Add(image.Pt(int(g.X), int(g.Y))))
	}
	slices.SortFunc(cards, func(a, b image.Rectangle) int { return b.Max.Y - a.Max.Y })
	return cards
}

const cardWidth = 380

// crop returns what the screen shows in r.
func (e *cardWatcher) crop(r image.Rectangle) []byte {
	rep, err := xproto.GetImage(e.conn, xproto.ImageFormatZPixmap, xproto.Drawable(e.root), int16(r.Min.X), int16(r.Min.Y),
		uint16(r.Dx()), uint16(r.Dy()), ^uint32(0)).Reply()
	if err != nil {
		return nil
	}
	return rep.Data
}

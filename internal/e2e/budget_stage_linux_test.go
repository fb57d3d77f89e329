package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/localhub"
	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
	"wiebelt/internal/ui/card"
)

// stage is an office with phones, and a hub that answers when told to.
type stage struct {
	*office
	b       testing.TB
	scale   float32
	phones  []*simulate.Phone
	people  []localhub.Record
	next    int
	last    time.Time     // time of the last call
	base    string        // where the hub is reached
	hold    atomic.Bool   // lookups wait for release, and are reported to looked
	release chan struct{} // releases one
	looked  chan lookup
	settled int // kB resident after the calls
}

// lookup has the times when the hub was asked, and when its answer had been sent.
type lookup struct{ asked, answered time.Time }

// quick closes cards as soon as their call is over, so that the next can come.
const quick = "[card]\nafter_call = \"0s\"\n"

// openStage starts an office at a scale, with additional settings.
func openStage(b testing.TB, scale float32, more string) *stage {
	b.Helper()
	h, value := startHub(b)
	s := &stage{b: b, scale: scale, release: make(chan struct{}, 1), looked: make(chan lookup, 1)}
	for i := range 600 {
		s.people = append(s.people, localhub.Record{Numbers: []string{fmt.Sprintf("0698%06d", i)}, Contact: contact.Contact{
			ID: fmt.Sprintf("b-%d", i), RelationNumber: strconv.Itoa(300000 + i), Initials: "B.", FamilyName: fmt.Sprintf("Meting%03d", i),
			Address: contact.Address{Street: "Dorpsstraat", Number: strconv.Itoa(i), PostalCode: "1234AB", City: "Ons Dorp"}}})
	}
	must.Get(h.AddInvented(b.Context(), s.people...))(b)
	base := must.Get(url.Parse(h.BaseURL()))(b)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(base) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }} // a lookup whose call was over
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/identity/token" || !s.hold.Load() {
			proxy.ServeHTTP(w, r)
			return
		}
		asked := time.Now()
		rec := httptest.NewRecorder()
		proxy.ServeHTTP(rec, r)
		select {
		case <-s.release:
		case <-r.Context().Done():
			return
		}
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
		_ = http.NewResponseController(w).Flush()
		s.looked <- lookup{asked, time.Now()}
	}))
	b.Cleanup(front.Close)
	s.base = front.URL
	s.office = configure(officeOn(b, b.TempDir(), h, "openbox", xtest.Options{Width: width, Height: height, DPI: int(96 * scale)}), s.base, value, more+quick)
	s.start()
	for range 4 {
		s.phones = append(s.phones, dial(s.office))
	}
	s.Move(1, 1) // a card under the pointer stays
	return s
}

// pause is the minimum between two calls: a source may cause three lookups a second, and
// queueing is not measured here.
const pause = 400 * time.Millisecond

// person returns the next caller; no one calls twice within long.
func (s *stage) person(long time.Duration) localhub.Record {
	time.Sleep(time.Until(s.last.Add(long)))
	s.last = time.Now()
	p := s.people[s.next]
	s.next++
	return p
}

// picture returns the expected picture of a card.
func (s *stage) picture(p localhub.Record, number string, o engine.Outcome) *image.RGBA {
	c := engine.Card{Outcome: o}
	if o == engine.OutcomeFound {
		c.Contacts = []contact.Contact{p.Contact}
	}
	return callersCard(s.b, c, number, "", card.Look{}, s.scale)
}

// eye is the watched part of the screen, and its expected content.
type eye struct {
	s    *xtest.Server
	box  image.Rectangle
	want *image.RGBA
}

// eye looks at the big line of the first card.
func (s *stage) eye(p localhub.Record, number string, o engine.Outcome) eye {
	pic := s.picture(p, number, o)
	at := image.Pt(width-int(16*s.scale)-pic.Rect.Dx(), height-int(16*s.scale)-pic.Rect.Dy())
	from := image.Pt(int(20*s.scale), int(36*s.scale))
	part := image.Rectangle{from, from.Add(image.Pt(200, 60))}
	return eye{s.Server, part.Add(at), partOf(pic, part)}
}

// partOf returns a part of a picture, with its corner at zero.
func partOf(pic *image.RGBA, r image.Rectangle) *image.RGBA {
	part := image.NewRGBA(image.Rectangle{Max: r.Size()})
	draw.Draw(part, part.Rect, pic, r.Min, draw.Src)
	return part
}

func (e eye) sees() bool { return bytes.Equal(e.s.Crop(e.box).Pix, e.want.Pix) }

// wait polls without a pause until the part shows the expected content.
func (e eye) wait(b testing.TB, what string) time.Time {
	b.Helper()
	for late := time.Now().Add(10 * time.Second); time.Now().Before(late); {
		if e.sees() {
			return time.Now()
		}
	}
	if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" {
		keep(b, filepath.Join(dir, "bench-wanted.png"), e.want)
		keep(b, filepath.Join(dir, "bench-seen.png"), e.s.Screenshot())
	}
	b.Fatalf("never on screen: %s", what)
	return time.Time{}
}

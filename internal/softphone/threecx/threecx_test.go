package threecx

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
)

var ring = part{status: "Ringing", number: "0612345678", name: "J. de Vries", did: "0201234567", call: 33}

const rings = "ringing incoming #33.7 0612345678 (J. de Vries) on 0201234567"

func (p part) as(f func(*part)) *part { f(&p); return &p }
func up(p *part)                      { p.status = "Connected" }

// step is a change of a participant; nil is its end.
type step struct {
	id int
	p  *part
}

func TestStories(t *testing.T) {
	colleague := part{status: "Ringing", number: "102", name: "Bram", call: 33}
	for _, tt := range []struct {
		name  string
		steps []step
		want  []string
	}{
		{"passed on by a colleague, with consultation", []step{{7, &colleague}, {7, colleague.as(up)}, {7, ring.as(func(p *part) { up(p); p.referred, p.call = "102", 31 })}, {7, nil}}, []string{
			"ringing incoming #33.7 102 (Bram) on 101", "answered incoming #33.7 102 (Bram) on 101",
			"answered incoming #33.7 0612345678 (J. de Vries) via 102 on 0201234567", "ended completed incoming #33.7 0612345678 (J. de Vries) via 102 on 0201234567"}},
		{"passed on, and nobody says by whom", []step{{7, &colleague}, {7, &ring}}, []string{
			"ringing incoming #33.7 102 (Bram) on 101", "ringing incoming #33.7 0612345678 (J. de Vries) via Bram on 0201234567"}},
		{"passed on to somebody who is withheld", []step{{7, &colleague}, {7, colleague.as(func(p *part) { p.number, p.name = "", "" })}}, []string{
			"ringing incoming #33.7 102 (Bram) on 101", "ringing incoming #33.7 anonymous via Bram on 101"}},
		{"forwarded", []step{{7, ring.as(func(p *part) { p.behalf, p.referred = "800", "101" })}}, []string{"ringing incoming #33.7 0612345678 (J. de Vries) via 800 on 0201234567"}},
		{"withheld", []step{{7, ring.as(func(p *part) { p.number, p.name = "", "Anonymous" })}}, []string{"ringing incoming #33.7 on 0201234567"}},
		{"everything is null", []step{{7, ring.as(func(p *part) { p.null = true })}, {7, &ring}, {7, ring.as(func(p *part) { p.null = true; up(p) })}}, []string{
			"ringing incoming #33.7 on 101", rings, strings.Replace(rings, "ringing", "answered", 1)}},
		{"never heard of before it was answered", []step{{7, ring.as(func(p *part) { up(p); p.did = "" })}}, []string{"answered unknown #33.7 0612345678 (J. de Vries) on 101"}},
		{"two devices, one call", []step{{7, &ring}, {6, &ring}, {6, ring.as(up)}, {7, nil}, {6, nil}},
			[]string{rings, rings, strings.Replace(rings, "ringing", "answered", 1), strings.Replace(rings, "ringing", "ended completed", 1)}},
		{"one number twice is two calls", []step{{7, &ring}, {6, ring.as(func(p *part) { p.call = 35 })}}, []string{rings, strings.Replace(rings, "#33.7", "#35.6", 1)}},
		{"without a call's id", []step{{7, ring.as(func(p *part) { p.call = 0 })}, {6, ring.as(func(p *part) { p.call = 0 })}},
			[]string{strings.Replace(rings, "#33.7", "#0.7", 1), strings.Replace(rings, "#33.7", "#0.6", 1)}},
		{"a number of a participant used again", []step{{7, &ring}, {7, nil}, {7, ring.as(func(p *part) { p.call = 35 })}},
			[]string{rings, strings.Replace(rings, "ringing", "ended", 1), strings.Replace(rings, "#33.7", "#35.7", 1)}},
		{"states that are none of ours", []step{{7, ring.as(func(p *part) { p.status = "Routing" })}, {7, nil}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := newExchange(t)
			w := x.link().Connected()
			// One at a time: the event only says that something has changed, and two quick
			// changes are reported as one.
			for i, n := 0, 0; i < len(tt.steps); i++ {
				s := tt.steps[i]
				x.set("101", s.id, s.p)
				switch { // these two change nothing that is reported
				case tt.want == nil, tt.name == "two devices, one call" && i == 3:
					continue
				}
				w.Expect(tt.want[n])
				n++
			}
			x.last(w)
		})
	}
}

// TestGoneBeforeAsked: an event says that a participant has
// changed, but the participant no longer exists when requested.
func TestGoneBeforeAsked(t *testing.T) {
	x := newExchange(t)
	w := x.link().Connected()
	x.note(simulate.Upsert, simulate.Entity("101", 7))
	if err := x.Until(t.Context(), func() bool { return x.ParticipantRequests["7"] == 1 }); err != nil { // in vain
		t.Fatal(err)
	}
	x.set("101", 7, &ring)
	w.Expect(rings)
	x.forget()
	x.note(simulate.Upsert, simulate.Entity("101", 7))
	w.Expect(strings.Replace(rings, "ringing", "ended", 1))
	x.last(w)
}

// TestOnlyOurAddresses: an event names what to request, and could name anything.
func TestOnlyOurAddresses(t *testing.T) {
	x := newExchange(t)
	w := x.link().Connected()
	x.set("101", 7, &ring)
	w.Expect(rings) // continues, whatever the events below say
	asked := make(chan string, 1000)
	x.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		asked <- r.URL.Path
		return false
	})
	for _, entity := range []string{
		"", "/", "101", "/callcontrol", "/callcontrol/101", "/callcontrol/102/participants/7", "/callcontrol/1010/participants/7", "/callcontrol/101/devices/7",
		"/callcontrol/101/participants/", "/callcontrol/101/participants/-7", "/callcontrol/101/participants/7/drop", "/callcontrol/101/participants/../7", "/callcontrol/101/participants/7?x=y",
		"/callcontrol/101/participants/ 7", "/callcontrol/101/participants/7e1", "/callcontrol/101/participants/99999999999999999999", "/CALLCONTROL/101/participants/7",
		"https://evil.example/callcontrol/101/participants/7", "//evil.example/callcontrol/101/participants/7", "/callcontrol/102/../101/participants/7", "/callcontrol/%31%30%31/participants/7",
	} {
		for kind := range 6 {
			x.note(kind, entity)
		}
	}
	for kind := 2; kind <= 4; kind++ {
		x.note(kind, simulate.Entity("101", 7))
	}
	x.last(w)
	if got := <-asked; got != simulate.Entity("101", 9999) || len(asked) != 0 {
		t.Errorf("asked for %s and %d more", got, len(asked))
	}
}

// TestForeignParticipant: a participant that is named under us, but is another extension's
// or another one, is not reported.
func TestForeignParticipant(t *testing.T) {
	x := newExchange(t)
	w := x.link().Connected()
	x.has(55, ring.json("102", 55))
	x.note(simulate.Upsert, simulate.Entity("101", 55))
	x.has(56, ring.json("101", 57))
	x.note(simulate.Upsert, simulate.Entity("101", 56))
	x.last(w)
}

// TestGaps: when an event is lost, the next one reveals it, and the extension is requested again.
func TestGaps(t *testing.T) {
	x := newExchange(t)
	w := listen(t, linktest.Account(x.Address()), func(p *phone) { p.minPollInterval = 50 * time.Millisecond }).Connected()
	x.set("102", 1, &ring) // counting starts with the first event, wherever that is
	x.set("101", 7, &ring)
	w.Expect(rings)
	x.With(func() { clear(x.Participants); x.Sequence++ }) // its end is lost
	x.set("103", 1, &ring)
	w.Expect(strings.Replace(rings, "ringing", "ended", 1))
	x.has(8, ring.json("101", 8))
	x.With(func() { x.Sequence += 5 }) // a start is lost
	x.set("103", 1, &ring)
	w.Expect(strings.Replace(rings, "#33.7", "#33.8", 1))
	x.last(w)
	x.With(func() { x.Sequence = 0 }) // the exchange restarts its count
	x.set("103", 1, nil)
	x.set("101", 8, nil)
	w.Expect(strings.Replace(strings.Replace(rings, "#33.7", "#33.8", 1), "ringing", "ended", 1))
}

// TestGapsWithoutEnd: if the count covers the whole exchange's events, ours always have
// gaps; that must not cause a storm of requests.
func TestGapsWithoutEnd(t *testing.T) {
	t.Parallel()
	x := newExchange(t)
	w := listen(t, linktest.Account(x.Address()), func(p *phone) { p.minPollInterval = 10 * time.Millisecond }).Connected()
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		x.With(func() { x.Sequence += 3 })
		x.set("101", 7, &ring)
		w.Expect(rings)
	}
	x.With(func() {
		if x.ExtensionRequests < 2 || x.ExtensionRequests > 12 { // 10, 20, 40 … ms
			t.Errorf("%d snapshots in a second", x.ExtensionRequests)
		}
	})
}

// TestFault: if the exchange does not return what has changed, the whole extension is requested.
func TestFault(t *testing.T) {
	for name, answer := range map[string]linktest.Answer{
		"broken": linktest.Status("/callcontrol/101/participants", http.StatusInternalServerError), "unreadable": linktest.Says(simulate.Entity("101", 7), "{"),
	} {
		x := newExchange(t)
		w := x.link().Connected()
		x.Intercept(answer)
		x.set("101", 7, &ring)
		w.Expect(rings)
		if len(w.States) != 0 {
			t.Errorf("%s: the connection did not stay", name)
		}
	}
}

// TestSnapshotAfterRestart: a participant's number now belongs to another call. An
// unreadable entry affects no call listed after it.
func TestSnapshotAfterRestart(t *testing.T) {
	t.Parallel()
	x := newExchange(t)
	x.has(5, json.RawMessage("null"))
	x.has(6, json.RawMessage(`{"id":"x"}`))
	x.has(7, ring.json("101", 7))
	x.has(8, ring.json("102", 8))
	w := x.link()
	w.Expect(rings)
	w.Until(link.Connected)
	x.restart()
	x.has(7, part{status: "Ringing", number: "0201234577", call: 1}.json("101", 7))
	w.Expect(strings.Replace(rings, "ringing", "ended", 1), "ringing incoming #1.7 0201234577 on 101")
	w.Until(link.Connected)
	x.last(w)
}

// TestRenewal: the token is renewed before it expires, on the open connection.
func TestRenewal(t *testing.T) {
	x := newExchange(t)
	x.Tokens.Lifetime = 150 * time.Millisecond
	a := linktest.Account(x.Address())
	a.Net.Renewal = time.Millisecond
	w := listen(t, a).Connected()
	for made := 1; made < 5; {
		x.set("101", 7, &ring)
		w.Expect(rings)
		x.With(func() {
			made = x.Tokens.Issued
			x.Tokens.Valid = x.Tokens.Valid[len(x.Tokens.Valid)-1:] // only the newest one is valid
		})
	}
	if len(w.States) != 0 {
		t.Error("the connection did not stay")
	}
}

// TestLifetime: 3CX gives minutes; what can only be seconds is.
func TestLifetime(t *testing.T) {
	for given, want := range map[float64]time.Duration{0: 30 * time.Minute, 0.15: 150 * time.Millisecond, 1: time.Minute, 60: time.Hour,
		3600: time.Hour, 1e9: 24 * time.Hour} {
		if got := lifetime(given); got != want {
			t.Errorf("%v: %v", given, got)
		}
	}
}

// TestExpired: a token that expired early is noticed at the next request, and the
// call is reported anyway.
func TestExpired(t *testing.T) {
	x := newExchange(t)
	w := x.link().Connected()
	for made := 2; made < 5; made++ {
		x.With(func() { x.Tokens.Valid = nil })
		x.last(w)
		x.With(func() {
			if x.Tokens.Issued != made {
				t.Errorf("%d tokens", x.Tokens.Issued)
			}
		})
	}
	if len(w.States) != 0 {
		t.Error("the connection did not stay")
	}
	// A token that the exchange has forgotten is tried, and then replaced.
	x.With(func() { x.Tokens.Valid = nil })
	x.EachSocket(linktest.Cut)
	for refused := false; !refused; {
		s := w.Until(link.Waiting)
		w.Wake <- struct{}{}
		refused = strings.HasSuffix(s.Err.Error(), "status 401")
	}
	w.Until(link.Connected)
	x.last(w)
}

// TestRefusedLater: the link reports when the client's rights are withdrawn while it is connected.
func TestRefusedLater(t *testing.T) {
	x := newExchange(t)
	w := x.link().Connected()
	x.Intercept(linktest.Status("/callcontrol", http.StatusUnauthorized))
	x.set("101", 7, &ring)
	if s := w.Until(link.Refused); strings.Contains(s.Err.Error(), "canary") {
		t.Error(s.Err)
	}
	x.Intercept(nil)
	w.Wake <- struct{}{}
	w.Until(link.Connected)
	w.Expect(rings)
}

// TestEverybody: a link to many extensions reports the extension at
// which a call rings; a call at several extensions counts as one at
// each, and calls of extensions that are not followed are not reported.
func TestEverybody(t *testing.T) {
	x := newExchange(t)
	cfg := linktest.Account(x.Address())
	cfg.Extension, cfg.HasExtension = "", func(extension string) bool { return extension != "10000" && extension != "103" }
	part := ring
	part.call = 31
	set := func(extension string, id int) {
		x.has(id, part.json(extension, id))
		x.note(simulate.Upsert, simulate.Entity(extension, id))
	}
	x.has(9, part.json("104", 9))
	x.has(8, part.json("103", 8))
	w := listen(t, cfg)
	const told = " incoming #31.%d.%d 0612345678 (J. de Vries) on 0201234567 at %[1]d"
	w.Expect(fmt.Sprintf("ringing"+told, 104, 9))
	w.Until(link.Connected)
	set("10000", 6)
	set("103", 8)
	set("101", 7)
	set("102", 10)
	w.Expect(fmt.Sprintf("ringing"+told, 101, 7), fmt.Sprintf("ringing"+told, 102, 10))
	x.forget()
	x.note(simulate.Remove, simulate.Entity("101", 7))
	w.Expect(fmt.Sprintf("ended"+told, 101, 7))
}

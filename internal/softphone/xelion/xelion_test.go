package xelion

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

// TestAddresses: the base of the API is derived from the address that users know.
func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"https://xelion.example": "https://xelion.example/api/v1/master", " https://xelion.example/kantoor/ ": "https://xelion.example/api/v1/kantoor",
		"https://xelion.example:8443/api/v1/kantoor": "https://xelion.example:8443/api/v1/kantoor", "x": "x",
	} {
		if got := base(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

// TestPassedOn: a party that was on the line with us, or had answered before our phone
// rang, has passed the call on; one that answers while our phone rings has taken it.
func TestPassedOn(t *testing.T) {
	bram := told{"SIP/lijn-1", "SIP/102-3", "RINGING", "Bram", "CALLEE", "102"}
	colleague := told{"SIP/102-3", "SIP/102-3", "CONNECTED", "Bram", "CALLER", "102"}
	theirs := ring.as(func(c *told) { c.call = "SIP/102-3" })
	const first = " incoming #SIP/102-3.SIP/101-2 102 (Bram) on 101"
	for _, tt := range []struct {
		name string
		do   func(*exchange)
		want []string
	}{
		{"blind, by who had answered", func(x *exchange) {
			x.set(from, bram)
			x.set(from.as(up), bram.as(up))
			x.gone(bram)
			x.set(ring, ring.as(up))
		}, []string{"ringing incoming #SIP/lijn-1.SIP/101-2 0612345678 via Bram (102) on 101", "answered incoming #SIP/lijn-1.SIP/101-2 0612345678 via Bram (102) on 101"}},
		{"with consultation, our channel goes on in the other call", func(x *exchange) {
			x.set(colleague, theirs, theirs.as(up))
			x.set(from.as(up), ring.as(up))
			x.gone(colleague)
		}, []string{"ringing" + first, "answered" + first, "answered incoming #SIP/102-3.SIP/101-2 0612345678 via Bram on 101"}},
		{"to somebody who is withheld", func(x *exchange) {
			x.set(colleague, theirs)
			x.set(from.as(func(c *told) { c.name = "Anonymous" }), ring)
		}, []string{"ringing" + first, "ringing incoming #SIP/102-3.SIP/101-2 anonymous via Bram on 101"}},
		{"answered by a colleague", func(x *exchange) {
			x.set(from, ring, bram)
			x.set(bram.as(up))
			x.gone(ring)
		}, []string{rings, strings.Replace(rings, "ringing", "ended elsewhere", 1) + " by Bram (102)"}},
		{"passed on, rung here in vain, and over", func(x *exchange) {
			x.set(from, bram.as(up))
			x.gone(bram)
			x.set(ring)
			x.gone(ring, from)
		}, []string{"ringing incoming #SIP/lijn-1.SIP/101-2 0612345678 via Bram (102) on 101", "ended incoming #SIP/lijn-1.SIP/101-2 0612345678 via Bram (102) on 101"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := newExchange(t)
			w := x.link().Connected()
			tt.do(x)
			w.Expect(tt.want...)
			x.last(w)
		})
	}
}

// TestNumbers: a channel has a name and no number. Administrators get the
// number in the events about calls, before or after the channels; for others
// it is requested, once per call, and a call without one rings anyway.
func TestNumbers(t *testing.T) {
	named := from.as(func(c *told) { c.name = "Garage 24/7" })
	unnamed := from.as(func(c *told) { c.name = "Onbekend" })
	about := map[string]any{"callId": from.call, "callerPhoneNumber": "+31612345678", "calleePhoneNumber": "+31201234567"}
	for _, tt := range []struct {
		name  string
		do    func(*exchange)
		want  string
		asked int
	}{
		{"told before", func(x *exchange) { x.about("newCallEvent", about); x.set(named, ring) }, "+31612345678 (Garage 24/7) on +31201234567", 0},
		{"told after", func(x *exchange) {
			x.has(named, ring)
			var events []simulate.XelionEvent
			x.With(func() { events = append(events, x.Channel("insert", named.json()), x.Channel("insert", ring.json())) })
			x.Send(append(events, simulate.XelionEvent{Type: "newCallEvent", Fields: about})...)
		}, "+31612345678 (Garage 24/7) on +31201234567", 0},
		{"asked for", func(x *exchange) {
			x.With(func() { x.NonAdmin, x.Numbers[from.id] = true, "+31612345678" })
			x.about("newCallEvent", about)
			x.set(ring, named)
			x.note("insert", named, ring) // the number is not requested again
		}, "+31612345678 (Garage 24/7) on 101", 1},
		{"told of one whose name nobody knows", func(x *exchange) { x.about("newCallEvent", about); x.set(unnamed, ring) }, "+31612345678 on +31201234567", 0},
		{"asked for of one whose name nobody knows", func(x *exchange) {
			x.With(func() { x.Numbers[from.id] = "+31612345678" })
			x.set(unnamed, ring)
		}, "+31612345678 on 101", 1},
		{"nobody knows it", func(x *exchange) { x.set(named, ring) }, "(Garage 24/7) on 101", 1},
		{"nobody answers", func(x *exchange) {
			x.Intercept(linktest.Status("/api/v1/master/channels", http.StatusServiceUnavailable))
			x.set(named, ring)
		}, "(Garage 24/7) on 101", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := newExchange(t)
			w := x.link().Connected()
			tt.do(x)
			for n := 0; ; n++ {
				if got := linktest.Say(w.Next()); got == "ringing incoming #SIP/lijn-1.SIP/101-2 "+tt.want {
					break
				} else if n > 3 {
					t.Fatal(got)
				}
			}
			x.With(func() {
				if x.NumberRequests != tt.asked {
					t.Errorf("the numbers were asked for %d times", x.NumberRequests)
				}
			})
		})
	}
}

// TestEverybody: a link to many extensions reports the extension at which a call rings.
func TestEverybody(t *testing.T) {
	x := newExchange(t)
	a := linktest.Account(x.Address())
	a.Extension, a.HasExtension = "", func(extension string) bool { return strings.HasPrefix(extension, "1") && extension != "103" }
	w := listen(t, a).Connected()
	x.set(from, told{from.call, "SIP/103-9", "RINGING", "Carla", "CALLEE", "103"}, ring, told{from.call, "SIP/102-3", "RINGING", "Bram", "CALLEE", "102"})
	w.Expect(rings+" at 101", "ringing incoming #SIP/lijn-1.SIP/102-3 0612345678 on 102 at 102")
	x.set(ring.as(up))
	x.gone(told{from.call, "SIP/102-3", "", "", "CALLEE", "102"})
	w.Expect(strings.Replace(rings, "ringing", "answered", 1)+" at 101", "ended elsewhere incoming #SIP/lijn-1.SIP/102-3 0612345678 on 102 at 102 by Anouk (101)")
}

// TestGaps: when an event is lost, the next one reveals it and the list is
// requested; the same happens when an event about a call matches no channel.
func TestGaps(t *testing.T) {
	x := newExchange(t)
	w := listen(t, linktest.Account(x.Address()), func(p *phone) { p.minPollInterval = time.Millisecond }).Connected()
	stranger := told{"SIP/l-9", "SIP/199-9", "RINGING", "x", "CALLEE", "199"}
	x.set(stranger)
	x.set(from, ring)
	w.Expect(rings)
	over := strings.Replace(rings, "ringing", "ended", 1)
	x.With(func() { clear(x.Channels); x.Version += 2 }) // its end is lost
	x.set(stranger)
	w.Expect(over)
	x.has(from, ring) // its start is lost, and no other event about channels arrives
	x.about("newCallEvent", map[string]any{"callId": from.call})
	w.Expect(rings)
	x.forget()
	x.about("callHungUpEvent", map[string]any{"callId": from.call})
	w.Expect(over)
	x.With(func() { x.Version = 0 }) // the server restarts its count
	x.set(from, ring)
	w.Expect(rings)
	x.forget()
	x.With(func() { x.Version = 0 }) // the count does not increase
	x.set(stranger)
	w.Expect(over)
}

// TestGapsWithoutEnd: if the count covers more than our events, that must not
// cause a storm of requests.
func TestGapsWithoutEnd(t *testing.T) {
	t.Parallel()
	x := newExchange(t)
	w := listen(t, linktest.Account(x.Address()), func(p *phone) { p.minPollInterval = 10 * time.Millisecond }).Connected()
	x.set(from, ring)
	w.Expect(rings)
	pace := time.Tick(5 * time.Millisecond)
	for end := time.Now().Add(time.Second); time.Now().Before(end); <-pace {
		x.With(func() { x.Version += 3 })
		x.set(ring)
	}
	x.With(func() {
		if x.ChannelRequests < 2 || x.ChannelRequests > 12 { // 10, 20, 40 … ms
			t.Errorf("%d lists in a second", x.ChannelRequests)
		}
	})
}

// TestRenewal: the session is renewed before it ends. One that the server has forgotten
// is recreated: a call rings at once, and the connection is renewed, as its socket may
// have been forgotten too.
func TestRenewal(t *testing.T) {
	t.Parallel()
	x := newExchange(t)
	w := x.link().Connected()
	x.With(func() { x.Tokens.Valid = nil })
	x.set(from.as(func(c *told) { c.name = "J. de Vries" }), ring) // its number has to be requested
	const rings = "ringing incoming #SIP/lijn-1.SIP/101-2 (J. de Vries) on 101"
	w.Expect(rings)
	if s := w.Until(link.Waiting); s.Cause != link.CauseEnded {
		t.Error(s.Err)
	}
	w.Until(link.Connected)
	w.Expect(rings) // the call continues
	x.With(func() {
		if x.Tokens.Issued != 2 {
			t.Errorf("%d tokens", x.Tokens.Issued)
		}
	})
	x.last(w)
}

// TestReplaced: if our sessions are ended as soon as they are created,
// that is reported, and they are not recreated endlessly. It shows when
// the link connects, or when a call rings whose number it requests.
func TestReplaced(t *testing.T) {
	t.Parallel()
	for name, show := range map[string]func(*exchange, *linktest.Watch, int){
		"connecting": func(x *exchange, _ *linktest.Watch, _ int) { x.EachSocket(linktest.Cut) },
		"asking": func(x *exchange, w *linktest.Watch, n int) {
			c := another(n, "101")
			c[0].name = "J. de Vries"
			x.set(c...)
			for e := w.Next(); e.ID != c[1].call+"."+c[1].id; e = w.Next() {
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newExchange(t)
			w := x.link().Connected()
			for n := range maxEarlyEnds + 1 {
				x.With(func() { x.Tokens.Valid = nil })
				show(x, w, n+1)
				if n < maxEarlyEnds {
					w.Until(link.Waiting)
					w.Wake <- struct{}{}
					w.Until(link.Connected)
				}
			}
			if s := w.Until(link.Kicked); !errors.Is(s.Err, link.ErrReplaced) {
				t.Error(s.Err)
			}
			w.Wake <- struct{}{}
			w.Until(link.Connected)
			for len(w.Events) > 0 { // active calls
				<-w.Events
			}
			x.last(w)
		})
	}
}

// TestWithdrawn: the session is renewed again and again, whatever time the server reports,
// until the login is withdrawn. That is reported, even while connected.
func TestWithdrawn(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]time.Duration{"it is past": -time.Hour, "another zone": 2 * time.Hour} {
		t.Run(name, func(t *testing.T) { withdrawn(t, told) })
	}
}

func withdrawn(t *testing.T, told time.Duration) {
	x := newExchange(t)
	x.With(func() { x.Tokens.Lifetime = told })
	a := linktest.Account(x.Address())
	a.Net.Renewal = 10 * time.Millisecond
	w := listen(t, a, func(p *phone) { p.life = 300 * time.Millisecond }).Connected()
	must.Do(t, x.Until(t.Context(), func() bool { return x.Tokens.Issued >= 4 }))
	if len(w.States) != 0 {
		t.Error("the connection did not stay")
	}
	x.Intercept(linktest.Status("/api/v1/master/me/", http.StatusUnauthorized))
	if s := w.Until(link.Refused); s.Cause != link.CauseDenied || strings.Contains(s.Err.Error(), "canary") {
		t.Errorf("%v", s.Err)
	}
	x.Intercept(nil)
	w.Wake <- struct{}{}
	w.Until(link.Connected)
	x.last(w)
}

// TestWithoutSocket: the list is polled, at a limited rate, until there is a socket.
func TestWithoutSocket(t *testing.T) {
	t.Parallel()
	x := newExchange(t)
	x.Intercept(linktest.Status("/api/v1/master/me/websocket", http.StatusForbidden))
	const pace = 100 * time.Millisecond
	began := time.Now()
	w := listen(t, linktest.Account(x.Address()), func(p *phone) { p.poll = pace }).Connected()
	x.has(from, ring)
	w.Expect(rings)
	x.has(ring.as(up))
	for linktest.Say(w.Next()) == rings {
	}
	x.forget()
	w.Expect(strings.Replace(rings, "ringing", "ended completed", 1))
	x.With(func() {
		if most := int(time.Since(began)/pace) + 2; x.ChannelRequests > most {
			t.Errorf("%d lists, want %d at most", x.ChannelRequests, most)
		}
	})
	x.Intercept(nil)
	must.Do(t, x.Until(t.Context(), x.HasSubscriber))
	x.last(w)
	if len(w.States) != 0 {
		t.Error("the connection did not stay")
	}
}

// TestNoAdministrator: if the server closes the connection when all
// calls are requested, the link requests less, and calls arrive.
func TestNoAdministrator(t *testing.T) {
	x := newExchange(t)
	var wishes atomic.Int32
	x.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/websocket/") || wishes.Load() > 0 {
			return false
		}
		c, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			return true
		}
		defer c.Close()
		for range len(userEvents) + len(adminEvents) {
			if _, _, err := c.ReadMessage(); err != nil {
				return true
			}
		}
		wishes.Add(1)
		c.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1008, ""))
		return true
	})
	a := linktest.Account(x.Address())
	p := must.Get(New(a))(t)
	w := linktest.Run(t, p)
	w.Until(link.Waiting)
	w.Until(link.Connected)
	x.last(w)
	w.Stop()
	if !p.(*phone).userEventsOnly || wishes.Load() != 1 {
		t.Errorf("it is asked for all again")
	}
}

// TestSocketAddress: the exchange names the socket's address. Anything invalid or
// unencrypted is not opened.
func TestSocketAddress(t *testing.T) {
	for _, address := range []string{"", "wss://", "https://evil.example/x", "ws://evil.example/x", "wss://user:x@evil.example/", "/websocket/1", "://", "javascript:x"} {
		x := newExchange(t)
		x.Intercept(linktest.Says("/api/v1/master/me/websocket", fmt.Sprintf(`{"object":%q}`, address)))
		w := x.link()
		if s := w.Until(link.Waiting); s.Cause != link.CauseVersion || strings.Contains(s.Err.Error(), "evil") {
			t.Errorf("%q: %v", address, s.Err)
		}
		w.Stop()
	}
}

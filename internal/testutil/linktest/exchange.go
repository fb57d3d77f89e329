package linktest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/must"
)

// Known is the account that simulated exchanges accept in tests.
var Known = simulate.Account{User: "canary-user", Secret: "canary-secret-Gv7q", Extension: "101"}

// Account returns the account with which a link connects to a fake.
func Account(a simulate.Address) exchangelink.Account {
	return exchangelink.Account{Address: a.Address, User: a.User, Extension: a.Extension, Secret: Secret(a.Secret)}
}

// Listen returns a function that keeps a link to an exchange until the test ends. Its phone,
// of a type of the tested package, may be modified: by always each time, by change once.
func Listen[P link.Phone](open func(exchangelink.Account) (link.Phone, error), always ...func(P)) func(testing.TB, exchangelink.Account, ...func(P)) *Watch {
	return func(t testing.TB, a exchangelink.Account, change ...func(P)) *Watch {
		t.Helper()
		p := must.Get(open(a))(t)
		for _, f := range slices.Concat(always, change) {
			f(p.(P))
		}
		return Run(t, p)
	}
}

// Secret returns a function that returns s.
func Secret(s string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return s, nil }
}

// Host returns a fake's address without its scheme.
func Host(a simulate.Address) string { return strings.TrimPrefix(a.Address, "http://") }

// Answer answers a request in place of an exchange, and reports whether it did.
type Answer = func(http.ResponseWriter, *http.Request) bool

// Status answers requests below path with a status, and echoes their headers.
func Status(path string, status int) Answer {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, path) {
			return false
		}
		http.Error(w, fmt.Sprint(r.Header), status)
		return true
	}
}

// Says answers requests for path with body.
func Says(path, body string) Answer {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != path {
			return false
		}
		io.WriteString(w, body)
		return true
	}
}

// Cut closes a connection without a close message.
func Cut(c *websocket.Conn) { c.NetConn().Close() }

// Fake is what all fake exchanges have in common.
type Fake interface {
	Address() simulate.Address
	Close() error
	Intercept(Answer)
	IgnorePings(bool)
	EachSocket(func(*websocket.Conn))
}

// Start starts a fake that accepts the tests' account. It closes before, if not nil, and takes
// over its address; otherwise the address is a free one.
func Start[F Fake](t testing.TB, before *F, start func(context.Context, string, simulate.Account) (F, error)) F {
	t.Helper()
	listen := ""
	if before != nil {
		(*before).Close()
		listen = Host((*before).Address())
	}
	f := must.Get(start(context.Background(), listen, Known))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

// Exchange is a fake with the operations that the common tests need.
type Exchange struct {
	Fake
	Link    func(exchangelink.Account) *Watch // keeps a link to it
	Ring    func()                            // starts a call
	HangUp  func()                            // ends that call without reporting it
	Restart func()                            // disconnects and returns without the call
	Send    func(message string)
	// Call starts another call to an extension, different for each number, and returns its
	// id, as reported if the extension is the account's, and a function that ends it.
	Call func(n int, extension string) (id string, end func())
}

// ExchangeTests are the common tests of links to exchanges.
type ExchangeTests struct {
	New     func(t testing.TB) *Exchange
	Ended   string                           // how the end of Exchange.Ring is reported
	Hostile []string                         // messages that no exchange sends
	Broken  map[string]func(*websocket.Conn) // more ways to break a connection
	// Breaks has all ways to break a connection, for a link without a WebSocket.
	Breaks map[string]func(*Exchange)
	// TokenPath is where tokens are requested; TokenAnswer is the response, with %s in place of
	// the token.
	TokenPath, TokenAnswer string
	Paths                  []string // requested before the link is connected
	// Denied is the error for a wrong secret, NoSecret for none.
	Denied, NoSecret string
	Refusals         map[string]Refusal
	Losses           []func(*Exchange) // more ways to lose a connection
	Private          []string          // words that must never be logged, besides the account's
}

// Refusal is a response of an exchange, or a foreign extension, that keeps a link down.
type Refusal struct {
	Answer    Answer
	Extension string
	Waits     bool   // the link keeps retrying instead of being refused
	Want      string // the error; if the link waits, after the exchange's address
	Cause     link.Cause
}

// Run runs the tests concurrently, since they mostly wait.
func (x ExchangeTests) Run(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"refusals": x.refusals, "restart": x.restart, "lost": x.lost, "goes on": x.goesOn, "nobody else's calls": x.nobodyElses, "sleep": x.sleep, "silence": x.silence,
		"hostile messages": x.hostileMessages, "broken connections": x.brokenConnections, "bad tokens": x.badTokens, "discretion": x.discretion,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

func (x *Exchange) connect() *Watch {
	return x.Link(Account(x.Address())).Connected()
}

// Reports fails unless the link still reports calls, whatever else arrives.
func (x *Exchange) Reports(t testing.TB, w *Watch, n int) {
	t.Helper()
	id, end := x.Call(n, Known.Extension)
	for state := call.Ringing; ; {
		e := w.Next()
		if e != e.Clean() || e.Source.Kind != x.Address().Protocol {
			t.Fatalf("call %d: %+v", n, e)
		}
		switch {
		case e.ID != id || e.State != state:
		case state == call.Ended:
			return
		default:
			end()
			state = call.Ended
		}
	}
}

// restart checks that a restart of the exchange ends the
// active call and that the link reconnects.
func (x ExchangeTests) restart(t *testing.T) {
	e := x.New(t)
	e.Ring()
	w := e.connect()
	w.Next()
	e.Restart()
	w.Until(link.Waiting)
	w.Until(link.Connected)
	w.Expect(x.Ended)
	e.Reports(t, w, 0)
}

// refusals checks that only the reason for a refusal is
// reported, and that calls arrive once it is fixed.
func (x ExchangeTests) refusals(t *testing.T) {
	const wrong, none = "wrong secret", "no secret"
	all := map[string]Refusal{wrong: {Want: x.Denied, Cause: link.CauseDenied}, none: {Want: x.NoSecret, Cause: link.CauseNoSecret}}
	maps.Copy(all, x.Refusals)
	for name, r := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := x.New(t)
			e.Intercept(r.Answer)
			a := Account(e.Address())
			a.Extension = cmp.Or(r.Extension, a.Extension)
			switch name {
			case wrong:
				a.Secret = Secret("canary-wrong")
			case none:
				a.Secret = Secret("")
			}
			w, phase, want := e.Link(a), link.Refused, r.Want
			if r.Waits {
				phase, want = link.Waiting, Host(e.Address())+": "+want
			}
			if s := w.Until(phase); s.Err.Error() != want || s.Cause != r.Cause {
				t.Errorf("%v (%s), want %s (%s)", s.Err, s.Cause, want, r.Cause)
			}
			if r.Answer != nil {
				e.Intercept(nil)
				w.Wake <- struct{}{}
				w.Until(link.Connected)
				e.Reports(t, w, 0)
			}
		})
	}
}

// lost has five offices lose their connections four times each, in every way. Each time they
// must reconnect within two seconds, and learn of the call that began or ended meanwhile.
func (x ExchangeTests) lost(t *testing.T) {
	losses := x.losses()
	for office := range 5 {
		t.Run(fmt.Sprint(office), func(t *testing.T) {
			t.Parallel()
			e := x.New(t)
			a := Account(e.Address())
			a.Client = "office"
			w := e.Link(a).Connected()
			for i := range 4 {
				state, change := call.Ringing, e.Ring
				if i%2 > 0 {
					state, change = call.Ended, e.HangUp
				}
				change()
				losses[(office+i/2)%len(losses)](e)
				possible := time.Now()
				w.Await(state)
				must.Within(t, possible, 2*time.Second)
			}
		})
	}
}

// losses returns the ways to lose a connection.
func (x ExchangeTests) losses() []func(*Exchange) {
	if x.Breaks != nil {
		return x.Losses
	}
	return append(slices.Clip(x.Losses), func(e *Exchange) { e.EachSocket(Cut) })
}

// goesOn checks that a call that keeps ringing while the connection is lost is reported again
// each time, and that no failure of the exchange ends it.
func (x ExchangeTests) goesOn(t *testing.T) {
	e := x.New(t)
	e.Ring()
	w := e.connect()
	rang := w.Next()
	for _, lose := range x.losses() {
		lose(e)
		w.Until(link.Waiting)
		w.Expect(Say(rang))
		w.Until(link.Connected)
	}
	for _, path := range x.Paths {
		e.Intercept(Status(path, http.StatusServiceUnavailable))
		x.losses()[0](e)
		w.Until(link.Waiting)
		w.Wake <- struct{}{}
		if (<-w.States).Phase == link.Waiting { // otherwise this path is not requested again
			e.Intercept(nil)
			w.Wake <- struct{}{}
			w.Until(link.Connected)
		}
		w.Expect(Say(rang))
	}
}

// nobodyElses checks that a busy exchange's other calls are not reported.
func (x ExchangeTests) nobodyElses(t *testing.T) {
	e := x.New(t)
	w := e.connect()
	var ends []func()
	for n := range 50 {
		_, end := e.Call(n, fmt.Sprint(102+n))
		ends = append(ends, end)
	}
	id, end := e.Call(50, Known.Extension)
	ends = append(ends, end)
	for state := call.Ringing; state != call.Ended; {
		got := w.Next()
		if state = got.State; got.ID != id {
			t.Errorf("somebody else's call: %s", Say(got))
		}
		for _, end := range ends {
			end()
		}
		ends = nil
	}
}

// sleep checks that a call that ended while the computer
// slept, without an event, is reported as ended.
func (x ExchangeTests) sleep(t *testing.T) {
	e := x.New(t)
	e.Ring()
	w := e.connect()
	w.Next()
	e.HangUp()
	w.Wake <- struct{}{}
	w.Expect(x.Ended)
	w.Until(link.Connected)
}

// silence checks that the link reconnects when the other end falls silent.
func (x ExchangeTests) silence(t *testing.T) {
	e := x.New(t)
	e.IgnorePings(true)
	a := Account(e.Address())
	a.Net.PingEvery, a.Net.Silence = 50*time.Millisecond, 500*time.Millisecond
	w := e.Link(a)
	w.Until(link.Connected)
	if s := w.Until(link.Waiting); !strings.HasSuffix(s.Err.Error(), ": it does not answer in time") {
		t.Error(s.Err)
	}
	e.Ring()
	e.IgnorePings(false)
	w.Until(link.Connected)
	if rang := w.Next(); rang.State != call.Ringing { // again if a busy exchange was too slow once more
		t.Errorf("%+v", rang)
	}
}

// hostileMessages checks that an unreadable message affects nothing else.
func (x ExchangeTests) hostileMessages(t *testing.T) {
	e := x.New(t)
	w := e.connect()
	if len(x.Hostile) == 0 || len(x.Paths) == 0 {
		t.Fatal("nothing hostile, or no paths")
	}
	for i, m := range x.Hostile {
		e.Send(m)
		e.Reports(t, w, i)
	}
	if len(w.States) != 0 {
		t.Errorf("%d changes of state after %d messages", len(w.States), len(x.Hostile))
	}
}

// brokenConnections checks that the link survives whatever breaks its
// connection, and does not repeat its content.
func (x ExchangeTests) brokenConnections(t *testing.T) {
	raw := func(b ...byte) func(*websocket.Conn) { return func(c *websocket.Conn) { c.NetConn().Write(b) } }
	all := map[string]func(*websocket.Conn){
		"message too large": func(c *websocket.Conn) {
			c.WriteMessage(websocket.TextMessage, []byte(`{"x":"`+strings.Repeat("y", 300<<10)+`"}`))
		},
		"not a frame":               raw([]byte(strings.Repeat("\xff\xff\xff\xff", 100))...),
		"reserved bits":             raw(0xf1, 0x01, 'x'),
		"not UTF-8 in the close":    raw(0x88, 0x04, 0x03, 0xe8, 0xff, 0xfe),
		"a frame of endless length": raw(0x81, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
		"closed with words": func(c *websocket.Conn) {
			c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1011, "number "+Number+" token "+Known.Secret), time.Now().Add(time.Second))
		},
		"cut": Cut,
	}
	breaks := x.Breaks
	if breaks == nil {
		maps.Copy(all, x.Broken)
		breaks = map[string]func(*Exchange){}
		for name, do := range all {
			breaks[name] = func(e *Exchange) { e.EachSocket(do) }
		}
	}
	for name, do := range breaks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := x.New(t)
			w := e.connect()
			do(e)
			x.unsaid(t, w.Until(link.Waiting).Err.Error())
			w.Wake <- struct{}{}
			w.Until(link.Connected)
			e.Reports(t, w, 0)
		})
	}
}

// badTokens checks that the link waits, does not repeat what it received,
// and connects once the responses are valid.
func (x ExchangeTests) badTokens(t *testing.T) {
	if x.TokenPath == "" {
		return
	}
	with := func(token string) string { return fmt.Sprintf(x.TokenAnswer, token) }
	for name, answer := range map[string]string{
		"none": "{}", "null": with("null"), "empty": with(`""`), "an object": with("{}"), "a line end": with(`"a\r\nX-Evil: 1"`),
		"too long": with(`"` + strings.Repeat("x", 20<<10) + `"`), "not JSON": "<html>", "an array": "[]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := x.New(t)
			e.Intercept(Says(x.TokenPath, answer))
			w := e.Link(Account(e.Address()))
			if s := w.Until(link.Waiting); strings.Contains(s.Err.Error(), "Evil") {
				t.Error(s.Err)
			}
			e.Intercept(nil)
			w.Wake <- struct{}{}
			w.Until(link.Connected)
		})
	}
}

// discretion checks that no failure puts anything secret into the log or the state.
func (x ExchangeTests) discretion(t *testing.T) {
	for _, path := range x.Paths {
		for what, f := range echoes() {
			t.Run(path+" "+what, func(t *testing.T) {
				t.Parallel()
				e := x.New(t)
				e.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
					if strings.HasPrefix(r.URL.Path, stolen) {
						t.Error("the redirect was followed")
					}
					if !strings.HasPrefix(r.URL.Path, path) {
						return false
					}
					f(w, r)
					return true
				})
				w := e.Link(Account(e.Address()))
				x.unsaid(t, fmt.Sprint(w.Until(link.Waiting).Err)+w.Log.String())
			})
		}
	}
	t.Run("messages that cannot be read", func(t *testing.T) {
		e := x.New(t)
		w := e.connect()
		e.Send(Known.Secret)
		e.Send(`{"sequence":"` + Number + `","type":{"x":"` + Name + `"},"op":[]}`)
		e.Reports(t, w, 0)
		if !strings.Contains(w.Log.String(), "cannot be read") {
			t.Error("nothing was logged")
		}
		x.unsaid(t, w.Log.String())
	})
}

func (x ExchangeTests) unsaid(t testing.TB, said string) {
	t.Helper()
	for _, s := range append([]string{Number, Name, "canary", "simulated", "Basic ", "Bearer"}, x.Private...) {
		if strings.Contains(said, s) {
			t.Errorf("%q was said: %s", s, said)
		}
	}
}

// Refused waits until the link is refused, with the expected reason.
func (w *Watch) Refused(want string) {
	w.t.Helper()
	if s := w.Until(link.Refused); s.Err.Error() != want {
		w.t.Errorf("%v", s.Err)
	}
}

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

// Known is the account that the fakes of exchanges know in tests.
var Known = simulate.Account{User: "canary-user", Secret: "canary-secret-Gv7q", Extension: "101"}

// Account is where a link finds a fake.
func Account(a simulate.Address) exchangelink.Account {
	return exchangelink.Account{Address: a.Address, User: a.User, Extension: a.Extension, Secret: Secret(a.Secret)}
}

// Listen is what keeps a link to an exchange until the test ends. Its phone, of the test's
// own package, may be changed: by always each time, by change once.
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

// Secret gives a password.
func Secret(s string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return s, nil }
}

// Host is a fake's address without its scheme.
func Host(a simulate.Address) string { return strings.TrimPrefix(a.Address, "http://") }

// Answer answers a request before an exchange does, and reports whether it did.
type Answer = func(http.ResponseWriter, *http.Request) bool

// Status answers the requests below path with a status, and repeats their header.
func Status(path string, status int) Answer {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, path) {
			return false
		}
		http.Error(w, fmt.Sprint(r.Header), status)
		return true
	}
}

// Says answers the requests for path with body.
func Says(path, body string) Answer {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != path {
			return false
		}
		io.WriteString(w, body)
		return true
	}
}

// Cut ends a connection without a word.
func Cut(c *websocket.Conn) { c.NetConn().Close() }

// Fake is what every fake of an exchange has.
type Fake interface {
	Address() simulate.Address
	Close() error
	Intercept(Answer)
	Deaf(bool)
	EachSocket(func(*websocket.Conn))
}

// Start starts a fake that knows the account of tests, where another was if it has
// been closed, and else at a free address.
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

// Exchange is a fake and what the tests of every exchange do with it.
type Exchange struct {
	Fake
	Link    func(exchangelink.Account) *Watch // keeps a link to it
	Ring    func()                            // has a call come
	HangUp  func()                            // ends that call and tells nobody
	Restart func()                            // breaks off and comes back, without the call
	Send    func(message string)
	// Call has another call come, which differs for each number, and gives the id by
	// which it is reported and what ends it.
	Call func(n int) (id string, end func())
}

// ExchangeTests are the tests of every link to an exchange.
type ExchangeTests struct {
	New     func(t testing.TB) *Exchange
	Ended   string                           // how the end of Exchange.Ring is reported
	Hostile []string                         // messages that no exchange sends
	Broken  map[string]func(*websocket.Conn) // more that breaks a connection
	// Breaks is all that breaks the connection of a link that has no WebSocket.
	Breaks map[string]func(*Exchange)
	// TokenPath is where a token is asked for, BadTokens are answers without a good one.
	TokenPath string
	BadTokens map[string]string
	Paths     []string // that are asked for before the link is connected
	// Denied is what is said of a wrong secret, NoSecret of none.
	Denied, NoSecret string
	Refusals         map[string]Refusal
	Losses           []func(*Exchange) // more that loses a connection
	Private          []string          // words that are never said, beside the account's
}

// Refusal is an answer of an exchange, or an extension that is none of its, by which a link
// does not stand.
type Refusal struct {
	Answer    Answer
	Extension string
	Waits     bool   // the link waits, and is not refused
	Want      string // what is said; of a link that waits, behind the exchange's address
	Cause     link.Cause
}

// Run runs them, beside one another: they mostly wait.
func (x ExchangeTests) Run(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"refusals": x.refusals, "restart": x.restart, "lost": x.lost, "goes on": x.goesOn, "sleep": x.sleep, "silence": x.silence,
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

// Reports says whether the link still reports calls, among whatever else comes.
func (x *Exchange) Reports(t testing.TB, w *Watch, n int) {
	t.Helper()
	id, end := x.Call(n)
	for state := call.Ringing; ; {
		e := w.Next()
		if e != e.Clean() || e.Source.Kind != x.Address().Over {
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

// restart: the call that was on is over, and the link comes back.
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

// refusals: what keeps a link out is said, and nothing else; once it is right, calls come.
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

// lost: the connections of five offices are lost four times each, in every way. Each time
// they are back within two seconds, and know of the call that began meanwhile, or of its end.
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
				for w.Next().State != state {
				}
				must.Within(t, possible, 2*time.Second)
			}
		})
	}
}

// losses are the ways to lose a connection.
func (x ExchangeTests) losses() []func(*Exchange) {
	if x.Breaks != nil {
		return x.Losses
	}
	return append(slices.Clip(x.Losses), func(e *Exchange) { e.EachSocket(Cut) })
}

// goesOn: a call that rings on while the connection is lost is told of again, each time,
// and no fault of the exchange says that it is over.
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
		if (<-w.States).Phase == link.Waiting { // else that is not asked for again
			e.Intercept(nil)
			w.Wake <- struct{}{}
			w.Until(link.Connected)
		}
		w.Expect(Say(rang))
	}
}

// sleep: the computer has slept, the call that was on is over, and nobody has told
// us.
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

// silence: a connection of which the other end says nothing any more.
func (x ExchangeTests) silence(t *testing.T) {
	e := x.New(t)
	e.Deaf(true)
	a := Account(e.Address())
	a.Net.PingEvery, a.Net.Silence = 50*time.Millisecond, 500*time.Millisecond
	w := e.Link(a)
	w.Until(link.Connected)
	if s := w.Until(link.Waiting); !strings.HasSuffix(s.Err.Error(), ": it does not answer in time") {
		t.Error(s.Err)
	}
	e.Ring()
	e.Deaf(false)
	w.Until(link.Connected)
	if rang := w.Next(); rang.State != call.Ringing { // told anew where a busy exchange is too slow again
		t.Errorf("%+v", rang)
	}
}

// hostileMessages: one that cannot be read costs no more than itself.
func (x ExchangeTests) hostileMessages(t *testing.T) {
	e := x.New(t)
	w := e.connect()
	for i, m := range x.Hostile {
		e.Send(m)
		e.Reports(t, w, i)
	}
	if len(w.States) != 0 {
		t.Errorf("%d changes of state after %d messages", len(w.States), len(x.Hostile))
	}
}

// brokenConnections: what breaks a connection breaks no link, and is not repeated.
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

// badTokens: the link waits, does not repeat what it got, and connects once the
// answers are right again.
func (x ExchangeTests) badTokens(t *testing.T) {
	for name, answer := range x.BadTokens {
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

// discretion: whatever goes wrong, nothing secret is in the log or the state.
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

// Refused waits until the link is refused, for the reason that is wanted.
func (w *Watch) Refused(want string) {
	w.t.Helper()
	if s := w.Until(link.Refused); s.Err.Error() != want {
		w.t.Errorf("%v", s.Err)
	}
}

package bria

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { linktest.Main(m) }

// The question, byte for byte.
const (
	asked = "GET /status\r\nUser-Agent: Wiebelt\r\nTransaction-ID: %d\r\nContent-Type: application/xml\r\nContent-Length: 80\r\n\r\n" +
		"<?xml version=\"1.0\" encoding=\"utf-8\" ?>\r\n<status>\r\n <type>call</type>\r\n</status>"
	changed = simulate.BriaChanged
)

func answered(id int, calls string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nTransaction-ID: %d\r\nContent-Type: application/xml\r\nContent-Length: 345\r\n\r\n"+
		"<?xml version=\"1.0\" encoding=\"utf-8\" ?>\n<status type=\"call\">\n%s</status>", id, calls)
}

func oneCall(id, number, name, state string) string {
	return "<call>\n<id>" + id + "</id>\n<holdStatus>offHold</holdStatus>\n<participants>\n" + oneParty(number, name, state) + "</participants>\n</call>\n"
}

func oneParty(number, name, state string) string {
	return "<participant>\n<number>" + number + "</number>\n<displayName>" + name + "</displayName>\n<state>" + state + "</state>\n<timeInitiated>0</timeInitiated>\n</participant>\n"
}

// fake is a Bria that fails the test if it receives anything but the expected question.
type fake struct {
	*simulate.Bria
	t      testing.TB
	listen string
	// answer replaces the answer to a question; "" is silence.
	answer    func(id int, calls string) string
	deaf      bool     // answers no ping
	calls     string   // when the fake starts
	questions chan int // their numbers, from 1 for each connection
	open      http.HandlerFunc
}

func newFake(t testing.TB) *fake {
	return &fake{t: t, questions: make(chan int, 4096)}
}

// start listens until the test ends, at the same address as before, if any.
func (f *fake) start() *fake {
	f.t.Helper()
	f.Bria = must.Get(simulate.StartBria(context.Background(), f.listen))(f.t)
	f.listen = f.Address().Address
	f.t.Cleanup(func() { f.Close() })
	f.IgnorePings(f.deaf)
	f.With(func() { f.Calls, f.OnQuestion = f.calls, f.asked })
	f.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/counterpath/socketapi/v1/" || r.Header.Get("Origin") != "" || !strings.HasPrefix(r.Host, makerName+":") || r.TLS.ServerName != makerName {
			f.t.Errorf("handshake for %s%s from %q", r.Host, r.URL.Path, r.Header.Get("Origin"))
		}
		if f.open != nil {
			f.open(w, r)
		}
		return f.open != nil
	})
	return f
}

func (f *fake) asked(question, answer string) string {
	id := 0
	_, rest, _ := strings.Cut(question, "Transaction-ID: ")
	if fmt.Sscan(rest, &id); question != fmt.Sprintf(asked, id) {
		f.t.Errorf("Bria was sent %q", question)
	}
	calls := ""
	f.With(func() { calls = f.Calls }) // the current ones: the caller may change them after question
	f.questions <- id
	if f.answer == nil {
		return answer
	}
	return f.answer(id, calls)
}

func (f *fake) send(messages ...string) {
	f.EachSocket(func(c *websocket.Conn) {
		for _, m := range messages {
			c.WriteMessage(websocket.TextMessage, []byte(m)) // the link may have hung up
		}
	})
}

// question waits for a question.
func (f *fake) question() {
	f.t.Helper()
	must.Receive(f.t, f.questions, "a question")
}

// run keeps a link until the test ends.
func run(t testing.TB, address string, quick times) *linktest.Watch {
	t.Helper()
	return linktest.Run(t, newPhone(t, address, quick))
}

// newPhone returns a phone, with those of its times that are set in quick.
func newPhone(t testing.TB, address string, quick times) link.Phone {
	t.Helper()
	p := must.Get(New(address))(t)
	if quick != (times{}) {
		p.(*phone).times = quick
	}
	return p
}

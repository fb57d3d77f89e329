package bria

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The question, byte for byte.
const (
	asked = "GET /status\r\nUser-Agent: Wiebelt\r\nTransaction-ID: %d\r\nContent-Type: application/xml\r\nContent-Length: 80\r\n\r\n" +
		"<?xml version=\"1.0\" encoding=\"utf-8\" ?>\r\n<status>\r\n <type>call</type>\r\n</status>"
	// As in the maker's document, with its wrong length.
	changed = "POST /statusChange\r\nUser-Agent: Bria 5\r\nContent-Type: application/xml\r\nContent-Length: 62\r\n\r\n" +
		"<?xml version=\"1.0\" encoding=\"utf-8\" ?>\r\n<event type=\"call\"></event>"
)

// answered is an answer with these calls.
func answered(id int, calls string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nTransaction-ID: %d\r\nContent-Type: application/xml\r\nContent-Length: 345\r\n\r\n"+
		"<?xml version=\"1.0\" encoding=\"utf-8\" ?>\n<status type=\"call\">\n%s</status>", id, calls)
}

// oneCall is a call as it stands in an answer.
func oneCall(id, number, name, state string) string {
	return "<call>\n<id>" + id + "</id>\n<holdStatus>offHold</holdStatus>\n<participants>\n" + oneParty(number, name, state) + "</participants>\n</call>\n"
}

func oneParty(number, name, state string) string {
	return "<participant>\n<number>" + number + "</number>\n<displayName>" + name + "</displayName>\n<state>" + state + "</state>\n<timeInitiated>0</timeInitiated>\n</participant>\n"
}

// certificate is made out to Bria's name by itself, and has long expired.
var certificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	old := time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: makerName}, DNSNames: []string{makerName}, NotBefore: old, NotAfter: old.AddDate(1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
})

// fake is a Bria: it answers the question with its list of calls, and everything
// else is a failure of the test.
type fake struct {
	t       testing.TB
	Address string
	// answer replaces the answer to a question; "" is silence.
	answer func(id int, calls string) string
	// open replaces what the server does with a connection.
	open      http.HandlerFunc
	deaf      bool           // answers no ping
	questions chan int       // set: hears of every question
	names     chan string    // set: hears the name that each handshake asks for
	connected chan *fakeConn // every connection
	serving   sync.WaitGroup
	server    *http.Server

	mu    sync.Mutex // protects the rest
	calls string
	conns map[*fakeConn]bool
}

type fakeConn struct {
	ws *websocket.Conn
	mu sync.Mutex
}

func (c *fakeConn) send(text string) error { return c.sendAs(websocket.TextMessage, text) }

func (c *fakeConn) sendAs(kind int, text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ws.SetWriteDeadline(time.Now().Add(10 * time.Second))
	return c.ws.WriteMessage(kind, []byte(text))
}

func newFake(t testing.TB) *fake {
	return &fake{t: t, Address: "127.0.0.1:0", answer: answered, questions: make(chan int, 4096), names: make(chan string, 64), connected: make(chan *fakeConn, 64), conns: map[*fakeConn]bool{}}
}

// start listens until the test ends.
func (f *fake) start() *fake {
	f.t.Helper()
	ln, err := net.Listen("tcp4", f.Address)
	if err != nil {
		f.t.Fatal(err)
	}
	f.Address = ln.Addr().String()
	secure := tls.NewListener(ln, &tls.Config{
		Certificates: []tls.Certificate{certificate()},
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			f.names <- hello.ServerName
			return nil, nil
		},
	})
	f.server = &http.Server{Handler: http.HandlerFunc(f.serve), ErrorLog: log.New(io.Discard, "", 0)}
	f.serving.Go(func() { f.server.Serve(secure) })
	f.t.Cleanup(f.stop)
	return f
}

// stop ends the phone, and its connections with it. It may be called again.
func (f *fake) stop() {
	f.server.Close()
	f.mu.Lock()
	for c := range f.conns {
		c.ws.Close()
	}
	f.mu.Unlock()
	f.serving.Wait()
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	f.serving.Add(1)
	defer f.serving.Done()
	if f.open != nil {
		f.open(w, r)
		return
	}
	if r.URL.Path != "/counterpath/socketapi/v1/" || r.Header.Get("Origin") != "" || !strings.HasPrefix(r.Host, makerName+":") {
		f.t.Errorf("handshake for %s%s from %q", r.Host, r.URL.Path, r.Header.Get("Origin"))
	}
	ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	c := &fakeConn{ws: ws}
	f.mu.Lock()
	f.conns[c] = true
	f.mu.Unlock()
	defer func() {
		ws.Close()
		f.mu.Lock()
		delete(f.conns, c)
		f.mu.Unlock()
	}()
	if f.deaf {
		ws.SetPingHandler(func(string) error { return nil })
	}
	f.connected <- c
	for want := 1; ; want++ {
		_, b, err := ws.ReadMessage()
		if err != nil {
			return
		}
		if string(b) != fmt.Sprintf(asked, want) {
			f.t.Errorf("Bria was sent %q", b)
		}
		f.mu.Lock()
		calls := f.calls
		f.mu.Unlock()
		f.questions <- want
		if text := f.answer(want, calls); text != "" && c.send(text) != nil {
			return
		}
	}
}

// question waits until a question was asked.
func (f *fake) question() {
	f.t.Helper()
	select {
	case <-f.questions:
	case <-time.After(30 * time.Second):
		f.t.Fatal("nothing was asked")
	}
}

// set changes the calls and tells of it.
func (f *fake) set(calls string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = calls
	for c := range f.conns {
		if err := c.send(changed); err != nil {
			f.t.Error(err)
		}
	}
}

// run keeps a link until the test ends.
func run(t testing.TB, cfg Config, quick times) *linktest.Watch {
	t.Helper()
	return linktest.Run(t, newPhone(t, cfg, quick))
}

// newPhone makes a phone with other times where they are set.
func newPhone(t testing.TB, cfg Config, quick times) link.Phone {
	t.Helper()
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if quick != (times{}) {
		p.(*phone).times = quick
	}
	return p
}

package simulate

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"html"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/registry"
)

// Bria is the Desktop API of the softphone Bria: it notifies clients that a call has
// changed, and lists the calls on request. Its certificate is self-signed and issued for
// this computer under its maker's name. Access its fields only within With.
type Bria struct {
	*server
	Calls string // as listed in an answer
	// OnQuestion receives each question and its answer, and returns the answer to send; ""
	// sends none. It is called by the connection's goroutine.
	OnQuestion   func(question, answer string) string
	playing      []briaCall
	version      int             // of the list
	sentVersions map[*wsConn]int // the version of the list that each connection has; -1 for none
}

const (
	briaName = "cpclientapi.softphone.com"
	briaPath = "/counterpath/socketapi/v1"
)

// StartBria starts a Bria.
func StartBria(ctx context.Context, listen string) (*Bria, error) {
	cert, err := ownCertificate(briaName)
	if err != nil {
		return nil, err
	}
	b := &Bria{sentVersions: map[*wsConn]int{}, OnQuestion: func(_, answer string) string { return answer }}
	b.server = newServer(func() bool {
		for _, v := range b.sentVersions {
			if v >= 0 {
				return true
			}
		}
		return false
	})
	err = b.startWeb(ctx, listen, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, b.serve)
	b.address.Protocol = registry.Bria
	return b, err
}

// ownCertificate returns a self-signed certificate for a name. It has expired, like the one
// shipped with this version of Bria.
func ownCertificate(name string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	old := time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: old, NotAfter: old.AddDate(1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

func (b *Bria) serve(w http.ResponseWriter, r *http.Request) {
	if strings.TrimSuffix(r.URL.Path, "/") != briaPath {
		http.NotFound(w, r)
		return
	}
	b.upgrade(w, r, socketHandler{
		onOpen:    func(c *wsConn) func() { b.sentVersions[c] = -1; return nil },
		onMessage: b.handleMessage,
		onClose:   func(c *wsConn) { delete(b.sentVersions, c) },
	})
}

func (b *Bria) handleMessage(c *wsConn, m []byte) bool {
	head, body, _ := strings.Cut(string(m), "<")
	first, head, _ := strings.Cut(head, "\n")
	id := ""
	for line := range strings.SplitSeq(head, "\n") {
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(strings.TrimSpace(name), "Transaction-ID") {
			id = call.CleanText(strings.TrimSpace(value), 64)
		}
	}
	version, said := -1, ""
	var asked func(question, answer string) string
	b.With(func() {
		switch asked = b.OnQuestion; {
		case strings.TrimSpace(first) != "GET /status":
		case strings.Contains(body, "<type>call</type>"):
			version, said = b.version, "<status type=\"call\">\n"+b.Calls+"</status>"
		case strings.Contains(body, "<type>phone</type>"):
			said = "<status type=\"phone\">\n<state>ready</state>\n</status>"
		}
	})
	answer := asked(string(m), briaAnswer(id, said))
	if answer != "" && c.send([]byte(answer)) != nil {
		return false
	}
	if version >= 0 {
		b.With(func() { b.sentVersions[c] = version })
	}
	return true
}

// briaAnswer builds the answer to a question; without content, the question is one
// that Bria does not know.
func briaAnswer(id, said string) string {
	status := "400 Bad Request"
	if said != "" {
		status, said = "200 OK", "<?xml version=\"1.0\" encoding=\"utf-8\" ?>\n"+said
	}
	if id != "" {
		status += "\r\nTransaction-ID: " + id
	}
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/xml\r\nContent-Length: %d\r\n\r\n%s", status, len(said), said)
}

// BriaChanged notifies that a call has changed. The length
// is wrong, as it is in the maker's own examples.
const BriaChanged = "POST /statusChange\r\nUser-Agent: Bria 5\r\nContent-Type: application/xml\r\nContent-Length: 62\r\n\r\n" +
	"<?xml version=\"1.0\" encoding=\"utf-8\" ?>\r\n<event type=\"call\"></event>"

// Change replaces the list of calls and notifies every client. It returns the version of
// the list, counting from 0.
func (b *Bria) Change(calls string) (version int) {
	b.With(func() {
		b.version++
		b.Calls, version = calls, b.version
	})
	b.SendAll(BriaChanged)
	return version
}

type briaCall struct {
	id, number, name, state string
}

func (b *Bria) list() string {
	var s strings.Builder
	for _, c := range b.playing {
		fmt.Fprintf(&s, "<call>\n<id>%s</id>\n<holdStatus>offHold</holdStatus>\n<participants>\n<participant>\n<number>%s</number>\n<displayName>%s</displayName>\n<state>%s</state>\n<timeInitiated> %d</timeInitiated>\n</participant>\n</participants>\n</call>\n",
			html.EscapeString(c.id), html.EscapeString(c.number), html.EscapeString(c.name), c.state, time.Now().Unix())
	}
	return s.String()
}

// SendUpdate changes the list, and waits until every client has requested it.
func (b *Bria) SendUpdate(ctx context.Context, n Update) error {
	c := briaCall{id: n.Call.ID, number: digits(n.Call.Number), name: n.Call.Name, state: "ringing"}
	if n.Call.Number == "" {
		c.number, c.name = "anonymous", "Anonymous"
	}
	switch {
	case n.Verb == End:
		c.state = "ended"
	case n.Answered:
		c.state = "connected"
	case n.Call.Direction == "outgoing":
		c.state = "connecting"
	}
	at := slices.IndexFunc(b.playing, func(o briaCall) bool { return o.id == c.id })
	if at < 0 {
		at, b.playing = len(b.playing), append(b.playing, c)
	}
	b.playing[at] = c
	if err := b.change(ctx); err != nil || n.Verb != End {
		return err
	}
	// An ended call is listed once more, then removed.
	b.playing = slices.Delete(b.playing, at, at+1)
	return b.change(ctx)
}

// change notifies that the list has changed, and waits until every client has requested it.
func (b *Bria) change(ctx context.Context) error {
	version := b.Change(b.list())
	return b.awaitProcessed(ctx, func() bool {
		for _, known := range b.sentVersions {
			if known < version {
				return false
			}
		}
		return true
	})
}

package simulate

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/xml"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/registry"
)

// bria is the Desktop API of the softphone Bria: it says that
// something has happened to a call, and lists the calls to who asks then. Its
// certificate is one of its own, made out to its maker's name for this computer.
type bria struct {
	*server
	calls   []*briaCall
	version int // of the list
	knows   map[*wsConn]int
}

type briaCall struct {
	id, number, name, state string
}

const (
	briaName = "cpclientapi.softphone.com"
	briaPath = "/counterpath/socketapi/v1"
)

func startBria(ctx context.Context, address string) (*bria, error) {
	cert, err := ownCertificate(briaName)
	if err != nil {
		return nil, err
	}
	b := &bria{server: newServer(), knows: map[*wsConn]int{}}
	err = b.startWeb(ctx, address, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, b.serve)
	b.address.Over = registry.Bria
	return b, err
}

// ownCertificate is made out to a name, by itself, and lives in memory.
func ownCertificate(name string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	c := &x509.Certificate{SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(0, 1, 0)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

func (b *bria) serve(w http.ResponseWriter, r *http.Request) {
	if strings.TrimSuffix(r.URL.Path, "/") != briaPath {
		http.NotFound(w, r)
		return
	}
	b.upgrade(w, r, socket{
		began: func(c *wsConn) func() { b.knows[c] = -1; return nil },
		took:  b.took,
		over:  func(c *wsConn) { delete(b.knows, c) },
	})
}

// took answers a question.
func (b *bria) took(c *wsConn, m []byte) bool {
	head, body, _ := strings.Cut(string(m), "<")
	first, head, _ := strings.Cut(head, "\n")
	id := ""
	for line := range strings.SplitSeq(head, "\n") {
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(strings.TrimSpace(name), "Transaction-ID") {
			id = strings.TrimSpace(value)
		}
	}
	status, version, said := "200 OK", 0, ""
	switch {
	case strings.TrimSpace(first) != "GET /status":
		status = "400 Bad Request"
	case strings.Contains(body, "<type>call</type>"):
		b.With(func() { version, said = b.version, b.list() })
		said = "<status type=\"call\">\n" + said + "</status>"
	case strings.Contains(body, "<type>phone</type>"):
		said = "<status type=\"phone\">\n<state>ready</state>\n</status>"
	default:
		status = "400 Bad Request"
	}
	if said != "" {
		said = "<?xml version=\"1.0\" encoding=\"utf-8\" ?>\n" + said
	}
	answer := "HTTP/1.1 " + status + "\r\n"
	if id != "" {
		answer += "Transaction-ID: " + call.CleanText(id, 64) + "\r\n"
	}
	answer += fmt.Sprintf("Content-Type: application/xml\r\nContent-Length: %d\r\n\r\n%s", len(said), said)
	if c.send([]byte(answer)) != nil {
		return false
	}
	if strings.Contains(said, `type="call"`) {
		b.With(func() { b.knows[c] = version })
	}
	return true
}

// list is the calls as they stand in an answer.
func (b *bria) list() string {
	var s strings.Builder
	for _, c := range b.calls {
		fmt.Fprintf(&s, "<call>\n<id>%s</id>\n<holdStatus>offHold</holdStatus>\n<participants>\n<participant>\n<number>%s</number>\n<displayName>%s</displayName>\n<state>%s</state>\n<timeInitiated> %d</timeInitiated>\n</participant>\n</participants>\n</call>\n",
			escaped(c.id), escaped(c.number), escaped(c.name), c.state, time.Now().Unix())
	}
	return s.String()
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}

func (b *bria) Ready(ctx context.Context) error {
	return b.Until(ctx, func() bool {
		for _, v := range b.knows {
			if v >= 0 {
				return true
			}
		}
		return false
	})
}

func (b *bria) Tell(ctx context.Context, n News) error {
	c := &briaCall{id: n.Call.ID, number: digits(n.Call.Number), name: n.Call.Name, state: "ringing"}
	if n.Call.Number == "" {
		c.number, c.name = "anonymous", "Anonymous"
	}
	switch {
	case n.Do == End:
		c.state = "ended"
	case n.Answered:
		c.state = "connected"
	case n.Call.Direction == "outgoing":
		c.state = "connecting"
	}
	if err := b.change(ctx, func() {
		at := slices.IndexFunc(b.calls, func(o *briaCall) bool { return o.id == c.id })
		if at < 0 {
			b.calls = append(b.calls, c)
		} else {
			b.calls[at] = c
		}
	}); err != nil || n.Do != End {
		return err
	}
	// It stands there as ended for a moment, and then no longer.
	return b.change(ctx, func() {
		b.calls = slices.DeleteFunc(b.calls, func(o *briaCall) bool { return o.id == c.id })
	})
}

// briaChanged says that something has happened to a call. The length is wrong in
// the maker's own examples, and so it is here.
const briaChanged = "POST /statusChange\r\nUser-Agent: Bria 5\r\nContent-Type: application/xml\r\nContent-Length: 62\r\n\r\n" +
	"<?xml version=\"1.0\" encoding=\"utf-8\" ?>\r\n<event type=\"call\"></event>"

// change changes the list, says so, and waits until everybody has asked.
func (b *bria) change(ctx context.Context, f func()) error {
	to, version := mail{}, 0
	b.With(func() {
		f()
		b.version++
		version = b.version
		for c := range b.knows {
			to[c] = [][]byte{[]byte(briaChanged)}
		}
	})
	to.send()
	return b.taken(ctx, func() bool {
		for c := range to {
			if known, there := b.knows[c]; there && known < version {
				return false
			}
		}
		return true
	})
}

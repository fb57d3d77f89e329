package phonetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// Scenario is a call from outside.
type Scenario struct {
	Number string        // the caller's, the user part of the address
	Name   string        // display name, unescaped; may be empty
	Ring   time.Duration // how long it rings
	Answer bool          // answered after Ring; otherwise the caller gives up then
	Reject bool          // refused at the phone after Ring
	Talk   time.Duration // how long they talk if answered
	// Withheld hides the number as telephone networks do: Number and Name then appear only
	// where they must never be read (P-Asserted-Identity).
	Withheld bool
	// From replaces the whole From address, without the
	// tag: `"Name" <tel:+31-6-1234-5678;ext=12>`.
	From string
	// Headers are additional header lines of the INVITE.
	Headers []string
}

// Call places a call and waits until it is over.
func Call(t testing.TB, sipAddr string, s Scenario) {
	t.Helper()
	Place(t, sipAddr, s).Wait()
}

// Running is a call in progress.
type Running struct {
	t     testing.TB
	p     *process
	phone *Baresip // nil for a phone of another package
}

// Place places a call and returns at once. The caller's program ends with the
// test.
func Place(t testing.TB, sipAddr string, s Scenario) *Running {
	t.Helper()
	b, _ := phones.Load(sipAddr)
	phone, ours := b.(*Baresip)
	if !ours && (s.Answer || s.Reject) {
		t.Fatal("only a phone of this package can answer or refuse")
	}
	var rings func() bool
	if s.Answer || s.Reject {
		rings = phone.process.says("Incoming call from")
	}
	r := s.call(t, sipAddr, "101")
	r.phone = phone
	if rings != nil {
		r.press(s, rings)
	}
	return r
}

// call runs the caller: to is host:port of the phone, user whom it calls there, by the program
// that runs it, if any. sipp finds a SIP port itself; for audio and video it uses the given
// port and the next but one, and exits silently if they are taken.
func (s Scenario) call(t testing.TB, to, user string, by ...string) *Running {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "call.xml")
	must.Do(t, os.WriteFile(file, []byte(s.xml()), 0o600))
	limit := s.Ring + s.Talk + startTime
	args := append(by, "sipp", to, "-sf", file, "-i", "127.0.0.1", "-ci", "127.0.0.1", "-m", "1",
		"-timeout", fmt.Sprintf("%ds", int(limit.Seconds())+1), "-timeout_error", "-nostdin", "-s", user,
		"-trace_err", "-error_file", filepath.Join(dir, "errors.log"), "-mp", fmt.Sprint(freePort(t, 3)))
	p := must.Get(run(dir, nil, args[0], args[1:]...))(t)
	t.Cleanup(p.kill)
	return &Running{t: t, p: p}
}

// press answers or refuses the call at the phone, as in
// the scenario, once it has rung long enough.
func (r *Running) press(s Scenario, rings func() bool) {
	pressed := make(chan struct{})
	go func() {
		defer close(pressed)
		if r.p.until(rings) != nil {
			return
		}
		select {
		case <-time.After(s.Ring):
		case <-r.p.done:
			return
		}
		if s.Answer {
			r.phone.Accept(r.t)
		} else {
			r.phone.Hangup(r.t)
		}
	}()
	r.t.Cleanup(func() {
		r.p.kill()
		<-pressed
	})
}

// Wait waits until the call is over. It fails the test
// if the call did not go as in the scenario.
func (r *Running) Wait() {
	r.t.Helper()
	<-r.p.done
	if r.p.err != nil {
		log := ""
		if b, err := os.ReadFile(filepath.Join(r.p.cmd.Dir, "errors.log")); err == nil {
			log = string(b)
		}
		said := ""
		if r.phone != nil {
			said = r.phone.process.out.String()
		}
		r.t.Errorf("sipp: %v\n%s\n%s", r.p.err, log, said)
	}
}

func (s Scenario) from() string {
	switch {
	case s.From != "":
		return s.From
	case s.Withheld:
		return `"Anonymous" <sip:anonymous@anonymous.invalid>`
	}
	uri := "<sip:" + s.Number + "@[local_ip]:[local_port]>"
	if s.Name == "" {
		return uri
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s.Name) + `" ` + uri
}

// xml returns the scenario in sipp's format. Requests that end an unanswered call must
// repeat the INVITE's Via.
func (s Scenario) xml() string {
	headers := s.Headers
	if s.Withheld {
		headers = append([]string{"Privacy: id", "P-Asserted-Identity: <sip:" + s.Number + "@127.0.0.1>"}, headers...)
	}
	more := ""
	for _, h := range headers {
		more += "\n" + h
	}
	const phone = "sip:[service]@[remote_ip]:[remote_port]"
	msg := func(method, uri, via, to, extra, body string) string {
		return fmt.Sprintf(`<send%s><![CDATA[

%s %s SIP/2.0
%s
From: %s;tag=[pid]T[call_number]
To: <sip:[service]@[remote_ip]:[remote_port]>%s
Call-ID: [call_id]
CSeq: %s
Contact: <sip:caller@[local_ip]:[local_port]>
Max-Forwards: 70%s
Content-Length: [len]
%s
]]></send>
`, map[bool]string{true: ` retrans="500"`}[method == "INVITE" || method == "BYE"], method, uri, via, s.from(), to,
			map[string]string{"INVITE": "1 INVITE", "CANCEL": "1 CANCEL", "ACK": "1 ACK", "BYE": "2 BYE"}[method], extra, body)
	}
	const newVia = "Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]"
	const sdp = `
v=0
o=caller 1 1 IN IP[local_ip_type] [local_ip]
s=-
c=IN IP[media_ip_type] [media_ip]
t=0 0
m=audio [media_port] RTP/AVP 0
a=rtpmap:0 PCMU/8000`
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<scenario name=\"call\">\n")
	b.WriteString(msg("INVITE", phone, newVia, "", more+"\nContent-Type: application/sdp", sdp))
	b.WriteString("<recv response=\"100\" optional=\"true\"></recv>\n<recv response=\"180\"></recv>\n")
	switch {
	case s.Answer:
		b.WriteString("<recv response=\"200\" rrs=\"true\"></recv>\n")
		const route = "\n[routes]" // through the exchange, if there is one
		b.WriteString(msg("ACK", "[next_url]", newVia, "[peer_tag_param]", route, ""))
		fmt.Fprintf(&b, "<pause milliseconds=\"%d\"/>\n", s.Talk.Milliseconds())
		b.WriteString(msg("BYE", "[next_url]", newVia, "[peer_tag_param]", route, ""))
		b.WriteString("<recv response=\"200\"></recv>\n")
	case s.Reject:
		b.WriteString("<recv response=\"486\"></recv>\n")
		b.WriteString(msg("ACK", phone, "[last_Via:]", "[peer_tag_param]", "", ""))
	default:
		fmt.Fprintf(&b, "<pause milliseconds=\"%d\"/>\n", s.Ring.Milliseconds())
		b.WriteString(msg("CANCEL", phone, "[last_Via:]", "", "", ""))
		b.WriteString("<recv response=\"200\" optional=\"true\"></recv>\n<recv response=\"487\"></recv>\n") // in either order
		b.WriteString(msg("ACK", phone, "[last_Via:]", "[peer_tag_param]", "", ""))
	}
	b.WriteString("</scenario>\n")
	return b.String()
}

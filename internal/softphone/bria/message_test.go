package bria

import (
	"context"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/logtest"
)

// As in the reference, byte for byte.
const (
	recordedEvent  = "POST /statusChange\r\nUser-Agent: Bria 5\r\nContent-Type: application/xml\r\nContent-Length: 67\r\n\r\n<?xml version=\"1.0\" encoding=\"utf-8\" ?>\r\n<event type=\"call\"></event>"
	recordedAnswer = "HTTP/1.1 200 OK\r\nTransaction-ID: 1\r\nContent-Type: application/xml\r\nContent-Length: 345\r\n\r\n<?xml version=\"1.0\" encoding=\"utf-8\" ?>\n<status type=\"call\">\n<call>\n<id>ea6c7664001343688013e3680013e368</id>\n<holdStatus>offHold</holdStatus>\n<participants>\n<participant>\n<number>+31612345678</number>\n<displayName>J. de Vries</displayName>\n<state>ringing</state>\n<timeInitiated>0</timeInitiated>\n</participant>\n</participants>\n</call>\n</status>"
)

func TestRecorded(t *testing.T) {
	if m, ok := parseMessage([]byte(recordedEvent)); !ok || m.answer || m.event != "call" {
		t.Errorf("%+v", m)
	}
	m, ok := parseMessage([]byte(recordedAnswer))
	if !ok || !m.answer || m.status != 200 || m.id != "1" {
		t.Errorf("%+v", m)
	}
	calls, ok := readCalls(m.body)
	want := []briaCall{{"ea6c7664001343688013e3680013e368", []party{{"+31612345678", "J. de Vries", "ringing"}}}}
	if !ok || !reflect.DeepEqual(calls, want) {
		t.Errorf("%+v", calls)
	}
}

func TestRead(t *testing.T) {
	for text, want := range map[string]message{
		"POST/statusChange\n\n<event type='call'/>":                                        {event: "call", body: "<event type='call'/>"},
		"\ufeff\r\n post /StatusChange HTTP/1.1\r\n<event\r\n a = \"b\" Type = \"call\" >": {event: "call", body: "<event\r\n a = \"b\" Type = \"call\" >"},
		"POST /statusChange\r\nContent-Length: 9999999999":                                 {},
		"POST /statusChange\r\n\r\n<x:event subtype=\"a\" type=\" call \"></x:event>":      {event: "call", body: "<x:event subtype=\"a\" type=\" call \"></x:event>"},
		"POST /statusChange\r\n\r\n<!-- <event type=\"call\"> --><event type=\"phone\"/>":  {event: "phone", body: "<!-- <event type=\"call\"> --><event type=\"phone\"/>"},
		"HTTP/1.1 200 OK\nTRANSACTION-ID :  12 \n\n":                                       {answer: true, status: 200, id: "12"},
		"HTTP/1.1  503": {answer: true, status: 503},
		"HTTP/1.1 400 not understood\r\n\r\n<status type=\"call\"></status>": {answer: true, status: 400, body: "<status type=\"call\"></status>"},
		"GET /somethingNew\r\n\r\n": {},
	} {
		if m, ok := parseMessage([]byte(text)); !ok || m != want {
			t.Errorf("%q: %+v %v", text, m, ok)
		}
	}
	for _, text := range []string{"", "hello", "HTTP/1.1", "HTTP/1.1 OK", "HTTP/1.1 20", "HTTP/1.1 -20 x", "\x00\x01", "<event type=\"call\"/>"} {
		if m, ok := parseMessage([]byte(text)); ok {
			t.Errorf("%q: %+v", text, m)
		}
	}
}

func TestReadCalls(t *testing.T) {
	one := func(number, name, state string) []briaCall { return []briaCall{{"a", []party{{number, name, state}}}} }
	for text, want := range map[string][]briaCall{
		`<status type="call"></status>`: nil,
		`<status type="call"/>`:         nil,
		"<?xml version='1.0'?><!DOCTYPE x>\r\n<status type='call' >\r\n</status>":                                                      nil,
		`<status type="call"><call></call></status>`:                                                                                   {{}},
		`<status type="call"><call/></status>`:                                                                                         {{}},
		`<status type="call">` + oneCall("a", "1440@host", "", "connected") + `</status>`:                                              one("1440@host", "", "connected"),
		`<status type="call">` + strings.ReplaceAll(oneCall(" a ", " 1440 ", " J.  de Vries", " ringing"), "\n", "\r\n") + `</status>`: one("1440", "J.  de Vries", "ringing"),
		`<status type="call">` + oneCall("a", "&lt;1&gt;", "Caf&#233; &quot;A &amp; B&quot; &apos;t &#x5a;", "ringing") + `</status>`:  one("<1>", `Café "A & B" 't Z`, "ringing"),
		`<status type="call">` + oneCall("a", "1", "<![CDATA[A & B <b> &amp;]]>", "ringing") + `</status>`:                             one("1", "A & B <b> &amp;", "ringing"),
		`<status type="call">` + oneCall("a", "1", "A & B < C", "ringing") + `</status>`:                                               one("1", "A & B < C", "ringing"),
		`<status type="call">` + strings.ReplaceAll(oneCall("a", "1", "x", "ringing"), "offHold", "onHold") + `</status>`:              one("1", "x", "ringing"),
		// Not closed, in the wrong order, unknown.
		`<status type="call"><accountStatus>connected<accountStatus><call><id>a<participants><participant><number>1<displayName>x<state>ringing</status>`:                                                               one("1", "x", "ringing"),
		`<status type="call"><call><participants><participant><state>ringing</state><id>b</id><number>1</number></participant></participants><id>a</id></call></status>`:                                                one("1", "", "ringing"),
		`<status type="call"><call><id>a</id><recordingStatus>notRecording</recordingStatus><participants><participant><number/><new><x>1</x></new><state>ringing</state></participant></participants></call></status>`: one("", "", "ringing"),
		`<s:status type="call"><s:call><s:id>a</s:id><s:participant><s:number>1</s:number><s:state>ringing</s:state></s:participant></s:call></s:status>`:                                                               one("1", "", "ringing"),
	} {
		calls, ok := readCalls(text)
		if !ok || !reflect.DeepEqual(calls, want) {
			t.Errorf("%q\n%+v %v", text, calls, ok)
		}
	}
	for _, text := range []string{
		"", "hello", "<status>", `<status type="call">`, `<status type="call">` + oneCall("a", "1", "", "ringing"), "<call><id>a</id></call>", `</status>`,
		`<status type="phone"><state>ready</state><call>allow</call><accountStatus>connected<accountStatus></status>`, `<status></status>`, `<status type="call`, `<!-- <status type="call"></status>`,
	} {
		if calls, ok := readCalls(text); ok {
			t.Errorf("%q: %+v", text, calls)
		}
	}
	long := "<status type=\"call\">" + strings.Repeat(oneCall("a", "1", "", "ringing"), 3*maxCalls) + "</status>"
	if calls, ok := readCalls(long); !ok || len(calls) != maxCalls {
		t.Errorf("%d calls, %v", len(calls), ok)
	}
	long = "<status type=\"call\"><call><id>a</id>" + strings.Repeat(oneParty("1", "", "ringing"), 3*maxParties) + "</call></status>"
	if calls, ok := readCalls(long); !ok || len(calls[0].parties) != maxParties {
		t.Errorf("%+v, %v", calls, ok)
	}
}

func scripted(t testing.TB, do func(r *link.Reporter)) []call.Event {
	t.Helper()
	got, _ := linktest.Once(t, linktest.Scripted{Phone: newPhone(t, "", times{}), Do: func(_ context.Context, r *link.Reporter) error {
		do(r)
		return nil
	}})
	return got
}

// lists returns the events for lists of calls, one after another.
func lists(t testing.TB, all ...string) []call.Event {
	t.Helper()
	return scripted(t, func(r *link.Reporter) {
		for _, text := range all {
			calls, ok := readCalls("<status type=\"call\">" + text + "</status>")
			if !ok {
				t.Fatalf("%q is no list", text)
			}
			reportChanges(r, calls)
		}
	})
}

func TestCompare(t *testing.T) {
	a := func(state string) string { return oneCall("a", "0612345678", "Zoë", state) }
	conference := func(parties ...string) string { return "<call><id>a</id>" + strings.Join(parties, "") + "</call>" }
	for _, tt := range []struct {
		name  string
		lists []string
		want  string
	}{
		{"incoming, answered", []string{a("ringing"), a("ringing"), a("connected"), a("connected"), a("ended"), a("ended"), ""}, "ringing incoming #a 0612345678 (Zoë); answered incoming #a 0612345678 (Zoë); ended completed incoming #a 0612345678 (Zoë)"},
		{"it does not ring again", []string{a("ringing"), a("connected"), a("ringing"), ""}, "ringing incoming #a 0612345678 (Zoë); answered incoming #a 0612345678 (Zoë); ended completed incoming #a 0612345678 (Zoë)"},
		{"incoming, vanished", []string{a("ringing"), ""}, "ringing incoming #a 0612345678 (Zoë); ended incoming #a 0612345678 (Zoë)"},
		{"an empty call is none", []string{a("ringing"), oneCall("", "1", "", "ringing")}, "ringing incoming #a 0612345678 (Zoë); ended incoming #a 0612345678 (Zoë)"},
		{"outgoing", []string{a("connecting"), a("connected"), ""}, "ringing outgoing #a 0612345678 (Zoë); answered outgoing #a 0612345678 (Zoë); ended completed outgoing #a 0612345678 (Zoë)"},
		{"outgoing, failed", []string{a("connecting"), a("failed")}, "ringing outgoing #a 0612345678 (Zoë); ended outgoing #a 0612345678 (Zoë)"},
		{"outgoing stays so while it rings there", []string{a("connecting"), a("ringing"), a("connected")}, "ringing outgoing #a 0612345678 (Zoë); answered outgoing #a 0612345678 (Zoë)"},
		{"first seen when they talk", []string{a("connected"), a("connected"), ""}, "answered unknown #a 0612345678 (Zoë); ended completed unknown #a 0612345678 (Zoë)"},
		{"first seen when it is over", []string{a("ended"), a("failed"), ""}, ""},
		{"a state never heard of", []string{a("teleported"), a("ringing"), a("teleported"), a(""), a("connected")}, "ringing incoming #a 0612345678 (Zoë); answered incoming #a 0612345678 (Zoë)"},
		{"one of whom that is heard, beside one who has gone", []string{a("ringing"), conference(oneParty("0612345678", "Zoë", "ended"), oneParty("2", "", "teleported")), a("connected")}, "ringing incoming #a 0612345678 (Zoë); answered incoming #a 0612345678 (Zoë)"},
		{"no participant", []string{a("ringing"), "<call><id>a</id></call>", a("connected")}, "ringing incoming #a 0612345678 (Zoë); answered incoming #a 0612345678 (Zoë)"},
		{"passed on while it rings", []string{a("ringing"), oneCall("a", "0201234567", "", "ringing")}, "ringing incoming #a 0612345678 (Zoë); ringing incoming #a 0201234567"},
		{"passed on while they talk", []string{a("ringing"), a("connected"), oneCall("a", "0201234567", "Bram", "connected")}, "ringing incoming #a 0612345678 (Zoë); answered incoming #a 0612345678 (Zoë); answered incoming #a 0201234567 (Bram)"},
		{"the name comes later", []string{oneCall("a", "1", "", "ringing"), oneCall("a", "1", "Bram", "ringing"), oneCall("a", "1", "", "ringing"), oneCall("a", "", "", "ringing")}, "ringing incoming #a 1; ringing incoming #a 1 (Bram)"},
		{"withheld", []string{oneCall("a", "anonymous", "Anonymous", "ringing"), oneCall("b", "", "", "ringing")}, "ringing incoming #a anonymous (Anonymous); ended incoming #a anonymous (Anonymous); ringing incoming #b"},
		{"two calls, one ends as another begins", []string{a("ringing"), oneCall("b", "2", "", "ringing")}, "ringing incoming #a 0612345678 (Zoë); ended incoming #a 0612345678 (Zoë); ringing incoming #b 2"},
		{"one id twice", []string{a("ringing") + a("ringing"), a("connected") + a("ended"), ""}, "ringing incoming #a 0612345678 (Zoë); answered incoming #a 0612345678 (Zoë); ended completed incoming #a 0612345678 (Zoë)"},
		{"conference", []string{
			conference(oneParty("1", "", "ringing")), conference(oneParty("1", "", "connected")),
			conference(oneParty("2", "", "connected"), oneParty("1", "", "connected")), conference(oneParty("3", "", "ringing"), oneParty("1", "", "connected"), oneParty("2", "", "connected")),
			conference(oneParty("1", "", "ended"), oneParty("2", "", "connected")), conference(oneParty("1", "", "ended"), oneParty("2", "", "failed")),
		}, "ringing incoming #a 1; answered incoming #a 1; answered incoming #a 2; ended completed incoming #a 2"},
		{"numbers that need cleaning", []string{oneCall("a", "06\u202e12\u0007", "x", "ringing"), oneCall("a", "06\u202e12\u0007", "x", "ringing")}, "ringing incoming #a 0612 (x)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if have := linktest.SayAll(lists(t, tt.lists...)...); have != tt.want {
				t.Errorf("got  %s\nwant %s", have, tt.want)
			}
		})
	}
	long := strings.Repeat("a", 200)
	if got := lists(t, oneCall(long+"1", "1", "", "ringing")+oneCall(long+"2", "2", "", "ringing")); len(got) != 2 || got[0].ID == got[1].ID {
		t.Errorf("%+v", got)
	}
}

// hostile returns messages that no Bria sends: a table, and mutations of real
// ones with a fixed seed.
func hostile() []string {
	all := []string{
		"", "\n", "\r\n\r\n", " ", "\x00", "\xff\xfe\xfd", "<", "<<<<", ">", "</", "</>", "<>", "<!--", "<![CDATA[", "<![CDATA[]]>", "<?", "<!", "&", "&#", "&#x;", "HTTP/", "HTTP/1.1 ", "HTTP/1.1 999999999999 x", "HTTP/1.1 200", "HTTP/9 200 OK\n\n", "POST", "POST /", "POST /statusChange", "GET /status\r\n\r\n", "PUT /statusChange\r\n\r\n<event type=\"call\"/>",
		strings.Repeat("<", 60000), strings.Repeat("<a", 30000), strings.Repeat("<a>", 20000), strings.Repeat("</a>", 15000), strings.Repeat("<!---->", 9000), strings.Repeat("&amp;", 12000), strings.Repeat("&", 60000), strings.Repeat("\n", 60000), strings.Repeat("a:", 30000), strings.Repeat("=", 60000), "POST /statusChange\r\n" + strings.Repeat("Transaction-ID: 1\r\n", 3000), "HTTP/1.1 200 OK\r\n" + strings.Repeat("Transaction-ID: 1\r\n", 3000),
		"POST /statusChange\n\n<event " + strings.Repeat("a=\"b\" ", 9000) + "type=\"call\"/>", "POST /statusChange\n\n<event type=\"" + strings.Repeat("call", 15000), "POST /statusChange\n\n<event type=call/>", "POST /statusChange\n\n<event type=\"call\" type=\"phone\"/>",
		strings.Repeat("a", maxMessage), strings.Repeat("a", maxMessage+1), strings.Repeat("a", 1<<20),
	}
	for _, id := range []string{"", " ", "\x00", "\u202e", "&#0;", "&#xD800;", "&#9999999999;", strings.Repeat("a", 60000), strings.Repeat("é", 9000), "<id>", "a</id><id>b", "]]>", "../../x", "%s%n"} {
		for _, state := range []string{"ringing", "connected", "RINGING", "ringing\x00", ""} {
			all = append(all, answered(0, oneCall(id, "1", "x", state)))
		}
	}
	for _, text := range []string{"\u202egnol\u2066", "\xff\xfe", strings.Repeat("6", 50000), strings.Repeat("ë", 20000), "&lt;script&gt;", "<script>", "&#10;&#13;", "\x1b[31m", "&#x202e;", "<![CDATA[<", "\"", "&", "&unknown;", "\u0000"} {
		all = append(all, answered(0, oneCall("h", text, text, "ringing")), answered(0, oneCall("h", "1", text, text)))
	}
	for _, about := range []string{"phone", "", "Call", "call ", "missedCall", "callHistory"} {
		all = append(all, strings.Replace(answered(0, oneCall("h", "1", "", "ringing")), `type="call"`, `type="`+about+`"`, 1))
	}
	return linktest.Mutate(all, 320, recordedEvent, recordedAnswer, answered(0, oneCall("h", "1", "x", "ringing")+oneCall("i", "2", "y", "connected")))
}

// TestHostile: whatever arrives, as an answer or unrequested,
// the next call is reported, on the same connection or the next.
func TestHostile(t *testing.T) {
	linktest.Hostile(t, hostile(), func(i int, message string, log *logtest.Buffer) bool {
		return survives(t, message, i%2 == 0, []int{websocket.TextMessage, websocket.BinaryMessage}[i/2%2], log)
	})
}

// survives sends a message, unasked or as the second answer, and then a call, which must be
// reported. It reports whether the call arrived on the same connection.
func survives(t *testing.T, message string, unasked bool, kind int, log *logtest.Buffer) (same bool) {
	f := newFake(t)
	sent := make(chan struct{})
	f.answer = func(id int, calls string) string {
		select {
		case <-sent:
		default:
			if id == 2 && !unasked {
				close(sent)
				return strings.ReplaceAll(message, "Transaction-ID: 0", "Transaction-ID: 2")
			}
		}
		return answered(id, calls)
	}
	f.start()
	defer f.Close()
	quick := defaultTimes
	quick.answer = time.Second
	w := run(t, f.listen, quick)
	w.Until(link.Connected)
	if unasked {
		f.EachSocket(func(c *websocket.Conn) { c.WriteMessage(kind, []byte(message)) })
	} else {
		f.Change("<harmless/>")
	}
	f.Change(oneCall("good", "0201234567", "Zoë", "ringing"))
	for e := w.Next(); ; e = w.Next() {
		if e != e.Clean() || e.Source.Kind != registry.Bria || e.ID == "" {
			t.Errorf("%.200q: %+v", message, e)
		}
		if e.ID == "good" {
			if linktest.Say(e) != "ringing incoming #good 0201234567 (Zoë)" {
				t.Errorf("%.200q: %+v", message, e)
			}
			break
		}
	}
	w.Stop()
	f.Close()
	connections := 0
	for range len(f.questions) {
		if <-f.questions == 1 {
			connections++
		}
	}
	_, _ = io.WriteString(log, w.Log.String())
	return connections == 1
}

func FuzzMessage(f *testing.F) {
	for _, s := range append(hostile()[:40], recordedEvent, recordedAnswer, changed, answered(1, oneCall("a", "1", "x", "ringing")+oneCall("b", "2", "y", "connected"))) {
		if len(s) < 4000 {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, ok := parseMessage([]byte(text))
		if !ok {
			return
		}
		calls, ok := readCalls(m.body)
		if !ok {
			return
		}
		scripted(t, func(r *link.Reporter) {
			reportChanges(r, calls)
			before := len(r.Calls())
			if before > maxCalls {
				t.Fatalf("%d calls", before)
			}
			reportChanges(r, calls) // nothing new
			if len(r.Calls()) != before {
				t.Fatal("the same list twice changed something")
			}
			reportChanges(r, nil)
			if len(r.Calls()) != 0 {
				t.Fatal("calls are left")
			}
		})
	})
}

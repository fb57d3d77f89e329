package baresip

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
)

func TestMain(m *testing.M) { linktest.Main(m) }

// Recorded from baresip 1.0.0, byte for byte.
const (
	frIncoming    = `251:{"event":true,"type":"CALL_INCOMING","class":"call","accountaor":"sip:101@127.0.0.1","direction":"incoming","peeruri":"sip:+31612345678@127.0.0.1:5070","peerdisplayname":"J. de Vries","id":"1-13735@127.0.0.1","param":"sip:+31612345678@127.0.0.1:5070"},`
	frClosed      = `242:{"event":true,"type":"CALL_CLOSED","class":"call","accountaor":"sip:101@127.0.0.1","direction":"incoming","peeruri":"sip:+31612345678@127.0.0.1:5070","peerdisplayname":"J. de Vries","id":"1-13735@127.0.0.1","param":"Connection reset by peer"},`
	frWithheld    = `249:{"event":true,"type":"CALL_INCOMING","class":"call","accountaor":"sip:101@127.0.0.1","direction":"incoming","peeruri":"sip:anonymous@anonymous.invalid","peerdisplayname":"Anonymous","id":"1-13736@127.0.0.1","param":"sip:anonymous@anonymous.invalid"},`
	frNoName      = `237:{"event":true,"type":"CALL_INCOMING","class":"call","accountaor":"sip:101@127.0.0.1","direction":"incoming","peeruri":"sip:0612345678@127.0.0.1:5070;user=phone","id":"1-13737@127.0.0.1","param":"sip:0612345678@127.0.0.1:5070;user=phone"},`
	frQuoted      = `252:{"event":true,"type":"CALL_INCOMING","class":"call","accountaor":"sip:101@127.0.0.1","direction":"incoming","peeruri":"sip:0201234567@127.0.0.1","peerdisplayname":"Café \\\"De Hoek\\\" Zoë","id":"1-13829@127.0.0.1","param":"sip:0201234567@127.0.0.1"},`
	frTel         = `209:{"event":true,"type":"CALL_INCOMING","class":"call","accountaor":"sip:101@127.0.0.1","direction":"incoming","peeruri":"tel:+31-6-1234-5678;ext=12","id":"1-13831@127.0.0.1","param":"tel:+31-6-1234-5678;ext=12"},`
	frUnavailable = `252:{"event":true,"type":"CALL_INCOMING","class":"call","accountaor":"sip:101@127.0.0.1","direction":"incoming","peeruri":"sip:unavailable@unknown.invalid","peerdisplayname":"+31612345678","id":"1-13832@127.0.0.1","param":"sip:unavailable@unknown.invalid"},`
)

var recorded = []string{frIncoming, frClosed, frWithheld, frNoName, frQuoted, frTel, frUnavailable}

var frameOf = simulate.Netstring

func newFake(t testing.TB) *simulate.Baresip {
	t.Helper()
	d := must.Get(simulate.StartBaresip(context.Background(), ""))(t)
	t.Cleanup(func() { d.Close() })
	return d
}

func newPhone(t testing.TB, address string) link.Phone {
	t.Helper()
	return must.Get(New(address))(t)
}

// feed returns the events that a link makes of these bytes on one connection.
func feed(t testing.TB, raw string) ([]call.Event, error) {
	t.Helper()
	d := newFake(t)
	ended := make(chan struct{})
	defer func() { <-ended }()
	go func() {
		defer close(ended)
		if err := d.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		d.Send(raw)
		d.Close()
	}()
	return linktest.Once(t, newPhone(t, d.Address().Address))
}

func TestRecordedFrames(t *testing.T) {
	got, err := feed(t, strings.Join(recorded, ""))
	if !errors.Is(err, link.ErrClosed) {
		t.Fatalf("connection ended with %v", err)
	}
	want := []string{
		"ringing incoming #1-13735@127.0.0.1 sip:+31612345678@127.0.0.1:5070 (J. de Vries)",
		"ended incoming #1-13735@127.0.0.1 sip:+31612345678@127.0.0.1:5070 (J. de Vries)",
		"ringing incoming #1-13736@127.0.0.1 sip:anonymous@anonymous.invalid (Anonymous)",
		"ringing incoming #1-13737@127.0.0.1 sip:0612345678@127.0.0.1:5070;user=phone",
		`ringing incoming #1-13829@127.0.0.1 sip:0201234567@127.0.0.1 (Café "De Hoek" Zoë)`,
		"ringing incoming #1-13831@127.0.0.1 tel:+31-6-1234-5678;ext=12",
		"ringing incoming #1-13832@127.0.0.1 sip:unavailable@unknown.invalid (+31612345678)",
	}
	on := " on sip:101@127.0.0.1"
	if have := linktest.SayAll(got...); have != strings.Join(want, on+"; ")+on {
		t.Errorf("got  %s\nwant %s", have, want)
	}
}

func TestEvents(t *testing.T) {
	const (
		in  = `{"event":true,"class":"call","type":"CALL_INCOMING","accountaor":"sip:101@pbx","direction":"incoming","peeruri":"sip:0612345678@pbx","diverteruri":"sip:0201234567@pbx","cuser":"x","remoteaudiodir":"sendrecv","id":"a"}`
		est = `{"event":true,"class":"call","type":"CALL_ESTABLISHED","id":"a"}`
		end = `{"event":true,"class":"call","type":"CALL_CLOSED","id":"a","param":"Connection reset by user"}`
		out = `{"event":true,"class":"call","type":"CALL_OUTGOING","direction":"outgoing","peeruri":"sip:0612345678@pbx","id":"b"}`
		who = " sip:0612345678@pbx via 0201234567 on sip:101@pbx"
		old = `{"event":true,"type":"CALL_RINGING","class":"call","direction":"outgoing","peeruri":"sip:0612345678@pbx","id":"b"}`
	)
	ended := func(id, param string) string {
		return fmt.Sprintf(`{"event":true,"class":"call","type":"CALL_CLOSED","id":%q,"param":%q}`, id, param)
	}
	for _, tt := range []struct {
		name   string
		frames []string
		want   string
	}{
		{"4.9, answered", []string{in, est, end}, "ringing incoming #a" + who + "; answered incoming #a" + who + "; ended completed incoming #a" + who},
		{"refused, before 4.0", []string{in, end}, "ringing incoming #a" + who + "; ended rejected incoming #a" + who},
		{"refused", []string{in, ended("a", "Rejected by user")}, "ringing incoming #a" + who + "; ended rejected incoming #a" + who},
		{"given up by the caller", []string{in, ended("a", "Connection reset by peer")}, "ringing incoming #a" + who + "; ended incoming #a" + who},
		{"answered elsewhere", []string{in, ended("a", `Connection reset by peer,SIP;cause=200;text="Call completed elsewhere"`)}, "ringing incoming #a" + who + "; ended elsewhere incoming #a" + who},
		{"answered elsewhere, other forms", []string{in, ended("a", `Connection reset by peer,Q.850;cause=26, SIP ;cause=200`)}, "ringing incoming #a" + who + "; ended elsewhere incoming #a" + who},
		{"another reason", []string{in, ended("a", `Connection reset by peer,SIP;cause=2000;text="x"`)}, "ringing incoming #a" + who + "; ended incoming #a" + who},
		{"refused there", []string{out, ended("b", "603 Decline")}, "ringing outgoing #b sip:0612345678@pbx; ended rejected outgoing #b sip:0612345678@pbx"},
		{"given up here", []string{out, ended("b", "Rejected by user")}, "ringing outgoing #b sip:0612345678@pbx; ended outgoing #b sip:0612345678@pbx"},
		{"outgoing, 4.9 and 1.0.0 words together", []string{out, old}, "ringing outgoing #b sip:0612345678@pbx"},
		{"outgoing, 1.0.0", []string{old, old}, "ringing outgoing #b sip:0612345678@pbx"},
		{"outgoing, without a direction", []string{`{"event":true,"type":"CALL_OUTGOING","peeruri":"sip:1@x","id":"b"}`}, "ringing outgoing #b sip:1@x"},
		{"peeruri missing", []string{`{"event":true,"type":"CALL_INCOMING","id":"a","param":"sip:1@x"}`, `{"event":true,"type":"CALL_INCOMING","id":"b","param":"sips:2@x"}`, `{"event":true,"type":"CALL_INCOMING","id":"c","param":"tel:3"}`},
			"ringing incoming #a sip:1@x; ringing incoming #b sips:2@x; ringing incoming #c tel:3"},
		{"nothing of the caller at all", []string{`{"event":true,"type":"CALL_INCOMING","id":"a","param":"Busy"}`}, "ringing incoming #a"},
		{"ends of calls that began before us", []string{`{"event":true,"type":"CALL_CLOSED","direction":"incoming","peeruri":"sip:1@x","id":"z"}`, `{"event":true,"type":"CALL_CLOSED","direction":"outgoing","peeruri":"sip:2@x","id":"y"}`},
			"ended incoming #z sip:1@x; ended outgoing #y sip:2@x"},
		{"answered, direction unknown", []string{`{"event":true,"type":"CALL_ESTABLISHED","id":"z"}`}, "answered unknown #z"},
		{"not calls", []string{`{"event":true,"type":"CALL_PROGRESS","direction":"incoming","peeruri":"sip:1@x","id":"a"}`, `{"event":true,"type":"REGISTER_OK","class":"ua"}`, `{"event":true,"type":"SIPSESS_CONN","class":"sip","from":"sip:1@x"}`, `{"event":true,"type":"CALL_REMOTE_SDP","id":"a"}`, `{"response":true,"ok":true,"data":"CALL_INCOMING","type":"CALL_INCOMING"}`, `{"event":true,"type":"NEVER_HEARD_OF"}`, `{}`, ``}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw := ""
			for _, f := range tt.frames {
				raw += frameOf(f)
			}
			got, _ := feed(t, raw)
			if have := linktest.SayAll(got...); have != tt.want {
				t.Errorf("got  %s\nwant %s", have, tt.want)
			}
		})
	}
}

func TestHostileFrames(t *testing.T) {
	incoming := func(id, uri, name string) string {
		return frameOf(fmt.Sprintf(`{"event":true,"type":"CALL_INCOMING","direction":"incoming","peeruri":%q,"peerdisplayname":%q,"id":%q}`, uri, name, id))
	}
	good := frIncoming
	for _, tt := range []struct {
		name, raw string
		events    int // that are still reported
		broken    bool
	}{
		{"bad frame in between", good + frameOf(`{"event":true,"type":`) + good, 2, false},
		{"wrong types", good + frameOf(`{"event":"yes","type":3,"id":{}}`) + good, 2, false},
		{"not an object", frameOf(`[[[[]]]]`) + frameOf(`null`) + frameOf(`"x"`) + good, 1, false},
		{"very deep", frameOf(strings.Repeat(`[`, 60000)) + good, 1, false},
		{"empty frame", "0:," + good, 1, false},
		{"control characters", frameOf("{\"event\":true,\x00}") + good, 1, false},
		{"not UTF-8", frameOf("{\"event\":true,\"type\":\"CALL_INCOMING\",\"id\":\"a\",\"peerdisplayname\":\"\xff\xfe\"}"), 1, false},
		{"longest frame", frameOf(`{"x":"`+strings.Repeat("a", maxFrame-8)+`"}`) + good, 1, false},
		{"too long", frameOf(strings.Repeat("a", maxFrame+1)) + good, 0, true},
		{"no comma", "5:hello;" + good, 0, true},
		{"characters, not bytes", "4:Zoë…," + good, 0, true},
		{"ends within a length", good + "25", 1, true},
		{"ends within a frame", good + "251:{", 1, true},
		{"huge name and number", incoming("a", "sip:"+strings.Repeat("6", 20000)+"@x", strings.Repeat("ë", 10000)), 1, false},
		{"right to left", incoming("a", "sip:1@x", "\u202egnol\u2066"), 1, false},
		{"lone surrogate", frameOf(`{"event":true,"type":"CALL_INCOMING","id":"a","peerdisplayname":"\ud800"}`), 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := feed(t, tt.raw)
			if len(got) != tt.events {
				t.Errorf("%d events, want %d", len(got), tt.events)
			}
			if broken := !errors.Is(err, link.ErrClosed); broken != tt.broken {
				t.Errorf("ended with %v, broken should be %v", err, tt.broken)
			}
		})
	}
	for _, raw := range []string{
		"99999999999999999999999999:x,", "-5:hello,", "+5:hello,", "05:hello,", "00:,", "0x5:hello,", " 5:hello,", ":hello,", "5hello,",
		"5:hello", "HTTP/1.1 400 Bad Request\r\n\r\n", "220 mail.example ESMTP\r\n", strings.Repeat("1", 1<<20),
	} {
		if got, err := feed(t, raw); len(got) != 0 || errors.Is(err, link.ErrClosed) {
			t.Errorf("%.40q: %d events, ended with %v", raw, len(got), err)
		}
	}
}

func TestAddress(t *testing.T) {
	const usual = "127.0.0.1:4444"
	if got := newPhone(t, usual).Traits().Source; got != (call.Source{Kind: "baresip", Conn: usual, ReportLevel: call.AllStates}) {
		t.Errorf("%+v", got)
	}
	for _, address := range []string{"", "127.0.0.1", "127.0.0.1:"} {
		if _, err := New(address); err == nil {
			t.Errorf("%q accepted", address)
		}
	}
}

func TestNobodyThere(t *testing.T) {
	if _, err := linktest.Once(t, newPhone(t, nettest.Nobody(t))); !errors.Is(err, link.ErrNotRunning) {
		t.Error(err)
	}
}

func FuzzNetstring(f *testing.F) {
	for _, s := range recorded {
		f.Add([]byte(s))
	}
	f.Add([]byte("0:,5:hello,05:hello,"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := frameReader{r: bufio.NewReader(bytes.NewReader(raw)), setDeadline: func(time.Time) error { return nil }}
		used := 0
		for {
			b, err := r.next()
			if err != nil {
				return
			}
			if len(b) > maxFrame {
				t.Fatalf("frame of %d bytes", len(b))
			}
			// The bytes consumed are exactly the netstring of the result.
			want := fmt.Sprintf("%d:%s,", len(b), b)
			if !strings.HasPrefix(string(raw[used:]), want) {
				t.Fatalf("read %q at %d", b, used)
			}
			used += len(want)
		}
	})
}

func FuzzEvent(f *testing.F) {
	for _, s := range recorded {
		_, s, _ = strings.Cut(s, ":")
		f.Add([]byte(strings.TrimSuffix(s, ",")))
	}
	p := newPhone(f, "127.0.0.1:4444")
	f.Fuzz(func(t *testing.T, b []byte) {
		linktest.Once(t, linktest.Scripted{Phone: p, Do: func(_ context.Context, r *link.Reporter) error {
			p.(*softphone).frame(r, b)
			return nil
		}})
	})
}

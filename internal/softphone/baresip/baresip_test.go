package baresip

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

func frameOf(json string) string { return fmt.Sprintf("%d:%s,", len(json), json) }

// feed gives the events that a link makes of these bytes on one connection.
func feed(t testing.TB, raw string) ([]call.Event, error) {
	t.Helper()
	var got []call.Event
	ours, theirs := net.Pipe()
	go func() {
		theirs.Write([]byte(raw))
		theirs.Close()
	}()
	p, err := New(Config{Address: "127.0.0.1:4444", Dial: func(context.Context, string, string) (net.Conn, error) { return ours, nil }})
	if err != nil {
		t.Fatal(err)
	}
	err = link.Once(t.Context(), link.Config{Take: func(e call.Event) error {
		got = append(got, e)
		return nil
	}}, p)
	return got, err
}

func TestRecordedFrames(t *testing.T) {
	got, err := feed(t, strings.Join(recorded, ""))
	if !errors.Is(err, link.ErrClosed) {
		t.Fatalf("connection ended with %v", err)
	}
	want := []struct {
		state            call.State
		number, name, id string
	}{
		{call.Ringing, "sip:+31612345678@127.0.0.1:5070", "J. de Vries", "1-13735@127.0.0.1"},
		{call.Ended, "sip:+31612345678@127.0.0.1:5070", "J. de Vries", "1-13735@127.0.0.1"},
		{call.Ringing, "sip:anonymous@anonymous.invalid", "Anonymous", "1-13736@127.0.0.1"},
		{call.Ringing, "sip:0612345678@127.0.0.1:5070;user=phone", "", "1-13737@127.0.0.1"},
		{call.Ringing, "sip:0201234567@127.0.0.1", `Café "De Hoek" Zoë`, "1-13829@127.0.0.1"},
		{call.Ringing, "tel:+31-6-1234-5678;ext=12", "", "1-13831@127.0.0.1"},
		{call.Ringing, "sip:unavailable@unknown.invalid", "+31612345678", "1-13832@127.0.0.1"},
	}
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i, w := range want {
		e := got[i]
		if e.State != w.state || e.Number != w.number || e.Name != w.name || e.ID != w.id {
			t.Errorf("event %d: %v %q %q %q, want %v", i, e.State, e.Number, e.Name, e.ID, w)
		}
		if e.Direction != call.Incoming || e.Line != "sip:101@127.0.0.1" || e.Reason != call.ReasonUnknown ||
			e.Source != (call.Source{Kind: "baresip", Conn: "127.0.0.1:4444", Reports: call.AllStates}) || e.At.IsZero() {
			t.Errorf("event %d: %+v", i, e)
		}
	}
}

func TestEvents(t *testing.T) {
	const (
		in  = `{"event":true,"class":"call","type":"CALL_INCOMING","accountaor":"sip:101@pbx","direction":"incoming","peeruri":"sip:0612345678@pbx","diverteruri":"sip:0201234567@pbx","cuser":"x","remoteaudiodir":"sendrecv","id":"a"}`
		est = `{"event":true,"class":"call","type":"CALL_ESTABLISHED","id":"a"}`
		end = `{"event":true,"class":"call","type":"CALL_CLOSED","id":"a","param":"Connection reset by user"}`
		out = `{"event":true,"class":"call","type":"CALL_OUTGOING","direction":"outgoing","peeruri":"sip:0612345678@pbx","id":"b"}`
		old = `{"event":true,"type":"CALL_RINGING","class":"call","direction":"outgoing","peeruri":"sip:0612345678@pbx","id":"b"}`
	)
	for _, tt := range []struct {
		name   string
		frames []string
		want   string
	}{
		{"4.9, answered", []string{in, est, end}, "ringing incoming sip:0612345678@pbx via 0201234567; answered incoming sip:0612345678@pbx via 0201234567; ended completed incoming sip:0612345678@pbx via 0201234567"},
		{"not answered", []string{in, end}, "ringing incoming sip:0612345678@pbx via 0201234567; ended incoming sip:0612345678@pbx via 0201234567"},
		{"outgoing, 4.9 and 1.0.0 words together", []string{out, old}, "ringing outgoing sip:0612345678@pbx"},
		{"outgoing, 1.0.0", []string{old, old}, "ringing outgoing sip:0612345678@pbx"},
		{"peeruri missing", []string{`{"event":true,"type":"CALL_INCOMING","id":"a","param":"sip:1@x"}`}, "ringing incoming sip:1@x"},
		{"nothing of the caller at all", []string{`{"event":true,"type":"CALL_INCOMING","id":"a","param":"Busy"}`}, "ringing incoming "},
		{"end of a call that began before us", []string{`{"event":true,"type":"CALL_CLOSED","direction":"incoming","peeruri":"sip:1@x","id":"z"}`}, "ended incoming sip:1@x"},
		{"answered, direction unknown", []string{`{"event":true,"type":"CALL_ESTABLISHED","id":"z"}`}, "answered unknown "},
		{"not calls", []string{`{"event":true,"type":"REGISTER_OK","class":"ua"}`, `{"event":true,"type":"SIPSESS_CONN","class":"sip","from":"sip:1@x"}`, `{"event":true,"type":"CALL_REMOTE_SDP","id":"a"}`, `{"response":true,"ok":true,"data":"CALL_INCOMING","type":"CALL_INCOMING"}`, `{"event":true,"type":"NEVER_HEARD_OF"}`, `{}`, ``}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw := ""
			for _, f := range tt.frames {
				raw += frameOf(f)
			}
			got, _ := feed(t, raw)
			var all []string
			for _, e := range got {
				s := e.State.String()
				if e.Reason != call.ReasonUnknown {
					s += " " + e.Reason.String()
				}
				s += " " + e.Direction.String() + " " + e.Number
				if e.Via != "" {
					s += " via " + e.Via
				}
				all = append(all, s)
			}
			if have := strings.Join(all, "; "); have != tt.want {
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
		events    int // that still come out
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
		{"length of many digits", "99999999999999999999999999:x,", 0, true},
		{"negative", "-5:hello,", 0, true},
		{"plus", "+5:hello,", 0, true},
		{"leading zero", "05:hello,", 0, true},
		{"two zeros", "00:,", 0, true},
		{"hexadecimal", "0x5:hello,", 0, true},
		{"space", " 5:hello,", 0, true},
		{"no length", ":hello,", 0, true},
		{"no colon", "5hello,", 0, true},
		{"no comma", "5:hello;" + good, 0, true},
		{"characters, not bytes", "4:Zoë…," + good, 0, true},
		{"ends within a length", good + "25", 1, true},
		{"ends within a frame", good + "251:{", 1, true},
		{"ends before the comma", "5:hello", 0, true},
		{"another protocol", "HTTP/1.1 400 Bad Request\r\n\r\n", 0, true},
		{"another language", "220 mail.example ESMTP\r\n", 0, true},
		{"endless digits", strings.Repeat("1", 1<<20), 0, true},
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
			for _, e := range got {
				if len(e.Number) > call.MaxNumber || len(e.Name) > call.MaxName || len(e.ID) > call.MaxID || e != e.Clean() {
					t.Errorf("event is not clean: %+v", e)
				}
			}
		})
	}
}

func TestConfigRefused(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1", "127.0.0.1:"} {
		if _, err := New(Config{Address: address}); err == nil {
			t.Errorf("%q accepted", address)
		}
	}
}

func TestEndsWithItsContext(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p, err := New(Config{Address: ln.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	connected, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		link.Run(ctx, link.Config{Take: func(call.Event) error { return nil }, State: func(s link.State) {
			if s.Phase == link.Connected {
				close(connected)
			}
		}}, p)
	}()
	<-connected
	cancel()
	<-ended
}

func TestNobodyThere(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	ln.Close()
	p, err := New(Config{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	if err := link.Once(t.Context(), link.Config{}, p); !errors.Is(err, link.ErrNotThere) {
		t.Error(err)
	}
}

func FuzzNetstring(f *testing.F) {
	for _, s := range recorded {
		f.Add([]byte(s))
	}
	f.Add([]byte("0:,5:hello,05:hello,"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := newFrameReader(bufio.NewReader(strings.NewReader(string(raw))))
		used := 0
		for {
			b, err := r.next()
			if err != nil {
				return
			}
			if len(b) > maxFrame {
				t.Fatalf("frame of %d bytes", len(b))
			}
			// What was read is exactly what a netstring of it looks like.
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
	f.Fuzz(func(t *testing.T, b []byte) {
		got, _ := feed(t, frameOf(string(b)))
		for _, e := range got {
			if e != e.Clean() || e.Source.Kind != registry.Baresip {
				t.Fatalf("%+v", e)
			}
		}
	})
}

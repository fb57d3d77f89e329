package listener

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
)

func jsonLog(w io.Writer) *slog.Logger { return slog.New(slog.NewJSONHandler(w, nil)) }

// hostileJSON returns messages that are not events. Their names begin with what is wrong.
func hostileJSON() map[string]string {
	return map[string]string{
		"empty": "", "space": " ", "byte order mark": "\ufeff{\"event\":\"call\"}", "null": "null", "true": "true", "number": "1", "text": `"call"`, "list": `[]`, "list of events": `[{"event":"call"}]`,
		"two objects": `{"event":"call"}{"event":"call"}`, "two lines": "{\"event\":\"call\"}\n{\"event\":\"call\"}", "trailing word": `{"event":"call"} x`, "trailing comma": `{"event":"call"},`, "trailing bracket": `{"event":"call"}]`, "trailing NUL": "{\"event\":\"call\"}\x00", "trailing comment": `{"event":"call"}//`,
		"comma in object": `{"event":"call",}`, "leading comma": `{,"event":"call"}`, "double comma": `{"event":"call",,"id":"a"}`, "no colon": `{"event" "call"}`, "two colons": `{"event"::"call"}`, "no comma": `{"event":"call" "id":"a"}`, "equals": `{"event"="call"}`, "no value": `{"event":}`, "no name": `{:"call"}`,
		"open": `{`, "open string": `{"event":"call`, "open name": `{"event`, "open list": `{"event":"call","x":[`, "closed wrongly": `{"event":"call"]`, "closed twice": `{"event":"call"}}`, "close first": `}{`,
		"single quotes": `{'event':'call'}`, "bare names": `{event:"call"}`, "bare value": `{"event":call}`, "comment": `{"event":"call"/* */}`, "line comment": "{\"event\":\"call\"//\n}", "NaN": `{"event":"call","x":NaN}`, "Infinity": `{"event":"call","x":Infinity}`, "undefined": `{"event":"call","x":undefined}`, "hex": `{"event":"call","x":0x1F}`, "leading zero": `{"event":"call","x":01}`, "plus": `{"event":"call","x":+1}`, "dot": `{"event":"call","x":.5}`, "dot at end": `{"event":"call","x":5.}`, "exponent": `{"event":"call","x":1e}`, "minus": `{"event":"call","x":-}`, "True": `{"event":"call","x":True}`, "nul": `{"event":"call","x":nul}`,
		"raw newline": "{\"event\":\"call\",\"name\":\"a\nb\"}", "raw tab": "{\"event\":\"call\",\"name\":\"a\tb\"}", "raw NUL": "{\"event\":\"call\",\"name\":\"a\x00b\"}", "bad escape": `{"event":"call","name":"\x41"}`, "short escape": `{"event":"call","name":"\u00"}`, "bad hex": `{"event":"call","name":"\u00zz"}`, "escape at end": `{"event":"call","name":"\`, "big U": `{"event":"call","name":"\U00000041"}`,
		"number as number": `{"event":"call","number":31612345678}`, "number as object": `{"event":"call","number":{}}`, "number as bool": `{"event":"call","number":true}`, "id as list": `{"event":"call","id":["a"]}`, "event as number": `{"event":1}`, "event as list": `{"event":["call"]}`, "name as object": `{"event":"call","name":{"first":"J"}}`, "state as null twice": `{"event":"call","state":null,"state":"ringing"}`,
		"number twice": `{"event":"call","number":"1234","number":"5678"}`, "number twice, escaped": `{"event":"call","number":"1234","\u006eumber":"5678"}`, "event twice": `{"event":"call","event":"call"}`, "unknown twice": `{"event":"call","x":1,"x":1}`, "empty name twice": `{"event":"call","":1,"":1}`,
		"depth 9": `{"event":"call","x":` + strings.Repeat("[", 8) + strings.Repeat("]", 8) + `}`, "depth 5000": `{"event":"call","x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, "depth, objects": `{"event":"call","x":` + strings.Repeat(`{"a":`, 8) + "1" + strings.Repeat("}", 8) + `}`, "depth, open": strings.Repeat(`{"a":`, 3000),
		"no event": `{"number":"1234"}`, "event is empty": `{"event":""}`, "prototype": `{"__proto__":{"event":"call"}}`, "other case": `{"Event":"call"}`, "kelvin sign": "{\"\u212a\":\"call\"}",
		"overlong id": `{"event":"call","id":"` + strings.Repeat("x", 129) + `"}`, "id with NUL": `{"event":"call","id":"\u0000"}`, "id right to left": `{"event":"call","id":"\u202e"}`, "id lone surrogate": `{"event":"call","id":"\udead"}`, "id with spaces around": `{"event":"call","id":" a "}`,
		"number too long": `{"event":"call","number":"` + strings.Repeat("6", 129) + `"}`, "number with NUL": `{"event":"call","number":"06\u000012345678"}`, "number of letters": `{"event":"call","number":"hello; DROP TABLE calls; --"}`, "unknown state": `{"event":"call","state":"RINGING "}`, "state with NUL": `{"event":"call","state":"ringing\u0000"}`,
	}
}

func TestHostileJSON(t *testing.T) {
	d := newDesk(t, func(c *Config, _ *timing) {
		// one event per second: no flood
		now := time.Unix(1e9, 0)
		c.Now = func() time.Time { now = now.Add(time.Second); return now }
	})
	p := dial(t, d)
	ctx := context.Background()
	for name, m := range hostileJSON() {
		err := p.Send(ctx, []byte(m))
		if r, ok := err.(*simulate.RefusedError); !ok || !strings.HasPrefix(r.Code, "bad_") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(d.events()); n != 0 {
		t.Errorf("%d events", n)
	}
	// Unusual but valid, and cleaned.
	for name, m := range map[string]string{
		"depth 8":        `{"event":"call","x":` + strings.Repeat("[", 7) + strings.Repeat("]", 7) + `}`,
		"brackets":       `{"event":"call","name":"` + strings.Repeat("[{", 50) + `"}`,
		"escapes":        `{"\u0065vent":"\u0063all","name":"\"\\\/\b\f\n\r\t"}`,
		"whitespace":     " \t\r\n{ \"event\" : \"call\" } \r\n",
		"huge number":    `{"event":"call","x":1e99999,"y":-0,"z":` + strings.Repeat("9", 400) + `}`,
		"right to left":  `{"event":"call","name":"\u202egnirts\u2066\u200f"}`,
		"lone surrogate": `{"event":"call","name":"\ud83d"}`,
		"pair":           `{"event":"call","name":"\ud83d\ude00"}`,
		"long name":      `{"event":"call","name":"` + strings.Repeat("ë", 5000) + `"}`,
		"markup":         `{"event":"call","name":"<script>alert(1)</script>"}`,
	} {
		before := len(d.events())
		if err := p.Send(ctx, []byte(m)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := d.events()
		if e := got[len(got)-1]; len(got) != before+1 || e != e.Clean() || len(e.Name) > call.MaxName {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// TestLogIsBounded: a refusal logs one line a minute, however often it happens.
func TestLogIsBounded(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1e9, 0)
	l := refusalLog{log: jsonLog(&out), now: func() time.Time { return now }}
	for range 1000 {
		l.note(badToken)
	}
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Errorf("%d lines", n)
	}
	now = now.Add(time.Minute)
	l.note(badToken)
	if !strings.Contains(out.String(), `"times":1000`) {
		t.Errorf("%s", &out)
	}
}

// TestNothingLeaks: no call data and no token reach the log or an answer.
func TestNothingLeaks(t *testing.T) {
	var out logtest.Buffer
	d := newDesk(t, func(c *Config, _ *timing) { c.Log = jsonLog(&out) })
	var back strings.Builder
	for i, m := range []string{
		`{"event":"call","id":"canary-id","number":"+31600000001","name":"canary-name","line":"canary-line","via":"canary-via"}`,
		`{"event":"call","number":"canary-number","name":"canary-name"}`, `{"event":"canary-event"}`, `{"canary":`, `{"event":"call","state":"canary-state"}`,
	} {
		if b := d.handleMessage([]byte(m), call.Source{Kind: "websocket", Conn: fmt.Sprint(i)}); i > 0 {
			back.Write(b)
		}
	}
	for _, req := range []string{
		get("/v1/call/canary-token?number=canary-number&name=canary-name", d.host()), get("/canary-path", d.host()), get("/v1/call/"+pathTok+"?number=canary-number&state=x", d.host()),
		get("/", "canary.host"), get("/", d.host(), "Origin: https://canary.origin"), "CANARY / HTTP/1.1\r\nHost: " + d.host() + "\r\n\r\n", "canary\r\n\r\n",
		upgrade(d.host(), withProtocol, "Authorization: Bearer canary-token"), upgrade(d.host(), withBearer, "Sec-WebSocket-Protocol: canary-protocol"),
	} {
		_, h, body := d.raw(req)
		back.WriteString(body)
		json.NewEncoder(&back).Encode(h)
	}
	c := d.socket(t)
	c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(4000, "canary-reason"), time.Now().Add(time.Second))
	d.connected(t, 0)
	c.Close()
	d.Close()
	for name, s := range map[string]string{"log": out.String(), "answers": back.String()} {
		for _, bad := range []string{"canary", "CANARY", "31600000001", socketTok, pathTok} {
			if strings.Contains(s, bad) {
				t.Errorf("%s holds %q: %s", name, bad, s)
			}
		}
	}
	if out.String() == "" {
		t.Error("nothing was logged at all")
	}
}

func FuzzMessage(f *testing.F) {
	for _, m := range hostileJSON() {
		f.Add([]byte(m))
	}
	f.Add([]byte(`{"event":"call","id":"7f3a","state":"ringing","direction":"incoming","number":"+31612345678","name":"J. de Vries","line":"020 123 45 67"}`))
	source := call.Source{Kind: call.KindWebSocket, Conn: "1", ReportLevel: call.AllStates}
	f.Fuzz(func(t *testing.T, b []byte) {
		l := &Listener{cfg: Config{Now: time.Now, Log: jsonLog(io.Discard)}}
		l.log = refusalLog{log: l.cfg.Log, now: time.Now}
		taken := 0
		l.cfg.Receive = func(e call.Event) error {
			taken++
			if e != e.Clean() || e.Source != source || len(e.ID) > call.MaxID {
				t.Fatalf("%+v", e)
			}
			return nil
		}
		if !utf8.Valid(b) {
			return // refused before it gets here
		}
		agrees(t, b)
		back := l.handleMessage(b, source)
		if taken > 0 {
			var m map[string]any
			if json.Unmarshal(b, &m) != nil || m["event"] != "call" {
				t.Fatalf("taken: %q", b)
			}
			if !bytes.HasPrefix(back, []byte(`{"event":"ack"`)) {
				t.Fatalf("not acknowledged: %s", back)
			}
		} else if bytes.Contains(back, []byte(`"ack"`)) && !bytes.Contains(back, []byte(`"error"`)) {
			t.Fatalf("acknowledged and not taken: %q", b)
		}
		if back != nil && !json.Valid(back) {
			t.Fatalf("answer %q", back)
		}
	})
}

// agrees compares what we read of b with what encoding/json reads.
func agrees(t *testing.T, b []byte) {
	t.Helper()
	f, err := parseMessage(b)
	if err != nil {
		return
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("accepted %q: %v", b, err)
	}
	for _, name := range []string{"event", "id", "state", "direction", "reason", "number", "name", "line", "via"} {
		var want string
		if v, ok := m[name]; ok && v != nil {
			if want, ok = v.(string); !ok {
				t.Fatalf("accepted %q", b)
			}
		}
		if got := f[name]; got != want {
			t.Fatalf("%s of %q is %q, want %q", name, b, got, want)
		}
	}
}

// BenchmarkRoundTrip measures the whole path from the
// phone's write to its acknowledgement, over loopback.
func BenchmarkRoundTrip(b *testing.B) {
	now := time.Unix(1e9, 0)
	d := newDesk(b, func(c *Config, _ *timing) {
		c.Now = func() time.Time { now = now.Add(time.Second); return now }
		c.Receive = func(call.Event) error { return nil }
	})
	p := dial(b, d)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		must.Do(b, p.Ring(ctx, simulate.Call{ID: "7f3a", Number: "+31612345678", Name: "J. de Vries"}))
	}
}

package webhook

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/guide"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

func line(r Report) string {
	number := r.Number
	if number == "" {
		number = "-"
	}
	s := fmt.Sprint(r.ID, " ", r.State, " ", r.Direction, " ", number)
	if r.State == call.Ended && r.Reason != call.ReasonUnknown {
		s += " " + r.Reason.String()
	}
	if r.MaybeForAll {
		s += " unsure"
	}
	at := strings.Join(append(slices.Clone(r.Extensions), r.Emails...), ",")
	for _, f := range [][2]string{{"name", r.Event.Name}, {"line", r.Line}, {"queue", r.Queue}, {"via", r.Via}, {"at", at}} {
		if f[1] != "" {
			s += " " + f[0] + "=" + f[1]
		}
	}
	return s
}

// message parses a captured message: an address, a form, JSON or XML.
func message(s string) Message {
	if strings.HasPrefix(s, "<") {
		return Message{Type: "application/xml; charset=UTF-8", Body: []byte(s)}
	}
	if u, err := url.Parse(s); err == nil && u.RawQuery != "" {
		return Message{Query: u.Query()}
	}
	if strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
		return Message{Type: "application/json; charset=utf-8", Body: []byte(s)}
	}
	return Message{Type: "application/x-www-form-urlencoded", Body: []byte(s)}
}

// examples reads the messages of testdata, one each, with their reports.
func examples(t testing.TB, kind string) []linktest.Example {
	return linktest.Examples(t, kind+".txt")
}

// TestExamples: every message yields the reports beside it.
func TestExamples(t *testing.T) {
	for kind, read := range readers {
		for _, e := range examples(t, kind) {
			t.Run(kind+"/"+e.Name, func(t *testing.T) {
				all, err := read(message(strings.Join(e.Messages, "")))
				var got []string
				for _, r := range all {
					got = append(got, line(r))
				}
				if err != nil {
					got = append(got, err.Error())
				}
				if !slices.Equal(got, e.Want) {
					t.Errorf("%s\ngot  %q\nwant %q", e.Messages, got, e.Want)
				}
			})
		}
	}
}

// TestPlain: our own format accepts numbers as strings and texts
// as numbers, and an end applies to the extension it names.
func TestPlain(t *testing.T) {
	all, err := OwnMapping(Message{Body: []byte(`{"id":7,"state":"Answered","direction":"outbound","number":"0612345678","name":"J. de Vries","line":"0201234567","via":"Receptie","queue":"Schade","extension":101,"email":"anna@kantoor.example","more":[]}`)})
	if err != nil || len(all) != 1 || line(all[0]) != "7 answered outgoing 0612345678 name=J. de Vries line=0201234567 queue=Schade via=Receptie at=101,anna@kantoor.example" || all[0].Called != "0201234567" {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := OwnMapping(Message{Body: []byte(`{"id":7,"state":"ended","reason":"missed","extension":101}`)}); err != nil || line(all[0]) != "7 ended incoming - missed at=101" {
		t.Errorf("%+v, %v", all, err)
	}
	for _, s := range []string{"", "[]", "{}", `{"id":{}}`, `{"id":""}`, `{"id":"1"`, `{"id":"` + strings.Repeat("x", MaxBody) + `"}`} {
		if all, err := OwnMapping(Message{Body: []byte(s)}); err == nil {
			t.Errorf("%.40q: %+v", s, all)
		}
	}
	if all, err := OwnMapping(Message{Body: []byte(`{"id":"a\u202e"}`)}); err != nil || all[0].ID != link.CallID("a\u202e") {
		t.Errorf("an id that no event can have: %+v, %v", all, err)
	}
}

// TestField: a name matches in any case, and searching for a
// missing one allocates nothing, however many others there are.
func TestField(t *testing.T) {
	many := map[string]any{"Id": "b", "ID": "a", "": "x", "number": nil, "Number": "c"}
	for i := range 5000 {
		many[fmt.Sprint(i)] = i
	}
	for name, want := range map[string]any{"id": "a", "Id": "b", "number": nil, "NUMBER": "c", "name": nil} {
		if got := field(many, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if n := testing.AllocsPerRun(100, func() { field(many, "name") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

const mapping = `
id = "call.uuid"
number = ["call.from", "from"]
name = "call.displayName"
state = "event"
direction = "call.way"
extension = "call.legs.0.ext"
email = "call.users"
queue = "call.queue"
line = "call.did"
via = "call.by"
reason = "cause"
[states]
start = "ringing"
answer = "answered"
end = "ended"
[directions]
E = "incoming"
S = "outgoing"
[reasons]
ANSWERED_ELSEWHERE = "elsewhere"
`

// TestMapping reads messages of an unknown format with an administrator's mapping.
func TestMapping(t *testing.T) {
	m, err := ParseMapping([]byte(mapping))
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]string{
		`{"event":"START","call":{"uuid":"u1","from":"0612345678","displayName":"J. de Vries","way":"e","did":"0201234567","queue":"Schade","by":"Receptie","legs":[{"ext":101}],"users":["anna@kantoor.example","bob@kantoor.example"]}}`: "u1 ringing incoming 0612345678 name=J. de Vries line=0201234567 queue=Schade via=Receptie at=101,anna@kantoor.example,bob@kantoor.example",
		`{"EVENT":"end","event":"answer","from":"0612345678","call":{"uuid":"u1","way":"S"}}`:  "u1 answered outgoing 0612345678",
		`{"event":"end","cause":"answered_elsewhere","call":{"uuid":"u1"}}`:                    "u1 ended incoming - elsewhere",
		`{"event":"updateClid","call":{"uuid":"u1","legs":[],"users":"anna@kantoor.example"}}`: "u1 ringing incoming - at=anna@kantoor.example",
	} {
		all, err := m.Reader()(message(said))
		if err != nil || len(all) != 1 || line(all[0]) != want {
			t.Errorf("%s: %+v, %v, want %s", said, all, err, want)
		}
	}
	if all, err := m.Reader()(message(`{"event":"start"}`)); err == nil {
		t.Errorf("a call without an id: %+v", all)
	}
	for wrong, says := range map[string]string{
		"id = 7":          "Line 1",
		"id = [\"a\", 1]": "Line 1",
		"id = \"\"":       "Line 1",
		"id = \"a\"":      "id and number",
		"number = \"a\"":  "id and number",
		"id = \"a\"\nnumber = \"b\"\nnumbr = \"c\"":             "no field numbr",
		"id = \"a\"\nnumber = \"b\"\n[states]\nx = \"buzzing\"": "states.x, choose one of: ringing, answered, ended",
		"id = \"a": "Line 1",
	} {
		if _, err := ParseMapping([]byte(wrong)); err == nil || !strings.Contains(text.English.Error(err), says) {
			t.Errorf("%q: %v, want %q", wrong, err, says)
		}
	}
}

// TestSent: a message gives its time in seconds, in ISO 8601, or not at all.
func TestSent(t *testing.T) {
	for said, want := range map[string]time.Time{`1736065800`: time.Unix(1736065800, 0), `"2025-01-05T09:30:00+01:00"`: time.Unix(1736065800, 0), `"today"`: {}, `-5`: {}, `9999999999999`: {}} {
		all, err := readVoIPGRID(message(`{"call_id":"1","status":"ringing","destination":{"account_number":101},"timestamp":` + said + `}`))
		if err != nil || len(all) != 1 || !all[0].Sent.Equal(want) {
			t.Errorf("%s: %+v, %v", said, all, err)
		}
	}
}

// TestGuide: the mapping in the guide is valid.
func TestGuide(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		found := 0
		for _, p := range guide.Help(l) {
			for part := range strings.SplitSeq(p.Text, "\n\n") {
				if p.ID != "webhooks" || !strings.HasPrefix(part, "    id = ") {
					continue
				}
				found++
				m, err := ParseMapping([]byte(part))
				if err != nil || len(m.States) != 3 || len(m.Directions) != 1 {
					t.Errorf("%s: %+v, %v", l, m, err)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s: %d mappings", l, found)
		}
	}
}

// usable fails the test unless a reader has returned usable reports or one of its errors.
func usable(t *testing.T, what string, reports []Report, err error) {
	t.Helper()
	if err != nil && (reports != nil || err != ErrMessage && err != ErrEnded) || len(reports) > maxPlaces {
		t.Fatalf("%s: %d reports, %v", what, len(reports), err)
	}
	for _, r := range reports {
		if r.ID == "" || r.Event != r.Clean() || r.State != call.Ended && r.Reason != call.ReasonUnknown || len(r.Extensions)+len(r.Emails) > 4*maxPlaces {
			t.Fatalf("%s: %+v", what, r)
		}
	}
}

// spoiled calls do with a tree once for each of its parts
// and each value, with that part replaced by the value.
func spoiled(tree any, with []any, do func(any)) {
	for _, v := range with {
		do(v)
	}
	switch tree := tree.(type) {
	case map[string]any:
		for name, was := range tree {
			spoiled(was, with, func(v any) {
				tree[name] = v
				do(tree)
			})
			tree[name] = was
		}
	case []any:
		for i, was := range tree {
			spoiled(was, with, func(v any) {
				tree[i] = v
				do(tree)
			})
			tree[i] = was
		}
	}
}

// xmlText matches the text between two tags.
var xmlText = regexp.MustCompile(">[^<]*<")

// TestHostile: whatever replaces a part of a message, readers terminate, quote nothing of
// it in an error, and return usable reports.
func TestHostile(t *testing.T) {
	long, wide := strings.Repeat("9", 5000), make([]any, maxPlaces+1)
	for i := range wide {
		wide[i] = map[string]any{"extension": map[string]any{"number": i, "member_status": "RING"}, "account_number": i}
	}
	var deep any = "x"
	for range 100 {
		deep = []any{map[string]any{"number": deep}}
	}
	with := []any{nil, true, -1, json.Number("1e999"), "", long, "\x00\u202e\r\n", "{\"a\":", []any{}, map[string]any{}, wide, deep}
	for kind, read := range readers {
		n := 0
		for i, e := range examples(t, kind) {
			if i%12 > 0 {
				continue // the examples are very similar
			}
			m := message(strings.Join(e.Messages, ""))
			if tree, err := parse(m.Body); err == nil {
				spoiled(tree, with, func(v any) {
					b := must.Get(json.Marshal(v))(t)
					n++
					all, err := read(Message{Type: m.Type, Body: b})
					usable(t, e.Name, all, err)
				})
			}
			for _, at := range xmlText.FindAllStringIndex(string(m.Body), -1) {
				for _, v := range with {
					n++
					all, err := read(Message{Type: m.Type, Body: slices.Concat(m.Body[:at[0]+1], fmt.Append(nil, v), m.Body[at[1]-1:])})
					usable(t, e.Name, all, err)
				}
			}
			for name := range m.Query {
				for _, v := range with {
					q := url.Values{}
					maps.Copy(q, m.Query)
					q[name] = []string{fmt.Sprint(v)}
					n++
					all, err := read(Message{Query: q})
					usable(t, e.Name, all, err)
				}
			}
		}
		if n < 300 {
			t.Errorf("%s: %d messages", kind, n)
		}
	}
}

// FuzzReaders: whatever is sent, readers terminate, and return usable reports.
func FuzzReaders(f *testing.F) {
	own, err := ParseMapping([]byte(mapping))
	if err != nil {
		f.Fatal(err)
	}
	all := []Reader{OwnMapping, own.Reader()}
	for kind, read := range readers {
		all = append(all, read)
		for _, e := range examples(f, kind) {
			m := message(strings.Join(e.Messages, ""))
			f.Add(m.Query.Encode(), m.Type, m.Body)
		}
	}
	f.Fuzz(func(t *testing.T, query, kind string, body []byte) {
		values, _ := url.ParseQuery(query)
		for i, read := range all {
			reports, err := read(Message{Query: values, Type: kind, Body: body})
			usable(t, strconv.Itoa(i), reports, err)
		}
	})
}

package upload

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"wiebelt/internal/testutil/messagetest"
)

// read gives the messages of a request.
func read(r io.Reader, l Limits) ([][]byte, error) {
	var all [][]byte
	var now bytes.Buffer
	finished := 0
	n, err := Read(r, l, func(i int) (io.Writer, error) {
		if i != len(all) {
			return nil, fmt.Errorf("item %d after %d", i, len(all))
		}
		now.Reset()
		return &now, nil
	}, func(i int) error {
		finished++
		all = append(all, bytes.Clone(now.Bytes()))
		return nil
	})
	if err == nil && (n != len(all) || finished != n) {
		err = fmt.Errorf("%d items, %d begun, %d finished", n, len(all), finished)
	}
	return all, err
}

func TestReadGivesTheMessages(t *testing.T) {
	a, b := messagetest.ZIP(t, "a.xml", "<Contractdocument/>"), messagetest.ZIP(t, "b.xml", strings.Repeat("x", 200_000))
	plain := messagetest.Request(a, b)
	a64 := base64.StdEncoding.EncodeToString(a)
	for name, body := range map[string]string{
		"as documented":       plain,
		"white space":         " \r\n\t" + strings.NewReplacer(":", " : ", ",", " ,\n ", "[", "[ ", "]", " ]").Replace(plain) + "\n\n",
		"slashes escaped":     strings.ReplaceAll(plain, "/", `\/`),
		"letters by number":   strings.ReplaceAll(strings.ReplaceAll(plain, "A", `\u0041`), "+", `\u002B`),
		"members of others":   `{"x":[1,-0.5e+3,true,false,null,{"a":{}},[],""],"data":{"n":"é\u00e9\"","items":[{"id":7,"message":"` + a64 + `","z":{}},` + strings.TrimPrefix(messagetest.Request(b), `{"data":{"items":[`) + `}`,
		"members after items": strings.TrimSuffix(plain, "}}") + `,"count":2},"version":"1"}`,
	} {
		if name == "members of others" {
			body = strings.TrimSuffix(body, "}")
		}
		for _, r := range []io.Reader{strings.NewReader(body), iotest.OneByteReader(strings.NewReader(body)), iotest.DataErrReader(strings.NewReader(body))} {
			got, err := read(r, Defaults)
			if err != nil || len(got) != 2 || !bytes.Equal(got[0], a) || !bytes.Equal(got[1], b) {
				t.Errorf("%s: %d messages, %v", name, len(got), err)
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	z := base64.StdEncoding.EncodeToString(messagetest.ZIP(t, "a", "a"))
	item := func(s string) string { return `{"data":{"items":[{"message":` + s + `}]}}` }
	for name, c := range map[string]struct {
		body string
		why  Reason
	}{
		"nothing":                {"", BadJSON},
		"only white space":       {" \n ", BadJSON},
		"no JSON":                {"PK\x03\x04", BadJSON},
		"a byte order mark":      {"\ufeff" + item(`"`+z+`"`), BadJSON},
		"an array":               {"[]", BadShape},
		"a text":                 {`"data"`, BadShape},
		"null":                   {"null", BadShape},
		"no data":                {"{}", BadShape},
		"data is null":           {`{"data":null}`, BadShape},
		"data is a list":         {`{"data":[]}`, BadShape},
		"no items":               {`{"data":{}}`, BadShape},
		"items is an object":     {`{"data":{"items":{}}}`, BadShape},
		"items is empty":         {`{"data":{"items":[]}}`, BadShape},
		"item is a text":         {`{"data":{"items":["` + z + `"]}}`, BadShape},
		"item without message":   {`{"data":{"items":[{}]}}`, BadShape},
		"message in capitals":    {`{"data":{"items":[{"Message":"` + z + `"}]}}`, BadShape},
		"message is a number":    {item("7"), BadShape},
		"message is null":        {item("null"), BadShape},
		"message twice":          {`{"data":{"items":[{"message":"` + z + `","message":"` + z + `"}]}}`, BadShape},
		"message twice, escaped": {`{"data":{"items":[{"message":"` + z + `","mess\u0061ge":"` + z + `"}]}}`, BadShape},
		"items twice":            {`{"data":{"items":[{"message":"` + z + `"}],"items":[]}}`, BadShape},
		"data twice":             {`{"data":{"items":[{"message":"` + z + `"}]},"data":{}}`, BadShape},
		"others twice":           {`{"a":1,"a":2,"data":{"items":[{"message":"` + z + `"}]}}`, BadShape},
		"base64 cut off":         {item(`"` + z[:len(z)-5] + `"`), BadBase64},
		"no padding":             {item(`"UEsDBA"`), BadBase64},
		"padding in the middle":  {item(`"UEsDBA==UEsDBA=="`), BadBase64},
		"padding far on":         {item(`"` + strings.Repeat("AAAA", chunk/4-1) + `AA==AAAA"`), BadBase64},
		"padding alone":          {item(`"===="`), BadBase64},
		"alphabet for URLs":      {item(`"` + z[:8] + `-_-_"`), BadBase64},
		"line break":             {item(`"` + z[:8] + `\r\n` + z[8:] + `"`), BadBase64},
		"raw line break":         {item(`"` + z[:8] + "\n\n\n\n" + z[8:] + `"`), BadBase64},
		"space":                  {item(`" ` + z + `"`), BadBase64},
		"not ASCII":              {item(`"` + z[:8] + `\u00e9"`), BadBase64},
		"loose bits":             {item(`"UEsDBB=="`), BadBase64},
		"bad escape":             {item(`"` + z[:8] + `\x41"`), BadJSON},
		"bad number escape":      {item(`"` + z[:8] + `\u00g1"`), BadJSON},
		"cut in the message":     {item(`"` + z)[:60], BadJSON},
		"cut after the message":  {strings.TrimSuffix(item(`"`+z+`"`), "}}"), BadJSON},
		"something behind":       {item(`"`+z+`"`) + "{}", BadJSON},
		"comma at the end":       {`{"data":{"items":[{"message":"` + z + `"},]}}`, BadJSON},
		"comma at the start":     {`{,"data":{}}`, BadJSON},
		"no colon":               {`{"data"{}}`, BadJSON},
		"bare name":              {`{data:{}}`, BadJSON},
		"half a word":            {`{"a":tru}`, BadJSON},
		"number with a plus":     {`{"a":+1}`, BadJSON},
		"number with a zero":     {`{"a":01}`, BadJSON},
		"number without digits":  {`{"a":-}`, BadJSON},
		"number with two points": {`{"a":1.2.3}`, BadJSON},
		"control character":      {"{\"a\":\"\x01\"}", BadJSON},
		"not UTF-8":              {"{\"a\":\"\xff\"}", BadJSON},
		"deep":                   {`{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}", TooLarge},
		"nothing, and a lot":     {strings.Repeat(" ", 2<<20), TooLarge},
		"a long text":            {`{"a":"` + strings.Repeat("a", 2<<20) + `"}`, TooLarge},
		"a long number":          {`{"a":` + strings.Repeat("1", 2<<20) + `}`, TooLarge},
	} {
		inPieces := iotest.OneByteReader
		if len(c.body) > 1<<20 { // which takes minutes with the race detector
			inPieces = iotest.HalfReader
		}
		for _, r := range []io.Reader{strings.NewReader(c.body), inPieces(strings.NewReader(c.body))} {
			_, err := read(r, Defaults)
			var refused *Refusal
			if !errors.As(err, &refused) || refused.Reason != c.why {
				t.Errorf("%s: %v, want %s", name, err, c.why)
			}
		}
	}
}

func TestReadLimits(t *testing.T) {
	z := messagetest.ZIP(t, "a", strings.Repeat("a", 1000))
	for _, c := range []struct {
		limit Limits
		ok    bool
		item  int
	}{
		{Limits{Items: 2, Bytes: int64(2 * len(z))}, true, 0},
		{Limits{Items: 1, Bytes: int64(2 * len(z))}, false, -1},
		{Limits{Items: 2, Bytes: int64(2*len(z)) - 1}, false, 1},
	} {
		_, err := read(strings.NewReader(messagetest.Request(z, z)), c.limit)
		var r *Refusal
		if c.ok && err != nil || !c.ok && (!errors.As(err, &r) || r.Reason != TooLarge || r.Item != c.item) {
			t.Errorf("%+v: %v", c.limit, err)
		}
	}
}

func TestReadPassesErrorsOn(t *testing.T) {
	z := messagetest.ZIP(t, "a", "a")
	mine := errors.New("mine")
	nothing := func(int) error { return nil }
	_, err := Read(strings.NewReader(messagetest.Request(z)), Defaults, func(int) (io.Writer, error) { return nil, mine }, nothing)
	if !errors.Is(err, mine) {
		t.Error("item:", err)
	}
	_, err = Read(strings.NewReader(messagetest.Request(z)), Defaults, func(int) (io.Writer, error) { return io.Discard, nil }, func(int) error { return mine })
	if !errors.Is(err, mine) {
		t.Error("done:", err)
	}
	_, err = Read(strings.NewReader(messagetest.Request(z)), Defaults, func(int) (io.Writer, error) { return iotest.TruncateWriter(errWriter{mine}, 1), nil }, nothing)
	if !errors.Is(err, mine) {
		t.Error("writer:", err)
	}
	_, err = Read(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(messagetest.Request(z)))), Defaults, func(int) (io.Writer, error) { return io.Discard, nil }, nothing)
	if !errors.Is(err, iotest.ErrTimeout) {
		t.Error("reader:", err)
	}
}

type errWriter struct{ err error }

func (w errWriter) Write([]byte) (int, error) { return 0, w.err }

// What is read must be what another reader of the same request reads.
func FuzzRead(f *testing.F) {
	f.Add([]byte(messagetest.Request(messagetest.ZIP(f, "a", "b"))))
	f.Add([]byte(`{"a":[1.5e3,{"b":null}],"data":{"items":[{"message":"UEsDBA=="},{"m":"\u0041\/"}]}}`))
	f.Add([]byte(`{"data":{"items":[{"message":"UEsD\u0042A=="}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := read(bytes.NewReader(b), Limits{Items: 8, Bytes: 1 << 16})
		if err != nil {
			var r *Refusal
			if !errors.As(err, &r) {
				t.Fatal(err)
			}
			return
		}
		var same struct {
			Data map[string]json.RawMessage `json:"data"`
		}
		var whole map[string]json.RawMessage
		if err := json.Unmarshal(b, &whole); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(whole["data"], &same.Data); err != nil {
			t.Fatal(err)
		}
		var items []map[string]json.RawMessage
		if err := json.Unmarshal(same.Data["items"], &items); err != nil {
			t.Fatal(err)
		}
		if len(items) != len(got) {
			t.Fatalf("%d items, the other reader has %d", len(got), len(items))
		}
		for i := range items {
			var s string
			if err := json.Unmarshal(items[i]["message"], &s); err != nil {
				t.Fatal(err)
			}
			want, err := base64.StdEncoding.Strict().DecodeString(s)
			if err != nil || !bytes.Equal(got[i], want) {
				t.Fatalf("item %d differs: %v", i, err)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	body := messagetest.Request(messagetest.ZIP(b, "a", strings.Repeat("0123456789abcdef", 1<<16)), append(messagetest.ZIP(b, "a", "a"), make([]byte, 8<<20)...))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(strings.NewReader(body), Defaults, func(int) (io.Writer, error) { return io.Discard, nil }, func(int) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

package localhub

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
	"wiebelt/internal/testutil/must"
)

func readAll(r io.Reader, l deliveryLimits) ([][]byte, error) {
	var all [][]byte
	var now bytes.Buffer
	finished := 0
	err := readDelivery(r, l, func(i int) (io.Writer, error) {
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
	if err == nil && finished != len(all) {
		err = fmt.Errorf("%d begun, %d finished", len(all), finished)
	}
	return all, err
}

func TestDeliveryGivesTheMessages(t *testing.T) {
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
			got, err := readAll(r, defaultLimits)
			if err != nil || len(got) != 2 || !bytes.Equal(got[0], a) || !bytes.Equal(got[1], b) {
				t.Errorf("%s: %d messages, %v", name, len(got), err)
			}
		}
	}
}

func TestDeliveryRefuses(t *testing.T) {
	z := base64.StdEncoding.EncodeToString(messagetest.ZIP(t, "a", "a"))
	item := func(s string) string { return `{"data":{"items":[{"message":` + s + `}]}}` }
	for name, c := range map[string]struct {
		body string
		why  string
	}{
		"nothing":                {"", "invalid_json"},
		"no JSON":                {"PK\x03\x04", "invalid_json"},
		"a byte order mark":      {"\ufeff" + item(`"`+z+`"`), "invalid_json"},
		"an array":               {"[]", "invalid_request"},
		"no data":                {"{}", "invalid_request"},
		"items is empty":         {`{"data":{"items":[]}}`, "invalid_request"},
		"item without message":   {`{"data":{"items":[{}]}}`, "invalid_request"},
		"message in capitals":    {`{"data":{"items":[{"Message":"` + z + `"}]}}`, "invalid_request"},
		"message is a number":    {item("7"), "invalid_request"},
		"message is null":        {item("null"), "invalid_request"},
		"message twice, escaped": {`{"data":{"items":[{"message":"` + z + `","mess\u0061ge":"` + z + `"}]}}`, "invalid_request"},
		"items twice":            {`{"data":{"items":[{"message":"` + z + `"}],"items":[]}}`, "invalid_request"},
		"base64 cut off":         {item(`"` + z[:len(z)-5] + `"`), "invalid_base64"},
		"no padding":             {item(`"UEsDBA"`), "invalid_base64"},
		"padding in the middle":  {item(`"UEsDBA==UEsDBA=="`), "invalid_base64"},
		"padding far on":         {item(`"` + strings.Repeat("AAAA", chunk/4-1) + `AA==AAAA"`), "invalid_base64"},
		"padding alone":          {item(`"===="`), "invalid_base64"},
		"alphabet for URLs":      {item(`"` + z[:8] + `-_-_"`), "invalid_base64"},
		"line break":             {item(`"` + z[:8] + `\r\n` + z[8:] + `"`), "invalid_base64"},
		"raw line break":         {item(`"` + z[:8] + "\n\n\n\n" + z[8:] + `"`), "invalid_base64"},
		"space":                  {item(`" ` + z + `"`), "invalid_base64"},
		"not ASCII":              {item(`"` + z[:8] + `\u00e9"`), "invalid_base64"},
		"loose bits":             {item(`"UEsDBB=="`), "invalid_base64"},
		"bad escape":             {item(`"` + z[:8] + `\x41"`), "invalid_json"},
		"cut in the message":     {item(`"` + z)[:60], "invalid_json"},
		"something behind":       {item(`"`+z+`"`) + "{}", "invalid_json"},
		"control character":      {"{\"a\":\"\x01\"}", "invalid_json"},
		"not UTF-8":              {"{\"a\":\"\xff\"}", "invalid_json"},
		"deep":                   {`{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}", "invalid_json"},
		"nothing, and a lot":     {strings.Repeat(" ", 2<<20), "too_large"},
		"a long text":            {`{"a":"` + strings.Repeat("a", 2<<20) + `"}`, "too_large"},
	} {
		inPieces := iotest.OneByteReader
		if len(c.body) > 1<<20 { // takes minutes with the race detector
			inPieces = iotest.HalfReader
		}
		for _, r := range []io.Reader{strings.NewReader(c.body), inPieces(strings.NewReader(c.body))} {
			_, err := readAll(r, defaultLimits)
			var refused *refusal
			if !errors.As(err, &refused) || refused.code != c.why {
				t.Errorf("%s: %v, want %s", name, err, c.why)
			}
		}
	}
}

func TestDeliveryLimits(t *testing.T) {
	z := messagetest.ZIP(t, "a", strings.Repeat("a", 1000))
	for _, c := range []struct {
		limit deliveryLimits
		ok    bool
		item  int
	}{
		{deliveryLimits{items: 2, bytes: int64(2 * len(z))}, true, 0},
		{deliveryLimits{items: 1, bytes: int64(2 * len(z))}, false, -1},
		{deliveryLimits{items: 2, bytes: int64(2*len(z)) - 1}, false, 1},
	} {
		_, err := readAll(strings.NewReader(messagetest.Request(z, z)), c.limit)
		var r *refusal
		if c.ok && err != nil || !c.ok && (!errors.As(err, &r) || r.code != "too_large" || r.item != c.item) {
			t.Errorf("%+v: %v", c.limit, err)
		}
	}
}

func TestDeliveryPassesErrorsOn(t *testing.T) {
	z := messagetest.ZIP(t, "a", "a")
	mine := errors.New("mine")
	nothing := func(int) error { return nil }
	err := readDelivery(strings.NewReader(messagetest.Request(z)), defaultLimits, func(int) (io.Writer, error) { return nil, mine }, nothing)
	if !errors.Is(err, mine) {
		t.Error("item:", err)
	}
	err = readDelivery(strings.NewReader(messagetest.Request(z)), defaultLimits, func(int) (io.Writer, error) { return io.Discard, nil }, func(int) error { return mine })
	if !errors.Is(err, mine) {
		t.Error("done:", err)
	}
	err = readDelivery(strings.NewReader(messagetest.Request(z)), defaultLimits, func(int) (io.Writer, error) { return iotest.TruncateWriter(errWriter{mine}, 1), nil }, nothing)
	if !errors.Is(err, mine) {
		t.Error("writer:", err)
	}
	err = readDelivery(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(messagetest.Request(z)))), defaultLimits, func(int) (io.Writer, error) { return io.Discard, nil }, nothing)
	if !errors.Is(err, iotest.ErrTimeout) {
		t.Error("reader:", err)
	}
}

type errWriter struct{ err error }

func (w errWriter) Write([]byte) (int, error) { return 0, w.err }

// FuzzDelivery checks that readDelivery and another
// reader of the same request get the same messages.
func FuzzDelivery(f *testing.F) {
	f.Add([]byte(messagetest.Request(messagetest.ZIP(f, "a", "b"))))
	f.Add([]byte(`{"a":[1.5e3,{"b":null}],"data":{"items":[{"message":"UEsDBA=="},{"m":"\u0041\/"}]}}`))
	f.Add([]byte(`{"data":{"items":[{"message":"UEsD\u0042A=="}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := readAll(bytes.NewReader(b), deliveryLimits{items: 8, bytes: 1 << 16})
		if err != nil {
			var r *refusal
			if !errors.As(err, &r) {
				t.Fatal(err)
			}
			return
		}
		var same struct {
			Data map[string]json.RawMessage `json:"data"`
		}
		var whole map[string]json.RawMessage
		must.Do(t, json.Unmarshal(b, &whole))
		must.Do(t, json.Unmarshal(whole["data"], &same.Data))
		var items []map[string]json.RawMessage
		must.Do(t, json.Unmarshal(same.Data["items"], &items))
		if len(items) != len(got) {
			t.Fatalf("%d items, the other reader has %d", len(got), len(items))
		}
		for i := range items {
			var s string
			must.Do(t, json.Unmarshal(items[i]["message"], &s))
			want, err := base64.StdEncoding.Strict().DecodeString(s)
			if err != nil || !bytes.Equal(got[i], want) {
				t.Fatalf("item %d differs: %v", i, err)
			}
		}
	})
}

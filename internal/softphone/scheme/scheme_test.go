package scheme

import (
	"errors"
	"strings"
	"testing"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/call"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		number string
		state  call.State
		links  []string
	}{
		{"+31612345678", call.Ringing, []string{
			"wiebelt:call?number=%2B31612345678", "wiebelt:call?number=+31612345678", // decoded on the way
			"wiebelt:call?number= 31612345678", // decoded twice
			"wiebelt:call?number=%2031612345678",
		}},
		{"0612345678", call.Ringing, []string{
			"wiebelt:call?number=%200612345678", "wiebelt:call?number=0612345678", "wiebelt:call?number=%30612345678",
			"wiebelt://call?number=0612345678", "wiebelt://call/?number=0612345678", "wiebelt:call/?number=0612345678",
			"wiebelt://call?number=0612345678/", "WIEBELT:call?number=0612345678", "Wiebelt://CALL/?number=0612345678",
			"wiebelt:call?number=0612345678&state=ringing", "wiebelt:call?number=0612345678&id=1&line=2&name=J%20",
			"wiebelt:call?number=0612345678&via=x&direction=outgoing&reason=missed&token=y&base_url=https%3A%2F%2Fevil.example",
		}},
		{"101", call.Ringing, []string{"wiebelt:call?number=101"}},
		{"+12345678901234567890", call.Ringing, []string{"wiebelt:call?number=%2b12345678901234567890"}},
		{"0612345678", call.Answered, []string{
			"wiebelt://call/?number=0612345678&state=answered/", "wiebelt:call?state=answered&number=0612345678",
		}},
	} {
		// Everything else is unset, whatever the link contains.
		want := call.Event{Source: call.Source{Kind: call.KindURL, ReportLevel: call.RingOnly}, Number: tt.number, State: tt.state}
		for _, uri := range tt.links {
			if got, err := Parse(uri); err != nil || got != want {
				t.Errorf("%s: %+v, %v", uri, got, err)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for want, links := range map[error][]string{
		ErrNotOurs: {
			"", "wiebelt", "0612345678", "tel:0612345678", "http://call?number=0612345678", "wiebelt.evil:call?number=0612345678",
			" wiebelt:call?number=0612345678", "\"wiebelt:call?number=0612345678", "--wiebelt:call?number=0612345678",
		},
		ErrForm: {
			"wiebelt:", "wiebelt:call", "wiebelt:call?", "wiebelt:?number=0612345678", "wiebelt:calls?number=0612345678",
			"wiebelt:open?number=0612345678", "wiebelt:call/x?number=0612345678", "wiebelt:call//?number=0612345678",
			"wiebelt:///call?number=0612345678", "wiebelt:////call?number=0612345678", "wiebelt:/call?number=0612345678",
			"wiebelt://user@call?number=0612345678", "wiebelt://call:80?number=0612345678",
			"wiebelt://evil.example/call?number=0612345678", "wiebelt:%63all?number=0612345678",
			`wiebelt:\\evil\share?number=0612345678`, `wiebelt:call?number=0612345678" --profile "\\x`,
			"wiebelt:call?number=0612345678\x00", "wiebelt:call?number=0612345678\n", "wiebelt:call?number=0612345678%00",
			"wiebelt:call?number=0612345678%0a", "wiebelt:call?number=06\u202e12345678", "wiebelt:call?number=0612345678#x",
			"wiebelt:call?x=1#y&number=0612345678", "wiebelt:call?number=0612345678&", "wiebelt:call?&number=0612345678",
			"wiebelt:call?number", "wiebelt:call?number=0612345678&=x", "wiebelt:call?number=0612345678&a b=x",
			"wiebelt:call?number=0612345678&x=%zz", "wiebelt:call?number=0612345678&x=%4", "wiebelt:call?number=0612345678&x=%7f",
			"wiebelt:call?number=0612345678&x=%", "wiebelt:call?number=0612345678&number=1",
			"wiebelt:call?state=ringing&number=1234&state=answered", "wiebelt:call?number=0612345678" + strings.Repeat("&x=1", 999),
			"wiebelt:call?n%75mber=0612345678",
		},
		ErrNumber: {
			"wiebelt:call?number=0612345678%26state=ended", "wiebelt:call?state=ringing", "wiebelt:call?Number=0612345678",
			"wiebelt:call?number=", "wiebelt:call?number=12", "wiebelt:call?number=+12", "wiebelt:call?number=123456789012345678901",
			"wiebelt:call?number=06-12345678", "wiebelt:call?number=06%2012345678", "wiebelt:call?number=++31612345678",
			"wiebelt:call?number=+", "wiebelt:call?number=anonymous", "wiebelt:call?number=sip%3A0612345678%40x",
			"wiebelt:call?number=0612345678;ext=1", "wiebelt:call?number=%D9%A0%D9%A1%D9%A2%D9%A3", // Arabic digits
			"wiebelt:call?number=0612345678?state=answered", "wiebelt:call?number=0612345678//",
			"wiebelt:call?number=%252B31612345678", // escaped twice
		},
		ErrState: {
			"wiebelt:call?number=0612345678&state=ended", "wiebelt:call?number=0612345678&state=",
			"wiebelt:call?number=0612345678&state=Ringing", "wiebelt:call?number=0612345678&state=ringing+",
		},
		address.ErrPlaceholder: {
			"wiebelt:call?number={phone}", "wiebelt:call?number=%7Bphone%7D", "wiebelt:call?number=%CallerNumber%",
			"wiebelt:call?number=%%CallerNumber%%", "wiebelt:call?number=$caller$", "wiebelt:call?number=<m>",
		},
	} {
		for _, uri := range links {
			got, err := Parse(uri)
			if !errors.Is(err, want) || got != (call.Event{}) {
				t.Errorf("%.80q: %+v, %v, want %v", uri, got, err, want)
			}
			if err != nil && strings.Contains(err.Error(), "12345678") {
				t.Errorf("error holds the link: %v", err)
			}
		}
	}
}

// TestMutations: every change of one byte is either refused
// or yields no more than a link may contain.
func TestMutations(t *testing.T) {
	const good = "wiebelt://call/?number=%2B31612345678&state=answered"
	for i := range good {
		for _, c := range []byte("\x00\n\r\t \"'\\/#?&=%+:;@<>{}|^`$~0A\x7f\x80\xff") {
			uri := good[:i] + string(c) + good[i+1:]
			check(t, uri)
			check(t, good[:i]+string(c)+good[i:])
		}
		check(t, good[:i])
		check(t, good[i:])
	}
}

// check fails the test if parsing a link yields more than a link may contain.
func check(t *testing.T, uri string) {
	t.Helper()
	e, err := Parse(uri)
	if err != nil {
		if e != (call.Event{}) {
			t.Errorf("%q: event with an error", uri)
		}
		return
	}
	digits := strings.TrimPrefix(e.Number, "+")
	if len(digits) < 3 || len(digits) > 20 || strings.Trim(digits, "0123456789") != "" {
		t.Errorf("%q: number %q", uri, e.Number)
	}
	if e.State == call.Ended {
		t.Errorf("%q ends a call", uri)
	}
	rest := e
	rest.Number, rest.State = "", call.Ringing
	if rest != (call.Event{Source: call.Source{Kind: call.KindURL, ReportLevel: call.RingOnly}}) {
		t.Errorf("%q: says too much: %+v", uri, e)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"wiebelt:call?number=%2B31612345678", "wiebelt://call/?number=0612345678&state=answered/", "wiebelt:call?number=%%CallerNumber%%", "wiebelt:call?x=%41&number= 316"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, uri string) { check(t, uri) })
}

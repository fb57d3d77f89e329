package scheme

import (
	"errors"
	"strings"
	"testing"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/call"
)

func TestParse(t *testing.T) {
	for uri, want := range map[string]struct {
		number string
		state  call.State
	}{
		"wiebelt:call?number=%2B31612345678":                   {"+31612345678", call.Ringing},
		"wiebelt:call?number=+31612345678":                     {"+31612345678", call.Ringing}, // decoded on the way
		"wiebelt:call?number= 31612345678":                     {"+31612345678", call.Ringing}, // decoded twice
		"wiebelt:call?number=%2031612345678":                   {"+31612345678", call.Ringing},
		"wiebelt:call?number=%200612345678":                    {"0612345678", call.Ringing},
		"wiebelt:call?number=0612345678":                       {"0612345678", call.Ringing},
		"wiebelt:call?number=%30612345678":                     {"0612345678", call.Ringing},
		"wiebelt:call?number=101":                              {"101", call.Ringing},
		"wiebelt:call?number=%2b12345678901234567890":          {"+12345678901234567890", call.Ringing},
		"wiebelt://call?number=0612345678":                     {"0612345678", call.Ringing},
		"wiebelt://call/?number=0612345678":                    {"0612345678", call.Ringing},
		"wiebelt:call/?number=0612345678":                      {"0612345678", call.Ringing},
		"wiebelt://call?number=0612345678/":                    {"0612345678", call.Ringing},
		"wiebelt://call/?number=0612345678&state=answered/":    {"0612345678", call.Answered},
		"WIEBELT:call?number=0612345678":                       {"0612345678", call.Ringing},
		"Wiebelt://CALL/?number=0612345678":                    {"0612345678", call.Ringing},
		"wiebelt:call?number=0612345678&state=ringing":         {"0612345678", call.Ringing},
		"wiebelt:call?state=answered&number=0612345678":        {"0612345678", call.Answered},
		"wiebelt:call?number=0612345678&id=1&line=2&name=J%20": {"0612345678", call.Ringing},
		"wiebelt:call?number=0612345678&via=x&direction=outgoing&reason=missed&token=y&base_url=https%3A%2F%2Fevil.example": {"0612345678", call.Ringing},
	} {
		got, err := Parse(uri)
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		// Everything else is unset, whatever the link contains.
		if exp := (call.Event{Source: call.Source{Kind: call.KindURL, ReportLevel: call.RingOnly}, Number: want.number, State: want.state}); got != exp {
			t.Errorf("%s: %+v", uri, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for uri, want := range map[string]error{
		"":                                                             ErrNotOurs,
		"wiebelt":                                                      ErrNotOurs,
		"0612345678":                                                   ErrNotOurs,
		"tel:0612345678":                                               ErrNotOurs,
		"http://call?number=0612345678":                                ErrNotOurs,
		"wiebelt.evil:call?number=0612345678":                          ErrNotOurs,
		" wiebelt:call?number=0612345678":                              ErrNotOurs,
		"\"wiebelt:call?number=0612345678":                             ErrNotOurs,
		"--wiebelt:call?number=0612345678":                             ErrNotOurs,
		"wiebelt:":                                                     ErrForm,
		"wiebelt:call":                                                 ErrForm,
		"wiebelt:call?":                                                ErrForm,
		"wiebelt:?number=0612345678":                                   ErrForm,
		"wiebelt:calls?number=0612345678":                              ErrForm,
		"wiebelt:open?number=0612345678":                               ErrForm,
		"wiebelt:call/x?number=0612345678":                             ErrForm,
		"wiebelt:call//?number=0612345678":                             ErrForm,
		"wiebelt:///call?number=0612345678":                            ErrForm,
		"wiebelt:////call?number=0612345678":                           ErrForm,
		"wiebelt:/call?number=0612345678":                              ErrForm,
		"wiebelt://user@call?number=0612345678":                        ErrForm,
		"wiebelt://call:80?number=0612345678":                          ErrForm,
		"wiebelt://evil.example/call?number=0612345678":                ErrForm,
		"wiebelt:%63all?number=0612345678":                             ErrForm,
		`wiebelt:\\evil\share?number=0612345678`:                       ErrForm,
		`wiebelt:call?number=0612345678" --profile "\\x`:               ErrForm,
		"wiebelt:call?number=0612345678\x00":                           ErrForm,
		"wiebelt:call?number=0612345678\n":                             ErrForm,
		"wiebelt:call?number=0612345678%00":                            ErrForm,
		"wiebelt:call?number=0612345678%0a":                            ErrForm,
		"wiebelt:call?number=06\u202e12345678":                         ErrForm,
		"wiebelt:call?number=0612345678#x":                             ErrForm,
		"wiebelt:call?x=1#y&number=0612345678":                         ErrForm,
		"wiebelt:call?number=0612345678&":                              ErrForm,
		"wiebelt:call?&number=0612345678":                              ErrForm,
		"wiebelt:call?number":                                          ErrForm,
		"wiebelt:call?number=0612345678&=x":                            ErrForm,
		"wiebelt:call?number=0612345678&a b=x":                         ErrForm,
		"wiebelt:call?number=0612345678&x=%zz":                         ErrForm,
		"wiebelt:call?number=0612345678&x=%4":                          ErrForm,
		"wiebelt:call?number=0612345678&x=%7f":                         ErrForm,
		"wiebelt:call?number=0612345678&x=%":                           ErrForm,
		"wiebelt:call?number=0612345678&number=1":                      ErrForm,
		"wiebelt:call?number=0612345678%26state=ended":                 ErrNumber,
		"wiebelt:call?state=ringing&number=1234&state=answered":        ErrForm,
		"wiebelt:call?number=0612345678" + strings.Repeat("&x=1", 999): ErrForm,
		"wiebelt:call?state=ringing":                                   ErrNumber,
		"wiebelt:call?Number=0612345678":                               ErrNumber,
		"wiebelt:call?n%75mber=0612345678":                             ErrForm,
		"wiebelt:call?number=":                                         ErrNumber,
		"wiebelt:call?number=12":                                       ErrNumber,
		"wiebelt:call?number=+12":                                      ErrNumber,
		"wiebelt:call?number=123456789012345678901":                    ErrNumber,
		"wiebelt:call?number=06-12345678":                              ErrNumber,
		"wiebelt:call?number=06%2012345678":                            ErrNumber,
		"wiebelt:call?number=++31612345678":                            ErrNumber,
		"wiebelt:call?number=+":                                        ErrNumber,
		"wiebelt:call?number=anonymous":                                ErrNumber,
		"wiebelt:call?number=sip%3A0612345678%40x":                     ErrNumber,
		"wiebelt:call?number=0612345678;ext=1":                         ErrNumber,
		"wiebelt:call?number=%D9%A0%D9%A1%D9%A2%D9%A3":                 ErrNumber, // Arabic digits
		"wiebelt:call?number=0612345678?state=answered":                ErrNumber,
		"wiebelt:call?number=0612345678//":                             ErrNumber,
		"wiebelt:call?number=%252B31612345678":                         ErrNumber, // escaped twice
		"wiebelt:call?number=0612345678&state=ended":                   ErrState,
		"wiebelt:call?number=0612345678&state=":                        ErrState,
		"wiebelt:call?number=0612345678&state=Ringing":                 ErrState,
		"wiebelt:call?number=0612345678&state=ringing+":                ErrState,
		"wiebelt:call?number={phone}":                                  address.ErrPlaceholder,
		"wiebelt:call?number=%7Bphone%7D":                              address.ErrPlaceholder,
		"wiebelt:call?number=%CallerNumber%":                           address.ErrPlaceholder,
		"wiebelt:call?number=%%CallerNumber%%":                         address.ErrPlaceholder,
		"wiebelt:call?number=$caller$":                                 address.ErrPlaceholder,
		"wiebelt:call?number=<m>":                                      address.ErrPlaceholder,
	} {
		got, err := Parse(uri)
		if !errors.Is(err, want) {
			t.Errorf("%.80q: %v, want %v", uri, err, want)
		}
		if got != (call.Event{}) {
			t.Errorf("%.80q: event with an error: %+v", uri, got)
		}
		if err != nil && strings.Contains(err.Error(), "12345678") {
			t.Errorf("error holds the link: %v", err)
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

package ring

import (
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"wiebelt/internal/core/call"
)

// TestRingTakesWhatPhonesFillIn: a value from a phone is never
// taken for an option of ours, and a missing one does no harm.
func TestRingTakesWhatPhonesFillIn(t *testing.T) {
	const dir = "/profile"
	const number = "+31698760011"
	for _, c := range []struct {
		args string // separated by |
		want call.Event
	}{
		{"--name|-x|--|" + number, call.Event{Number: number, Name: "-x"}},
		{"--name|--no-start|--|" + number, call.Event{Number: number, Name: "--no-start"}},
		{"--name|--twinkle|--|" + number, call.Event{Number: number, Name: "--twinkle"}},
		{"--name|--profile|--|" + number, call.Event{Number: number, Name: "--profile"}},
		{"--name|--|" + number, call.Event{Number: number}},
		{"--name||--|" + number, call.Event{Number: number}},
		{"--id|-1|--|" + number, call.Event{Number: number, ID: "-1"}},
		{"--id|--|" + number, call.Event{Number: number}},
		{"--line|--|" + number, call.Event{Number: number}},
		{"--line|--bogus|--|" + number, call.Event{Number: number, Line: "--bogus"}},
		{"--via|-|--|" + number, call.Event{Number: number, Via: "-"}},
		{"--via|--name|--|" + number, call.Event{Number: number, Via: "--name"}},
		{"--name=--|--|" + number, call.Event{Number: number, Name: "--"}},
		{"--state||--|" + number, call.Event{Number: number}},
		{"--state|Answered|--|" + number, call.Event{Number: number, State: call.Answered}},
		{"--state=ENDED|--|" + number, call.Event{Number: number, State: call.Ended}},
		{"--direction|outbound|--|" + number, call.Event{Number: number, Direction: call.Outgoing}},
		{"--direction|Unknown|--|" + number, call.Event{Number: number, Direction: call.DirectionUnknown}},
		{"--direction||--|" + number, call.Event{Number: number}},
		{"--|" + number + "|--name|x", call.Event{Number: number, Name: "--name x"}},
		{number + "|--name|x", call.Event{Number: number, Name: "--name x"}},
		{"--name|x|--|" + number + "|y", call.Event{Number: number, Name: "x"}},
		{"--|--|x", call.Event{Number: "--", Name: "x"}},
		{"--name", call.Event{}},
		{"--", call.Event{}},
		{"--|-" + number, call.Event{Number: "-" + number}},
	} {
		r, err := parse(append([]string{"--profile", dir}, strings.Split(c.args, "|")...), nil, "")
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		c.want.Source = r.Event.Source
		if r.Event != c.want || r.Profile != dir || r.NoStart || r.Answer != "" {
			t.Errorf("%s: %+v, want %+v", c.args, r, c.want)
		}
	}
	for _, args := range [][]string{{"--profile", dir, "ring", "--name", "-x", "--", number}, {"--profile=" + dir, "ring", "--name", "-x", "--", number},
		{"ring", "--profile", dir, "--no-start", "--name", "-x", number}, {"--language", "en", "--profile=" + dir, "ring", "--name", "-x", number},
		{"--profile", dir, "--language=en", "ring", "--name", "-x", number}, {"--profile", dir, "--language", "", "ring", "--name", "-x", number}} {
		rest, ok := Args(args)
		if r, err := parse(rest, nil, ""); !ok || err != nil || r.Event.Name != "-x" || r.Event.Number != number || r.Profile != dir || (r.Language == "en") != strings.Contains(strings.Join(args, "="), "=en") {
			t.Errorf("%q: %+v %v", args, r, err)
		}
	}
	for _, args := range [][]string{nil, {"--profile"}, {"lookup", "ring"}, {"--profile", "ring"}, {"--profile", dir, "lookup"}, {"--profile", dir, "--", "ring"}, {"--state", "ended", "ring"}} {
		if _, ok := Args(args); ok {
			t.Errorf("%q is a ring", args)
		}
	}
	for why, all := range map[error][][]string{
		ErrFlag:      {{"--bogus", "--", number}, {"--number", number}, {"-x"}, {"--twinkle=yes"}},
		ErrState:     {{"--state", "dancing", "--", number}},
		ErrDirection: {{"--direction", "up", "--", number}},
		ErrHelp:      {{"--help"}, {"--name", "x", "-h"}},
		ErrProfile: {{"--profile", `\\evil.example\share`, "--", number}, {"--profile", "//evil.example/share", "--", number},
			{"--name", "x", "--profile", `\\evil.example\share`, "--", number}, {"--profile", "--", number}},
	} {
		for _, args := range all {
			if _, err := parse(args, nil, ""); err != why {
				t.Errorf("%q: %v, want %v", args, err, why)
			}
		}
	}
}

// TestFieldsNobodySees: everything that arguments can contain, which other users of
// the computer can read, can go through standard input or the environment instead.
func TestFieldsNobodySees(t *testing.T) {
	all := call.Event{State: call.Ended, Direction: call.Outgoing, ID: "7", Number: "0201234567", Name: "Mevr. Jansen = thuis", Line: "0207654321", Via: "Receptie"}
	env := map[string]string{"WIEBELT_STATE": "ended", "WIEBELT_DIRECTION": "outgoing", "WIEBELT_ID": "7", "WIEBELT_NUMBER": all.Number,
		"WIEBELT_NAME": all.Name, "WIEBELT_LINE": all.Line, "WIEBELT_VIA": all.Via, "WIEBELT_OTHER": "x"}
	const lines = "\ufeffstate=ended\r\ndirection=outgoing\nid=7\nnumber=0201234567\nName=Mevr. Jansen = thuis\nname=twice\nline=0207654321\nvia=Receptie\nother=x\nprofile=/elsewhere\n"
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		in   string
		want call.Event
	}{
		"environment":          {nil, env, "name=not asked for", all},
		"input":                {[]string{"--stdin"}, nil, lines, all},
		"input before it":      {[]string{"--stdin"}, map[string]string{"WIEBELT_NUMBER": "1", "WIEBELT_ID": "8"}, "number=2\n", call.Event{Number: "2", ID: "8"}},
		"arguments before all": {[]string{"--stdin", "--name", "x", "--", "0612345678"}, env, lines, call.Event{State: call.Ended, Direction: call.Outgoing, ID: "7", Number: "0612345678", Name: "x", Line: all.Line, Via: all.Via}},
		"the number alone":     {[]string{"--stdin"}, nil, "+31201234567", call.Event{Number: "+31201234567"}},
		"a SIP address":        {[]string{"--stdin"}, nil, "sip:0612345678@pbx;user=phone", call.Event{Number: "sip:0612345678@pbx;user=phone"}},
		"an empty line ends":   {[]string{"--stdin"}, nil, "number=1\n\nname=x", call.Event{Number: "1"}},
		"nothing":              {[]string{"--stdin"}, nil, "", call.Event{}},
	} {
		r, err := parse(c.args, c.env, c.in)
		c.want.Source = r.Event.Source
		if err != nil || r.Event != c.want || r.Profile != "" {
			t.Errorf("%s: %+v %v, want %+v", name, r, err, c.want)
		}
	}
	if r, err := parse([]string{"--stdin", "--", "1"}, nil, "name="+strings.Repeat("x", 1<<20)); err != nil || len(r.Event.Name) > call.MaxName {
		t.Errorf("a line without an end: %d bytes, %v", len(r.Event.Name), err)
	}
	if _, err := Parse([]string{"--stdin"}, os.Getenv, iotest.ErrReader(io.ErrClosedPipe)); err != ErrInput {
		t.Errorf("input that fails: %v", err)
	}
}

func parse(args []string, env map[string]string, in string) (Request, error) {
	return Parse(args, func(name string) string { return env[name] }, strings.NewReader(in))
}

// TestClear: the programs that we start do not inherit the call.
func TestClear(t *testing.T) {
	env := []string{"WIEBELT_NUMBER=x", "WIEBELT_OTHER=stays", "WIEBELT_NAME=x", "SIP_FROM=x", "TWINKLE_TRIGGER=x", "NAME=stays", "HOME=/"}
	if got := withoutCall(env); !slices.Equal(got, []string{"WIEBELT_OTHER=stays", "NAME=stays", "HOME=/"}) {
		t.Errorf("%q", got)
	}
}

// TestLone: a link that contains a quote becomes several arguments, and is refused as a whole.
func TestLone(t *testing.T) {
	for _, c := range []struct {
		args              []string
		argument, profile string
	}{
		{[]string{"--", "wiebelt:call"}, "wiebelt:call", ""},
		{[]string{"--", "--profile"}, "--profile", ""},
		{[]string{"--profile", "/p", "--", "wiebelt:call"}, "wiebelt:call", "/p"},
	} {
		if argument, profile, err := SingleArgument(c.args); argument != c.argument || profile != c.profile || err != nil {
			t.Errorf("%q: %q, %q, %v", c.args, argument, profile, err)
		}
	}
	for _, args := range [][]string{
		nil, {"wiebelt:call"}, {"x", "wiebelt:call"}, {"--", "wiebelt:call", "x"}, {"--", "wiebelt:call", "--profile", "/p"},
		{"--profile", "/p", "wiebelt:call", "--"}, {"--language", "/p", "--", "wiebelt:call"},
		{"--profile", "p", "--", "wiebelt:call"}, {"--profile", "//host/p", "--", "wiebelt:call"},
		{"--profile", `\\host\p`, "--", "wiebelt:call"},
	} {
		if argument, profile, err := SingleArgument(args); argument != "" || profile != "" || !errors.Is(err, ErrSingleArgument) {
			t.Errorf("%q: %q, %q, %v", args, argument, profile, err)
		}
	}
}

// TestScreen: Wiebelt runs on either kind of screen.
func TestScreen(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	if HasScreen() != (runtime.GOOS != "linux") {
		t.Error("there is a screen")
	}
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY"} {
		t.Run(name, func(t *testing.T) {
			if t.Setenv(name, "x"); !HasScreen() {
				t.Error("there is no screen")
			}
		})
	}
}

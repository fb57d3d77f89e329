package simulate_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
)

func TestParse(t *testing.T) {
	s, err := simulate.Parse([]byte("\ufeff# a comment\r\ntitle nl: Proef # niet de titel\r\ntitle en: Trial: one\r\nrepeat 3\r\n\r\n" +
		"  0\tring a number=\"06 12345678\" name=\"J. \\\"Jan\\\" de \\\\ Vries\" line=020-7654321 # here\r\n" +
		"+1.5 again a\n+0.25 answer a\n+0 ring b-2 withheld via=\"Schade\"\n4 caller a number=101 name=#1\n4.125 pause\n" +
		"+1 end b-2 elsewhere\n6 end a\n6 ring a outgoing number=*31#0201234567\n7 end a"))
	if err != nil {
		t.Fatal(err)
	}
	ms := time.Millisecond
	want := &simulate.Scenario{Title: map[string]string{"nl": "Proef", "en": "Trial: one"}, Repeat: 3, Steps: []simulate.Step{
		{Line: 6, Verb: simulate.Ring, Name: "a", Call: simulate.Call{Number: "06 12345678", Name: `J. "Jan" de \ Vries`, Line: "020-7654321"}},
		{Line: 7, At: 1500 * ms, Verb: simulate.RingAgain, Name: "a"},
		{Line: 8, At: 1750 * ms, Verb: simulate.Answer, Name: "a"},
		{Line: 9, At: 1750 * ms, Verb: simulate.Ring, Name: "b-2", Call: simulate.Call{Via: "Schade"}},
		{Line: 10, At: 4000 * ms, Verb: simulate.ChangeCaller, Name: "a", Call: simulate.Call{Number: "101", Name: "#1"}},
		{Line: 11, At: 4125 * ms, Verb: simulate.Pause},
		{Line: 12, At: 5125 * ms, Verb: simulate.End, Name: "b-2", Reason: call.AnsweredElsewhere},
		{Line: 13, At: 6000 * ms, Verb: simulate.End, Name: "a", Reason: call.Completed},
		{Line: 14, At: 6000 * ms, Verb: simulate.Ring, Name: "a", Call: simulate.Call{Number: "*31#0201234567", Direction: "outgoing"}},
		{Line: 15, At: 7000 * ms, Verb: simulate.End, Name: "a", Reason: call.Missed},
	}}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v\nwant %+v", s, want)
	}
}

// TestMistakes checks that a mistake is reported with its line, and with what to write instead.
func TestMistakes(t *testing.T) {
	const ok = "0 ring a number=1\n"
	for text, want := range map[string]struct {
		line int
		why  string
	}{
		"":                                    {0, "no steps"},
		"\xff":                                {0, "UTF-8"},
		strings.Repeat("#", 65<<10):           {0, "longer"},
		"#" + strings.Repeat("#", 1<<10):      {1, "longer"},
		"1e3 ring a number=1":                 {1, "time"},
		"1.0000 ring a number=1":              {1, "time"},
		".5 ring a number=1":                  {1, "time"},
		ok + "+.5 answer a":                   {2, "time"},
		"99999 ring a number=1":               {1, "a day"},
		"0":                                   {1, "what happens"},
		"0 call a":                            {1, "not one of ring"},
		"0 \"ring\" a number=1":               {1, "not one of ring"},
		"0 ring":                              {1, "name of the call"},
		"0 ring a/b number=1":                 {1, "name of the call"},
		"0 ring aaaaaaaaaaaaaaaaa number=1":   {1, "name of the call"},
		"0 ring a":                            {1, "one of number= and withheld"},
		"0 ring a number=1 withheld":          {1, "one of number= and withheld"},
		"0 ring a number=anonymous":           {1, "digits"},
		"0 ring a number=+":                   {1, "digits"},
		"0 ring a number=1 number=2":          {1, "twice"},
		"0 ring a withheld name=Jan":          {1, "no name"},
		"0 ring a withheld outgoing":          {1, "goes out"},
		"0 ring a number=1 name=\"\"":         {1, "empty"},
		"0 ring a number=1 name=\"x\u202ey\"": {1, "odd"},
		"0 ring a number=1 line=Schade":       {1, "our own"},
		"0 ring a number=1 colour=red":        {1, "only number="},
		"0 ring a number=\"1":                 {1, "quote"},
		"0 ring a number=\"1\"2":              {1, "quote"},
		ok + "0 ring a number=1":              {2, "on already"},
		ok + "0 answer b":                     {2, "no such call"},
		ok + "0 answer a now":                 {2, "nothing more"},
		ok + "0 answer a\n0 answer a":         {3, "answered already"},
		ok + "0 answer a\n0 again a":          {3, "answered already"},
		ok + "0 end a because":                {2, "completed, missed"},
		ok + "0 end a completed":              {2, "answered is completed"},
		ok + "0 answer a\n0 end a missed":     {3, "answered is completed"},
		ok + "0 caller a line=1 number=2":     {2, "only number="},
		ok + "0 caller a outgoing number=2":   {2, "only number="},
		ok + "0 pause a":                      {2, "nothing more"},
		ok + "repeat 2":                       {2, "before the first"},
		"3 ring a number=1\n2 end a":          {2, "before that of the step above"},
		"repeat 1001\n" + ok:                  {1, "1 to 1000"},
		"repeat\n" + ok:                       {1, "how often"},
		"title de: Probe\n" + ok:              {1, "title nl:"},
		"title nl: a\ntitle nl: b\n" + ok:     {2, "second title"},
		"title nl:\n" + ok:                    {1, "empty"},
		ok + strings.Repeat("+0 pause\n", simulate.MaxSteps): {simulate.MaxSteps + 1, "more than 1000"},
		func() (s string) {
			for i := range 33 {
				s += fmt.Sprintf("0 ring c%d number=1\n", i)
			}
			return
		}(): {33, "more than 32"},
	} {
		s, err := simulate.Parse([]byte(text))
		var m *simulate.Mistake
		if !errors.As(err, &m) || m.Line != want.line || !strings.Contains(m.Why.Error(), want.why) {
			t.Errorf("%.60q: %v, %+v; want line %d, %q", text, err, s, want.line, want.why)
		}
	}
}

func TestBuiltin(t *testing.T) {
	all := simulate.Builtin()
	if len(all) < 10 {
		t.Fatalf("only %d scenarios", len(all))
	}
	for _, s := range all {
		if s.Title["nl"] == "" || s.Title["en"] == "" {
			t.Errorf("%s has no title in both languages", s.ID)
		}
		if got, ok := simulate.Find(s.ID); !ok || !reflect.DeepEqual(got, s) {
			t.Errorf("%s is not found", s.ID)
		}
	}
	if _, ok := simulate.Find("../customer"); ok {
		t.Error("a scenario outside the folder")
	}
}

// FuzzScenario checks that parsing any text ends cleanly, and that what was parsed
// respects the limits and the order of each call.
func FuzzScenario(f *testing.F) {
	for _, s := range []string{"", "0 ring a number=1", "title nl: x\nrepeat 2\n0 ring a withheld\n+1 answer a\n2.5 caller a number=\"06 1\"\n+1 end a completed\n",
		"0 ring a number=\"1\\\"", "+1 ring a number=1 name=\"a\\\\\\\"b\" via=c line=2 outgoing#", "99999.999 pause", "0 ring a number=1\n0 ring b number=2\n0 end a rejected"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := simulate.Parse(b)
		if err != nil {
			var m *simulate.Mistake
			if !errors.As(err, &m) || m.Why == nil || m.Line < 0 || m.Line > strings.Count(string(b), "\n")+1 {
				t.Fatalf("%#v", err)
			}
			return
		}
		if len(s.Steps) == 0 || len(s.Steps) > simulate.MaxSteps || s.Repeat < 1 || s.Repeat > simulate.MaxRepeat {
			t.Fatalf("%d steps, played %d times", len(s.Steps), s.Repeat)
		}
		on, before := map[string]bool{}, time.Duration(0)
		for _, step := range s.Steps {
			answered, is := on[step.Name]
			if step.At < before || step.At > simulate.MaxTime || is == (step.Verb == simulate.Ring) && step.Verb != simulate.Pause {
				t.Fatalf("%+v after %v", step, before)
			}
			before = step.At
			switch step.Verb {
			case simulate.Ring:
				on[step.Name] = false
			case simulate.Answer:
				on[step.Name] = true
			case simulate.End:
				if answered != (step.Reason == call.Completed) {
					t.Fatalf("%+v", step)
				}
				delete(on, step.Name)
			}
			for _, text := range []string{step.Call.Name, step.Call.Via, step.Call.Line, step.Call.Number} {
				if call.CleanText(text, call.MaxName) != text {
					t.Fatalf("%q came through", text)
				}
			}
			if len(on) > simulate.MaxCalls || step.Call.Number != "" && !simulate.IsNumber(step.Call.Number) {
				t.Fatalf("%d calls, %+v", len(on), step)
			}
		}
	})
}

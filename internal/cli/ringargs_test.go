package cli

import (
	"strings"
	"testing"

	"wiebelt/internal/call"
)

// TestRingTakesWhatPhonesFillIn: a value of a phone's own is never an option of
// ours, and one that is missing costs nothing.
func TestRingTakesWhatPhonesFillIn(t *testing.T) {
	dir := t.TempDir()
	events := running(t, dir)
	const number = "+31698760011"
	tried := 0
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
		{"--direction||--|" + number, call.Event{Number: number}},
		{"--|" + number + "|--name|x", call.Event{Number: number, Name: "--name x"}},
		{number + "|--name|x", call.Event{Number: number, Name: "--name x"}},
		{"--|--|x", call.Event{Number: "--", Name: "x"}},
		{"--name", call.Event{}},
		{"--", call.Event{}},
		{"--|-" + number, call.Event{Number: "-" + number}},
	} {
		tried++
		code, _, errOut := run(t, "", noStart(append([]string{"ring", "--profile", dir}, strings.Split(c.args, "|")...))...)
		if code != 0 {
			t.Errorf("%s: exit %d: %s", c.args, code, errOut)
			continue
		}
		e := events.next(t)
		c.want.Way, c.want.At = e.Way, e.At
		if e != c.want {
			t.Errorf("%s: %+v, want %+v", c.args, e, c.want)
		}
	}
	for _, args := range [][]string{{"--profile", dir, "ring", "--name", "-x", "--", number}, {"--profile=" + dir, "ring", "--name", "-x", "--", number}} {
		if code, _, errOut := run(t, "", noStart(args)...); code != 0 {
			t.Errorf("%q: exit %d: %s", args, code, errOut)
		} else if e := events.next(t); e.Name != "-x" || e.Number != number {
			t.Errorf("%q: %+v", args, e)
		}
	}
	if tried < 20 {
		t.Errorf("only %d", tried)
	}
	for _, args := range [][]string{{"--bogus", "--", number}, {"--state", "dancing", "--", number}, {"--direction", "up", "--", number},
		{"--profile", `\\evil.example\share`, "--", number}, {"--profile", "//evil.example/share", "--", number}, {"--name", "x", "--profile", `\\evil.example\share`, "--", number}} {
		if code, _, _ := run(t, "", noStart(append([]string{"ring"}, args...))...); code != 2 {
			t.Errorf("%q: exit %d, want 2", args, code)
		}
	}
	if len(events) > 0 {
		t.Errorf("wrong use brought %+v", events.next(t))
	}
}

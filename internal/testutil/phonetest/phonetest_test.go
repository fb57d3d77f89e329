package phonetest_test

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/testutil/phonetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The helpers are only worth something if a call really arrives, and ends the
// way the scenario says.
func TestCallArrives(t *testing.T) {
	b := phonetest.New(t)
	conn, err := net.Dial("tcp", b.Control)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	r := bufio.NewReader(conn)
	for _, s := range []phonetest.Scenario{
		{Number: "+31612345678", Name: "J. de Vries"},
		{Number: "0612345678", Answer: true, Ring: 20 * time.Millisecond, Talk: 20 * time.Millisecond},
		{Number: "0612345678", Reject: true},
	} {
		phonetest.Call(t, b.SIP, s)
		seen := ""
		for !strings.Contains(seen, "CALL_CLOSED") {
			part, err := r.ReadString('}')
			if seen += part; err != nil {
				t.Fatalf("no end of the call after %q: %v", seen, err)
			}
		}
		if !strings.Contains(seen, `"type":"CALL_INCOMING"`) || !strings.Contains(seen, s.Number+"@") {
			t.Errorf("events do not tell of the call: %s", seen)
		}
		if got := strings.Contains(seen, "CALL_ESTABLISHED"); got != s.Answer {
			t.Errorf("answered: %v, want %v", got, s.Answer)
		}
	}
}

package outbox

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"wiebelt/internal/hub"
)

// FuzzReceipt gives the outbox every answer that a hub, or something in front of it, may
// give to one or two items.
func FuzzReceipt(f *testing.F) {
	for _, s := range []int{0, 100, 200, 204, 207, 302, 401, 403, 407, 409, 413, 418, 429, 500, 503, 999, -1} {
		f.Add(s, `{"data":{"items":[{"status":201},{"status":422}]}}`, int64(time.Second), true, byte(0))
		f.Add(s, "<!DOCTYPE html><html>", int64(-1), false, byte(1))
	}
	f.Add(200, "", int64(1<<62), true, byte(2))
	f.Add(200, strings.Repeat("[", 10_000), int64(0), true, byte(2))
	f.Fuzz(func(t *testing.T, status int, body string, after int64, whole bool, kind byte) {
		r := hub.Receipt{Status: status, Answer: body, RetryAfter: time.Duration(after), WebPage: kind&1 != 0, Early: kind&2 != 0, Broken: kind&4 != 0}
		rules := retryRules{firstWait: time.Second, jitter: plainJitter, retry: kind&8 != 0}
		for n := 1; n <= 2; n++ {
			all := []bool{whole, true}[:n]
			for i, o := range classifyAll(r, nil, all, kind&16 != 0) {
				if o.class == classDelivered && (r.WebPage || r.Early || r.Broken || status < 200 || status > 299) {
					t.Fatalf("%+v is called done", r)
				}
				if o.class == classDelivered && n == 1 && body == "" && status != 204 && status != 205 {
					t.Fatalf("nothing is called done: %+v", r)
				}
				if o.class == classDelivered && n == 1 && strings.Contains(strings.ToLower(body[:min(len(body), 100)]), "<html") &&
					strings.HasPrefix(body, "<") {
					t.Fatalf("a page is called done: %+v", r)
				}
				it := beginRequest(Item{State: Waiting, Added: monday}, monday)
				next, e := decide(it, o, monday, rules)
				switch next.State {
				case Waiting:
					if next.NextTry.Before(monday) || next.NextTry.Sub(monday) > 25*time.Hour {
						t.Fatalf("again in %v", next.NextTry.Sub(monday))
					}
				case Delivered, Refused, Uncertain:
				default:
					t.Fatalf("state %q", next.State)
				}
				if next.State == Delivered && o.class != classDelivered {
					t.Fatalf("%v delivers", o.class)
				}
				if e.hold != "" && i == 0 && n == 1 && o.class != classHold {
					t.Fatalf("%v holds the queue", o.class)
				}
				q := Queue{}.apply(e, o.reason, monday, rules)
				if _, wait := q.maySend(monday); wait < 0 || wait > 2*time.Hour {
					t.Fatalf("the queue rests for %v", wait)
				}
				if !utf8.ValidString(string(o.reason)) {
					t.Fatal("reason")
				}
			}
		}
	})
}

package outbox

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/hub"
	"wiebelt/internal/store/sqlitefile"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

func tried(tries int, first time.Duration) Item {
	it := Item{ID: "x", State: Waiting, Added: monday.Add(-first), FirstTry: monday.Add(-first), LastTry: monday.Add(-time.Minute), Tries: tries - 1}
	return beginRequest(it, monday)
}

// TestDecide checks what happens next, for every class.
func TestDecide(t *testing.T) {
	r := retryRules{firstWait: time.Second, jitter: plainJitter}
	retry := r
	retry.retry = true
	with := func(it Item, change func(*Item)) Item {
		change(&it)
		return it
	}
	one := tried(1, 0)
	past := with(one, func(it *Item) { it.Deadline = monday })
	for _, c := range []struct {
		name  string
		it    Item
		o     outcome
		r     retryRules
		state State
		why   Reason
		wait  time.Duration // until NextTry, if Waiting
		e     effect
	}{
		{"done", one, outcome{class: classDelivered, status: 200}, r, Delivered, "", 0, effect{endPause: true}},
		{"done, past its time", past, outcome{class: classDelivered, status: 200}, r, Delivered, "", 0, effect{endPause: true}},
		{"permanent", one, outcome{class: classPermanent, reason: RefusedByHub, status: 422}, r, Refused, RefusedByHub, 0,
			effect{endPause: true}},
		{"permanent after a doubt", with(one, func(it *Item) { it.unknownAttempts = 1 }), outcome{class: classPermanent, reason: RefusedByHub, status: 422}, r, Uncertain, RefusedByHub, 0, effect{endPause: true}},
		{"copy gone", one, outcome{class: classCopyLost, reason: CopyMissing}, r, Refused, CopyMissing, 0, effect{}},
		{"copy not readable", tried(2, 0), outcome{class: classCopyUnreadable, reason: CopyUnreadable}, r, Waiting, CopyUnreadable,
			2 * time.Second, effect{}},
		{"copy not readable for three days", tried(99, 80*time.Hour), outcome{class: classCopyUnreadable, reason: CopyUnreadable}, r, Refused, GaveUp, 0, effect{}},
		{"conflict", one, outcome{class: classConflict, reason: Conflict, status: 409}, retry, Uncertain, Conflict, 0, effect{endPause: true}},
		{"unknown", one, outcome{class: classUnknown, reason: NoAnswer}, r, Uncertain, NoAnswer, 0, effect{pause: true}},
		{"unknown, to be sent again", one, outcome{class: classUnknown, reason: NoAnswer}, retry, Waiting, NoAnswer, time.Second,
			effect{pause: true}},
		{"unknown, past its time", past, outcome{class: classUnknown, reason: NoAnswer}, retry, Uncertain, NoAnswer, 0, effect{pause: true}},
		{"unknown, third time", with(tried(3, 0), func(it *Item) { it.unknownAttempts = 2 }), outcome{class: classUnknown, reason: NoAnswer}, retry, Waiting, NoAnswer, 4 * time.Second, effect{pause: true}},
		{"unknown, fourth time", with(tried(4, 0), func(it *Item) { it.unknownAttempts = 3 }), outcome{class: classUnknown, reason: NoAnswer}, retry, Uncertain, NoAnswer, 0, effect{pause: true}},
		{"hold", one, outcome{class: classHold, reason: Forbidden, status: 403}, r, Waiting, Forbidden, 0, effect{hold: Forbidden}},
		{"cut, after a doubt", with(one, func(it *Item) { it.Reason = NoAnswer }), outcome{class: classAborted}, r, Waiting, NoAnswer,
			0, effect{}},
		{"split", one, outcome{class: classSplit, reason: SentAlone, status: 400}, r, Waiting, SentAlone, 0, effect{endPause: true}},
		{"safe", one, outcome{class: classUnsent, reason: Unreachable}, r, Waiting, Unreachable, 0, effect{pause: true}},
		{"safe, asked", one, outcome{class: classUnsent, reason: Unreachable, retryAfter: time.Minute}, r, Waiting, Unreachable, 0, effect{pause: true, minPause: time.Minute}},
		{"safe for three days", tried(12, 72*time.Hour), outcome{class: classUnsent, reason: Unreachable}, r, Refused, GaveUp, 0,
			effect{pause: true}},
		{"safe, second try after three days of sleep", tried(2, 72*time.Hour), outcome{class: classUnsent, reason: Unreachable}, r, Waiting, Unreachable, 0, effect{pause: true}},
		{"later", tried(3, time.Hour), outcome{class: classRetryLater, reason: RetryLater, status: 500}, r, Waiting, RetryLater,
			4 * time.Second, effect{endPause: true}},
		{"later, at most", tried(40, time.Hour), outcome{class: classRetryLater, reason: RetryLater, status: 500}, r, Waiting, RetryLater, 15 * time.Minute, effect{endPause: true}},
		{"later, asked", one, outcome{class: classRetryLater, reason: RetryLater, status: 429, retryAfter: 30 * time.Second}, r, Waiting, RetryLater, 33 * time.Second, effect{pause: true, minPause: 30 * time.Second, endPause: true}},
		{"later, asked too much", one, outcome{class: classRetryLater, reason: RetryLater, status: 503, retryAfter: 9 * time.Hour}, r, Waiting, RetryLater, 61 * time.Minute, effect{pause: true, minPause: time.Hour, endPause: true}},
		{"later for three days", tried(50, 72*time.Hour), outcome{class: classRetryLater, reason: RetryLater, status: 503}, r, Refused, GaveUp, 0, effect{endPause: true}},
		{"later for three days, after a doubt", with(tried(50, 72*time.Hour), func(it *Item) { it.unknownAttempts = 1 }), outcome{class: classRetryLater, reason: RetryLater, status: 503}, r, Uncertain, GaveUp, 0, effect{endPause: true}},
		{"later for three days, and maybe delivered", tried(50, 72*time.Hour), outcome{class: classRetryLater, reason: RetryLater, status: 500, mayHave: true}, r, Uncertain, GaveUp, 0, effect{endPause: true}},
		{"odd", one, outcome{class: classOddStatus, reason: OddStatus, status: 418}, r, Waiting, OddStatus, time.Minute, effect{endPause: true}},
		{"odd, fifth time", with(tried(5, 0), func(it *Item) { it.oddAttempts = 4 }), outcome{class: classOddStatus, reason: OddStatus, status: 418}, r, Waiting, OddStatus, 8 * time.Hour, effect{endPause: true}},
		{"odd, sixth time", with(tried(6, 0), func(it *Item) { it.oddAttempts = 5 }), outcome{class: classOddStatus, reason: OddStatus, status: 418}, r, Refused, OddStatus, 0, effect{endPause: true}},
		{"odd, past its time", past, outcome{class: classOddStatus, reason: OddStatus, status: 418}, r, Refused, OddStatus, 0,
			effect{endPause: true}},
		{"past its time", past, outcome{class: classUnsent, reason: Unreachable}, r, Refused, GaveUp, 0, effect{pause: true}},
		{"long before its time", with(one, func(it *Item) { it.Deadline = monday.Add(time.Hour) }), outcome{class: classRetryLater, reason: RetryLater, status: 500}, r, Waiting, RetryLater, time.Second, effect{endPause: true}},
		{"a last time", with(tried(9, time.Hour), func(it *Item) { it.Deadline = monday.Add(lastChance + 7*time.Second) }), outcome{class: classRetryLater, reason: RetryLater, status: 500}, r, Waiting, RetryLater, 7 * time.Second, effect{endPause: true}},
	} {
		got, e := decide(c.it, c.o, monday, c.r)
		if got.State != c.state || got.Reason != c.why || e != c.e {
			t.Errorf("%s: %s %q %+v, want %s %q %+v", c.name, got.State, got.Reason, e, c.state, c.why, c.e)
		}
		if got.State == Waiting && !got.NextTry.Equal(monday.Add(c.wait)) {
			t.Errorf("%s: again in %v, want %v", c.name, got.NextTry.Sub(monday), c.wait)
		}
		if got.State.IsFinal() == got.Decided.IsZero() || got.State.IsFinal() != got.NextTry.IsZero() {
			t.Errorf("%s: decided %v, next %v", c.name, got.Decided, got.NextTry)
		}
		want := 1
		switch c.o.class {
		case classUnsent, classHold, classAborted, classCopyLost, classCopyUnreadable:
			want = 0
		}
		if n := got.Attempts - c.it.Attempts; n != want {
			t.Errorf("%s: %d attempts counted", c.name, n)
		}
	}
	// A hold uses up nothing, not even an item's days.
	it, _ := decide(tried(50, 71*time.Hour), outcome{class: classHold, reason: CredentialsRefused}, monday, r)
	if it.Tries != 49 || !it.FirstTry.IsZero() || !beginRequest(it, monday).FirstTry.Equal(monday) {
		t.Errorf("after a hold: %d tries, first %v, then %v", it.Tries, it.FirstTry, beginRequest(it, monday).FirstTry)
	}
	if it := tried(2, -time.Hour); !it.FirstTry.Equal(monday) {
		t.Errorf("under another clock: first tried %v", it.FirstTry)
	}
	// The waits after odd statuses, at their longest, fit into a day.
	var sum time.Duration
	for _, d := range oddStatusWaits {
		sum += d
	}
	if len(oddStatusWaits) != 5 || sum > 24*time.Hour {
		t.Errorf("%d repeats in %v", len(oddStatusWaits), sum)
	}
}

// TestNothingLeftToSend: what is too late is not sent any more, also on hold, and a person may
// forget what waits. A hold that is then left with nothing ends: what is added next is sent at once.
func TestNothingLeftToSend(t *testing.T) {
	for _, hold := range []bool{false, true} {
		for _, late := range []bool{false, true} {
			now := clocktest.New(monday)
			b := open(t, Options{Now: now.Now, Hub: says(hub.Receipt{Status: 200, Answer: "ok"})})
			a := must.Get(b.Add(t.Context(), Source{Path: write(t, "a.zip", []byte("a")), Intermediary: "x", GiveUpAfter: time.Minute}))(t)
			if hold {
				must.Do(t, b.tx(t.Context(), func(tx *sql.Tx) error {
					return writeQueue(t.Context(), tx, Queue{}.apply(effect{hold: Forbidden}, Forbidden, monday, b.rules()))
				}))
			}
			if late {
				now.Forward(time.Minute)
				drive(t, b)
				if it := get(t, b, a.Item.ID); it.State != Refused || it.Reason != GaveUp || it.Tries != 0 || !it.Decided.Equal(now.Now()) {
					t.Errorf("on hold %v: %+v", hold, it)
				}
			} else {
				must.Do(t, b.Forget(t.Context(), a.Item.ID, true))
			}
			if q := must.Get(b.Queue(t.Context()))(t); q.HoldReason != "" {
				t.Errorf("late %v: held for nothing: %s", late, q.HoldReason)
			}
			next := add(t, b, write(t, "b.zip", []byte("b")))
			drive(t, b)
			if it := get(t, b, next.ID); it.State != Delivered {
				t.Errorf("on hold %v, late %v: the next one is %s", hold, late, it.State)
			}
		}
	}
}

// TestTryNow checks that who lifts the pause of a hub that is busy also sends what the hub put off,
// and that this asks a hub that is still busy no more than once.
func TestTryNow(t *testing.T) {
	for _, status := range []int{429, 503} {
		sent, busy := 0, true
		b := open(t, Options{Now: clocktest.New(monday).Now, Hub: to(answering(func([][]byte) (hub.Receipt, error) {
			if sent++; busy {
				return hub.Receipt{Status: status, RetryAfter: time.Hour}, nil
			}
			return hub.Receipt{Status: 200, Answer: "ok"}, nil
		}))})
		first, second := add(t, b, write(t, "a.zip", []byte("a"))), add(t, b, write(t, "b.zip", []byte("b")))
		for _, want := range []int{1, 2, 3, 5} {
			drive(t, b)
			if busy = want < 3; sent != want {
				t.Errorf("%d: %d requests, want %d", status, sent, want)
			}
			must.Do(t, b.Release(t.Context()))
		}
		for _, it := range []Item{first, second} {
			if got := get(t, b, it.ID); got.State != Delivered {
				t.Errorf("%d: %+v", status, got)
			}
		}
	}
}

// TestLateIsLookedUp checks that nobody reads all waiting items to find those that are too late.
func TestLateIsLookedUp(t *testing.T) {
	b := open(t, Options{})
	plan := must.Get(sqlitefile.Rows(func(row sqlitefile.Row) (step string, err error) {
		return step, row.Scan(new(int), new(int), new(int), &step)
	})(b.db.Query("EXPLAIN QUERY PLAN SELECT * FROM items WHERE id IN ("+selectLate+")", monday.UnixMicro())))(t)
	if all := strings.Join(plan, "; "); !strings.Contains(all, "items_late (deadline>? AND deadline<?)") || strings.Contains(all, "SCAN") {
		t.Error(all)
	}
}

// TestQueue checks that pauses grow, that holds are
// probed, and that setting the clock back lifts both.
func TestQueue(t *testing.T) {
	r := retryRules{firstWait: time.Second, jitter: plainJitter}
	var q Queue
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		if q = q.apply(effect{pause: true}, Unreachable, monday, r); q.ResumeAt.Sub(monday) != want*time.Second {
			t.Errorf("pause %d: %v", i, q.ResumeAt.Sub(monday))
		}
	}
	if open, wait := q.maySend(monday.Add(time.Second)); open || wait != 59*time.Second {
		t.Errorf("open %v, wait %v", open, wait)
	}
	if open, _ := q.maySend(monday.Add(time.Minute)); !open {
		t.Error("still resting")
	}
	if open, _ := q.maySend(monday.Add(-time.Hour)); !open {
		t.Error("resting under another clock")
	}
	if q = q.apply(effect{pause: true, minPause: time.Hour}, RetryLater, monday, r); q.ResumeAt.Sub(monday) != time.Hour {
		t.Errorf("asked for an hour: %v", q.ResumeAt.Sub(monday))
	}
	held := q.apply(effect{hold: Forbidden}, Forbidden, monday, r)
	if open, wait := held.maySend(monday.Add(time.Minute)); open || wait != 14*time.Minute || held.PauseReason != "" {
		t.Errorf("held: open %v, %v", open, wait)
	}
	if open, _ := held.maySend(monday.Add(15 * time.Minute)); !open {
		t.Error("a hold is never probed")
	}
	if open, _ := held.maySend(monday.Add(-time.Hour)); !open {
		t.Error("held under another clock")
	}
	again := held.apply(effect{hold: CredentialsRefused}, CredentialsRefused, monday.Add(15*time.Minute), r)
	if again.HoldReason != CredentialsRefused || !again.HeldSince.Equal(monday) {
		t.Errorf("held again: %+v", again)
	}
	if q = again.apply(effect{endPause: true}, "", monday, r); q != (Queue{}) {
		t.Errorf("the hub answered: %+v", q)
	}
	if q = again.apply(effect{}, "", monday, r); q != again {
		t.Errorf("nothing happened: %+v", q)
	}
}

// TestDueUnderAnotherClock checks that an item is due at its time, or if its times were
// written with a clock that was ahead. Until an item is tried, the time it was added counts.
func TestDueUnderAnotherClock(t *testing.T) {
	for _, untried := range []time.Duration{0, -time.Hour} {
		for shift, want := range map[time.Duration]bool{0: false, 14 * time.Minute: false, maxBackoff: true, -time.Second: true, -365 * 24 * time.Hour: true, 365 * 24 * time.Hour: true} {
			now := clocktest.New(monday)
			b := open(t, Options{Now: now.Now, firstWait: time.Hour, Hub: says(hub.Receipt{Status: 500})})
			it := add(t, b, write(t, "a.zip", []byte("a")))
			now.Forward(untried)
			if tried, _, err := b.step(t.Context()); !tried || err != nil {
				t.Errorf("clock moved by %v before the first try: %v, %v", untried, tried, err)
			}
			now.Forward(shift)
			items, _, err := b.next(t.Context(), now.Now())
			if err != nil || (len(items) == 1 && items[0].ID == it.ID) != want {
				t.Errorf("clock moved by %v and %v: %d due, %v", untried, shift, len(items), err)
			}
			if want {
				continue
			}
			must.Get(b.Retry(t.Context(), it.ID))(t)
			if items, _, err := b.next(t.Context(), now.Now()); err != nil || len(items) != 1 {
				t.Errorf("sent again by hand: %d due, %v", len(items), err)
			}
		}
	}
}

// TestRetriedUnderAnotherClock: what a user sends again is due, even if the clock
// is set back after that.
func TestRetriedUnderAnotherClock(t *testing.T) {
	now := clocktest.New(monday)
	b := open(t, Options{Now: now.Now, firstWait: time.Hour, Hub: says(hub.Receipt{Status: 422})})
	it := add(t, b, write(t, "a.zip", []byte("a")))
	drive(t, b)
	now.Forward(200 * time.Hour)
	must.Get(b.Retry(t.Context(), it.ID))(t)
	now.Forward(-199 * time.Hour)
	if items, _, err := b.next(t.Context(), now.Now()); err != nil || len(items) != 1 {
		t.Errorf("%d due, %v", len(items), err)
	}
}

// TestWords: every state, reason and trouble has a text.
func TestWords(t *testing.T) {
	var keys []text.Key
	for _, s := range []State{Waiting, Sending, Delivered, Refused, Uncertain} {
		keys = append(keys, text.DeliveryState(string(s)))
	}
	for _, r := range []Reason{RefusedByHub, GaveUp, CopyMissing, CopyDamaged, CopyUnreadable, NoAnswer, ErrorNamed, NotAnAnswer, Unclear, Conflict, Interrupted, Recovered, ResolvedByPerson,
		Unreachable, RetryLater, OddStatus, SentAlone, CredentialsRefused, Forbidden, ProxyLogin, Redirected, Certificate, NotSetUp,
		"empty", "changed", "not_a_file", "unreadable"} {
		keys = append(keys, text.DeliveryReason(string(r)))
	}
	for _, k := range []string{DiskFull, ReadOnly, SpoolGone, StoreBroken, Exposed, DiskFailed} {
		keys = append(keys, text.DeliveryTroubleOf(k), text.DeliveryTroubleDo(k))
	}
	for _, k := range keys {
		for _, l := range []text.Language{text.Dutch, text.English} {
			if s := l.T(k); s == string(k) || s == "" {
				t.Errorf("%s has no text in %s", k, l)
			}
		}
	}
}

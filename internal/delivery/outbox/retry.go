package outbox

import "time"

type effect struct {
	hold     Reason        // stop until an administrator acts
	pause    bool          // pause briefly, longer each time
	minPause time.Duration // pause at least that long
	endPause bool          // the hub answers: end any pause
}

// weight ranks the effects of one request.
func (e effect) weight() int {
	switch {
	case e.hold != "":
		return 3
	case e.pause:
		return 2
	case e.endPause:
		return 1
	}
	return 0
}

// Limits of retries.
const (
	giveUp        = 72 * time.Hour
	minTries      = 12 // a computer that slept for days has tried only once
	maxUnknowns   = 3
	maxBackoff    = 15 * time.Minute // between two retries
	maxRetryAfter = time.Hour        // the longest wait a hub may request
	maxQueuePause = time.Minute      // for the queue
	lastChance    = time.Minute      // before an item's deadline it is tried once more
)

// oddStatusWaits are the waits before retries after an odd status:
// even at their longest, they take less than a day in total.
var oddStatusWaits = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 8 * time.Hour}

type retryRules struct {
	retry     bool          // uncertain items are sent again
	firstWait time.Duration // before the first retry
	jitter    func(time.Duration) time.Duration
}

// beginRequest returns the item at the start of a request.
func beginRequest(it Item, now time.Time) Item {
	it.State, it.FullyRead, it.LastTry = Sending, false, now
	it.Tries++
	if it.FirstTry.IsZero() || it.FirstTry.After(now) {
		it.FirstTry = now
	}
	return it
}

// transition is what the end of a request does to an item and to the queue.
type transition struct {
	attempts int    // 1: the request may have reached the hub
	unused   int    // 1: it does not count as a try
	expires  bool   // give up once it has been tried for long enough
	end      State  // "": the item is sent again
	effect   effect // on the queue
}

// transitions define what each class does. classUnknown pauses the queue, since
// whatever swallows answers would otherwise make item after item uncertain.
var transitions = map[class]transition{
	classUnsent:         {expires: true, effect: effect{pause: true}},
	classDelivered:      {attempts: 1, end: Delivered, effect: effect{endPause: true}},
	classUnknown:        {attempts: 1, end: Uncertain, effect: effect{pause: true}},
	classPermanent:      {attempts: 1, end: Refused, effect: effect{endPause: true}},
	classHold:           {unused: 1}, // an item must not lose tries through no fault of its own
	classConflict:       {attempts: 1, end: Uncertain, effect: effect{endPause: true}},
	classRetryLater:     {attempts: 1, expires: true, effect: effect{endPause: true}},
	classOddStatus:      {attempts: 1, effect: effect{endPause: true}},
	classCopyLost:       {end: Refused},
	classCopyUnreadable: {expires: true},
	classSplit:          {attempts: 1, effect: effect{endPause: true}},
	classAborted:        {unused: 1},
}

// decide returns the item, and the effect on the queue, after a
// request with the item has ended. Apart from the jitter it is pure.
func decide(it Item, o outcome, now time.Time, r retryRules) (Item, effect) {
	t := transitions[o.class]
	e, end, wait, asked := t.effect, t.end, time.Duration(0), min(o.retryAfter, maxRetryAfter)
	if o.class != classAborted {
		it.Reason, it.Status = o.reason, o.status
	}
	it.Attempts += t.attempts
	it.Tries -= t.unused
	if o.mayHave { // counts once, however often it is sent again
		it.unknownAttempts = max(it.unknownAttempts, 1)
	}
	if t.expires && it.expired(now) {
		it.Reason = GaveUp
		return it.asRefused(now), e
	}
	switch o.class {
	case classUnsent:
		e.minPause = asked
	case classUnknown:
		it.unknownAttempts++
		e.minPause = asked
		if r.retry && it.unknownAttempts <= maxUnknowns && !it.expired(now) {
			end, wait = "", r.backoff(it.Tries)
		}
	case classHold:
		it.FirstTry, e.hold = time.Time{}, o.reason
	case classRetryLater:
		wait = max(r.backoff(it.Tries), asked+r.jitter(min(asked/10, time.Minute)))
		e.pause, e.minPause = o.status == 429 || o.status == 503, asked // these concern the hub and us, not this item
	case classOddStatus:
		if it.oddAttempts++; it.oddAttempts > len(oddStatusWaits) || it.expired(now) {
			end = Refused
		} else {
			wait = r.jitter(oddStatusWaits[it.oddAttempts-1])
		}
	case classCopyUnreadable:
		wait = r.backoff(it.Tries)
	case classSplit:
		it.sendAlone = true
	}
	switch end {
	case "":
		return it.retryAfter(now, wait), e
	case Refused:
		return it.asRefused(now), e
	}
	return it.finish(end, now), e
}

func (it Item) expired(now time.Time) bool {
	if !it.Deadline.IsZero() && !now.Before(it.Deadline) {
		return true
	}
	return now.Sub(it.FirstTry) >= giveUp && it.Tries >= minTries
}

// asRefused returns the item as one that is no longer sent. If an
// earlier attempt may have delivered it, it becomes Uncertain instead.
func (it Item) asRefused(now time.Time) Item {
	if it.unknownAttempts > 0 {
		return it.finish(Uncertain, now)
	}
	return it.finish(Refused, now)
}

func (it Item) finish(s State, now time.Time) Item {
	it.State, it.Decided, it.NextTry = s, now, time.Time{}
	return it
}

func (it Item) retryAfter(now time.Time, wait time.Duration) Item {
	it.State, it.NextTry = Waiting, now.Add(wait)
	if last := it.Deadline.Add(-lastChance); it.NextTry.After(last) && last.After(now) {
		it.NextTry = last
	}
	return it
}

// backoff returns the wait after the given number of tries.
func (r retryRules) backoff(tries int) time.Duration {
	return r.jitter(r.doubled(tries-1, maxBackoff))
}

// doubled returns the first wait, doubled the given number of times, at most longest.
func (r retryRules) doubled(times int, longest time.Duration) time.Duration {
	d := r.firstWait
	for i := 0; i < times && d < longest; i++ {
		d *= 2
	}
	return min(d, longest)
}

// Queue is the state common to all items.
type Queue struct {
	HoldReason  Reason    // "" if it is not on hold
	HeldSince   time.Time // of the hold
	ProbeAt     time.Time // when one item is tried
	PauseReason Reason    // why the queue is paused; "" if it is not
	PausedSince time.Time
	ResumeAt    time.Time

	pauses int
}

// probeAfter is how long a hold lasts until one item is tried.
const probeAfter = 15 * time.Minute

// apply returns the queue after e, which had the reason why.
func (q Queue) apply(e effect, why Reason, now time.Time, r retryRules) Queue {
	switch {
	case e.hold != "":
		if q.HoldReason == "" {
			q.HeldSince = now
		}
		q.HoldReason, q.ProbeAt = e.hold, now.Add(probeAfter)
		q.PauseReason, q.PausedSince, q.ResumeAt, q.pauses = "", time.Time{}, time.Time{}, 0
	case e.pause:
		q = Queue{PauseReason: why, PausedSince: now, ResumeAt: now.Add(max(r.jitter(r.doubled(q.pauses, maxQueuePause)),
			e.minPause)), pauses: q.pauses + 1}
	case e.endPause:
		q = Queue{}
	}
	return q
}

// maySend reports whether sending is allowed, and if not, how long to wait. A clock
// that was set back opens it.
func (q Queue) maySend(now time.Time) (bool, time.Duration) {
	if now.Before(q.ProbeAt) && !now.Before(q.ProbeAt.Add(-probeAfter)) {
		return false, q.ProbeAt.Sub(now)
	}
	if now.Before(q.ResumeAt) && !now.Before(q.PausedSince) {
		return false, q.ResumeAt.Sub(now)
	}
	return true, 0
}

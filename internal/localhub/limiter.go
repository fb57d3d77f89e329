package localhub

import (
	"net/netip"
	"sync"
	"time"
)

const (
	limitWindow     = 5 * time.Minute // the longest wait; after twice as long without a try all is forgotten
	limitPerUser    = 5               // wrong passwords for a name from one network, or from browsers known for it
	limitPerNetwork = 50              // from one network, whatever the names
	limitKeys       = 10_000
)

// limiter slows down who tries passwords. What is counted is a name from a network
// and the network alone: others who try a name keep nobody out who knows its
// password. When the limit is reached every further try takes twice the wait of
// the one before. Of too many counters those go that were not used lately.
type limiter struct {
	mu          sync.Mutex
	seen, older map[limitKey]*counter // used lately, and before that; each half of limitKeys at most
}

// limitKey is what is counted: a name from a network, or from browsers that it
// has logged in with (known); without a name all of a network.
type limitKey struct {
	name    string
	network netip.Prefix
	known   bool
}

func (k limitKey) limit() int {
	if k.name == "" {
		return limitPerNetwork
	}
	return limitPerUser
}

type counter struct {
	tries     int
	next, end time.Time // when the next try may come; when all is forgotten
}

func newLimiter() *limiter { return &limiter{seen: map[limitKey]*counter{}} }

// network is what addresses are counted by: whoever has one address of an IPv6
// network has all of them, and in a /24 often several.
func network(remote string) netip.Prefix {
	a, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	bits := 64
	addr := a.Addr().Unmap().WithZone("")
	if addr.Is4() {
		bits = 24
	}
	p, _ := addr.Prefix(bits) // the bits fit
	return p
}

// try takes a try for all keys before the password is looked at, so that many at
// once do not get past. wait is how long to wait when one of them has none left;
// then nothing is taken.
func (l *limiter) try(now time.Time, keys ...limitKey) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		if c := l.find(k); c != nil {
			wait = max(wait, c.next.Sub(now))
		}
	}
	if wait > 0 {
		return wait, false
	}
	for _, k := range keys {
		c := l.find(k)
		if c == nil || !now.Before(c.end) {
			c = &counter{}
			l.keep(k, c)
		}
		c.tries++
		if over := c.tries - k.limit(); over >= 0 {
			c.next = now.Add(min(time.Second<<min(over, 10), limitWindow))
		}
		c.end = now.Add(2 * limitWindow)
	}
	return 0, true
}

// find gives a counter, which is used now; nil if there is none.
func (l *limiter) find(k limitKey) *counter {
	c := l.seen[k]
	if c == nil && l.older[k] != nil {
		c = l.older[k]
		l.keep(k, c)
	}
	return c
}

func (l *limiter) keep(k limitKey, c *counter) {
	if len(l.seen) == limitKeys/2 {
		l.seen, l.older = map[limitKey]*counter{}, l.seen
	}
	l.seen[k] = c
}

// back gives a try back that was not looked at. One that was right gives all of
// its name's back.
func (l *limiter) back(right bool, keys ...limitKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		if c := l.find(k); c != nil {
			c.tries, c.next = max(c.tries-1, 0), time.Time{}
			if right && k.name != "" {
				c.tries = 0
			}
		}
	}
}

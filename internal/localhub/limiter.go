package localhub

import (
	"net/netip"
	"sync"
	"time"
)

const (
	limitWindow     = 5 * time.Minute // the longest wait; twice that without a try resets a counter
	limitPerUser    = 5               // wrong passwords for a name from one network, or from browsers known for it
	limitPerNetwork = 50              // from one network, for any names
	limitKeys       = 10_000
)

// limiter slows down password guessing. It counts per name and network, and per
// network: others who guess a name's password do not lock out its user. Beyond the
// limit the wait doubles with every try. If there are too many counters, the least
// recently used are dropped.
type limiter struct {
	mu          sync.Mutex
	seen, older map[limitKey]*counter // recently used, and before; each at most half of limitKeys
}

// limitKey identifies what is counted: the tries for a name from a network, or from browsers
// in which that user has logged in (known); without a name, all tries from a network.
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
	next, end time.Time // earliest next try; when everything is forgotten
}

func newLimiter() *limiter { return &limiter{seen: map[limitKey]*counter{}} }

// network groups addresses: whoever has one address of an
// IPv6 network has all of them, and often several in a /24.
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
	p, _ := addr.Prefix(bits) // bits is valid
	return p
}

// try uses up a try for all keys before the password is checked, so
// that concurrent requests cannot get past the limit. If any key has
// no tries left, it uses up nothing and returns how long to wait.
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

// find returns a counter and marks it as recently used; nil if there is none.
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

// refund returns a try that was not checked. A correct password returns
// all tries of its name.
func (l *limiter) refund(right bool, keys ...limitKey) {
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

package command

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/relaylink"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

// site is three relays in separate processes, with exchanges and users.
type site struct {
	t      *testing.T
	relays []*process
	secret string
	desks  []*station
	hears  *simulate.ARI // an exchange that the relays listen to, if not nil

	mu     sync.Mutex
	calls  map[string]*ringing // all calls so far
	named  int                 // number of named calls
	missed int                 // calls missed by the user whose computer is off
	// membership is what that computer joined with.
	membership string
	deaf       [3]time.Time // when a relay did not answer
}

// ringing is a call according to the exchange.
type ringing struct {
	user  int
	state call.State
	via   int // the relay that last received it, or overheard
	told  time.Time
}

// overheard is the via of a call received by the relay that listens to the exchange.
const overheard = -1

// place is where a relay of a site runs: its address, and how to run something there.
type place struct {
	host string
	in   func(do func() error) error
}

// soaking means that tests also measure how long users wait.
var soaking = os.Getenv("SOAK") != ""

// beside makes a test that mostly waits run in parallel; if it measures how long
// users wait, it runs alone.
func beside(t *testing.T) {
	if !soaking {
		t.Parallel()
	}
}

// here has three addresses of this computer.
var here = []place{{host: "127.0.0.2"}, {host: "127.0.0.3"}, {host: "127.0.0.4"}}

// newSite creates a single relay, gives it n users, and extends it to three.
func newSite(t *testing.T, n int, at []place) *site {
	t.Helper()
	s := &site{t: t, calls: map[string]*ringing{}}
	dir, ports := t.TempDir(), freePorts(t)
	o := &office{t, filepath.Join(dir, "r1")}
	o.must("init", "kantoor", "--reached", at[0].host, "--host", at[0].host, "--nats-port", ports[0], "--web-port", ports[1], "--admin", "127.0.0.1:0")
	first := &process{t: t, dir: o.dir, in: at[0].in}
	first.load()
	first.start()
	d := first.directory()
	var codes []string
	for i := range n {
		codes = append(codes, invite(t, d, users.Entry{User: userNo(i), Extensions: []string{strconv.Itoa(1000 + i)}}))
	}
	s.relays, s.secret = []*process{first, first, first}, first.secret()
	s.away()
	first.kill()

	file := filepath.Join(dir, "site.relay")
	o.must("cluster", "make", file, "r1="+at[0].host, "r2="+at[1].host, "r3="+at[2].host, "--port", ports[2])
	s.relays = []*process{first}
	for i := 1; i < 3; i++ {
		o := &office{t, filepath.Join(dir, fmt.Sprint("r", i+1))}
		o.must("cluster", "join", file, "--name", fmt.Sprint("r", i+1), "--host", at[i].host, "--admin", "127.0.0.1:0")
		s.relays = append(s.relays, &process{t: t, dir: o.dir, in: at[i].in})
	}
	for _, p := range s.relays {
		p.load()
	}
	s.start(s.relays...)
	for i, code := range codes { // created while there was one relay
		s.desks = append(s.desks, s.desk(i, code))
	}
	s.settle()
	return s
}

// start starts relays simultaneously.
func (s *site) start(all ...*process) {
	s.t.Helper()
	var starting sync.WaitGroup
	before := s.t.Failed()
	for _, p := range all {
		starting.Go(p.start)
	}
	starting.Wait()
	if s.t.Failed() && !before {
		s.t.FailNow()
	}
}

// with runs do with the lock.
func (s *site) with(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// station is a user's Wiebelt: what it shows, according to its link.
type station struct {
	*site
	user   int
	phone  *relaylink.Phone
	stop   func()
	shown  map[string]call.State
	ended  map[string]bool
	wrong  []string
	states []link.State
}

func (s *site) desk(i int, code string) *station {
	s.t.Helper()
	var stored string
	s.tries(func() (err error) {
		stored, err = s.join(i%3, code)
		return err
	})
	return s.joined(i, stored, nil)
}

// join joins at a relay, and returns what has to be stored.
func (s *site) join(at int, code string) (string, error) {
	return relaylink.Join(s.t.Context(), s.relays[at].at.Web, code, s.relays[0].folder.Authority.Fingerprint())
}

// joined runs the Wiebelt of a joined user.
func (s *site) joined(i int, stored string, save relaylink.MissedSaver) *station {
	t := s.t
	t.Helper()
	p := must.Get(relaylink.New(exchangelink.Account{Address: "https://relay.kantoor.example", Secret: linktest.Secret(stored)}))(t)
	d := &station{site: s, user: i, phone: p.(*relaylink.Phone), shown: map[string]call.State{}, ended: map[string]bool{}}
	d.phone.SaveMissed(save)
	c := link.Config{Name: "relay", Receive: d.receive, StateChanged: func(now link.State) {
		s.with(func() { d.states = append(d.states, now) })
	}}
	d.stop = must.Run(t, func(ctx context.Context) { link.Run(ctx, c, p) })
	return d
}

func (d *station) receive(e call.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !strings.HasPrefix(strings.TrimPrefix(e.ID, "ari/"), string(userNo(d.user))+".") {
		d.wrong = append(d.wrong, e.ID+" is somebody else's")
	}
	if d.ended[e.ID] {
		d.wrong = append(d.wrong, e.ID+" comes back")
	}
	if e.State == call.Ended {
		delete(d.shown, e.ID)
		d.ended[e.ID] = true
		return nil
	}
	d.shown[e.ID] = e.State
	return nil
}

// say reports a call's state to a relay that accepts it: an exchange tries the next one
// if a relay does not answer.
func (s *site) say(id string, state call.State) {
	s.with(func() { s.calls[id].state = state })
	s.tell(id)
}

func (s *site) tell(id string) {
	var c ringing
	s.with(func() { c = *s.calls[id] })
	if c.via == overheard {
		linktest.AtAsterisk(s.hears, strings.TrimPrefix(id, "ari/"), fmt.Sprint(1000+c.user), "0698760012", c.state)
		return
	}
	via := s.post(fmt.Sprintf(`{"id":%q,"state":%q,"number":"0698760011","extension":"%d"}`, id, c.state, 1000+c.user))
	s.with(func() { s.calls[id].via, s.calls[id].told = via, time.Now() })
}

// post sends a report to the first relay that accepts it, and returns which.
func (s *site) post(body string) (via int) {
	for try, limit := rand.IntN(3), time.Now().Add(must.Patience); time.Now().Before(limit); try++ {
		var shun bool
		s.with(func() { shun = time.Since(s.deaf[try%3]) < 2*time.Second })
		if !shun && s.relays[try%3].report(s.secret, body) == nil {
			return try % 3
		}
		if !shun {
			s.with(func() { s.deaf[try%3] = time.Now() })
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.t.Error("nobody takes the report")
	return 0
}

// listen makes the relays listen to an Asterisk.
func (s *site) listen() {
	s.t.Helper()
	s.hears = must.Get(simulate.StartARI(context.Background(), "", linktest.Known))(s.t)
	s.t.Cleanup(func() { _ = s.hears.Close() })
	for _, p := range s.relays {
		s.listenAt(p)
	}
	s.holder()
}

func (s *site) listenAt(p *process) {
	s.t.Helper()
	code, _, errOut := typing(s.t, linktest.Known.Secret, "exchange", "add", "ari", "--address", s.hears.Address().Address, "--user", linktest.Known.User, "--data", p.dir)
	if code != 0 {
		s.t.Fatal(errOut)
	}
}

// holder waits until a relay listens, and returns which.
func (s *site) holder() (has int) {
	s.t.Helper()
	must.Soon(s.t, func() (bool, any) {
		has = slices.IndexFunc(s.relays, func(p *process) bool {
			all := p.status().Links
			return len(all) == 1 && all[0].State == link.Connected.String()
		})
		return has >= 0, "no relay that listens"
	})
	return has
}

// ring starts calls, at users in turn; if the relays listen to an exchange,
// one in eight rings there.
func (s *site) ring(n int) (ids []string) {
	for range n {
		u := s.named % len(s.desks)
		id, c := fmt.Sprintf("%s.%d", userNo(u), s.named), &ringing{user: u}
		if s.hears != nil && s.named%8 == 0 {
			id, c.via = "ari/"+id, overheard
		}
		s.named++
		s.with(func() { s.calls[id] = c })
		s.tell(id)
		ids = append(ids, id)
	}
	return ids
}

// that returns the ids of some calls.
func (s *site) that(are func(*ringing) bool) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, c := range s.calls {
		if are(c) {
			ids = append(ids, id)
		}
	}
	return ids
}

// lost repeats the reports that are lost when all relays are killed at once; otherwise the
// other relays know what one has accepted.
func (s *site) lost() {
	var telling errgroup.Group
	telling.SetLimit(8)
	for _, id := range s.that(func(c *ringing) bool {
		return c.via != overheard && (c.state != call.Ended || time.Since(c.told) < 5*time.Second)
	}) {
		telling.Go(func() error { s.tell(id); return nil })
	}
	_ = telling.Wait()
}

// differs describes what users see wrongly, "" if nothing.
func (s *site) differs() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.desks {
		for id, state := range d.shown {
			if c := s.calls[id]; c == nil || c.state != state {
				return fmt.Sprintf("%s is shown as %s: %+v", id, state, c)
			}
		}
		for id, c := range s.calls {
			if _, ok := d.shown[id]; c.user == d.user && c.state != call.Ended && !ok {
				phase := d.states[len(d.states)-1]
				return fmt.Sprintf("%s is not shown: %+v; the link is %s: %v", id, c, phase.Phase, phase.Err)
			}
		}
	}
	return ""
}

// settle waits until every user sees the actual state, and returns how long that took.
func (s *site) settle() time.Duration {
	s.t.Helper()
	return must.Soon(s.t, func() (bool, any) {
		why := s.differs()
		return why == "", why
	})
}

// during starts, answers and ends calls while do changes the relays.
func (s *site) during(do func()) {
	var busy sync.WaitGroup
	live := s.ring(200)
	busy.Go(do)
	for i, id := range live {
		switch i % 4 {
		case 0:
			s.say(id, call.Answered)
		case 1:
			s.say(id, call.Ended)
		case 2:
			s.ring(1)
		}
	}
	busy.Wait()
}

// over ends all calls.
func (s *site) over() {
	for _, id := range s.that(func(c *ringing) bool { return c.state != call.Ended }) {
		s.say(id, call.Ended)
	}
}

// soon waits until users see the actual state, and fails if they saw what never happened.
func (s *site) soon(what string) {
	s.t.Helper()
	took := s.settle()
	if took > 5*time.Second && soaking {
		s.t.Errorf("%s: right after %v", what, took)
	}
	s.with(func() {
		for _, d := range s.desks {
			for _, w := range d.wrong {
				s.t.Errorf("%s: %s", what, w)
			}
		}
	})
	s.forgive()
}

// forgive ignores what users have seen wrong so far. A call shown again still has to end.
func (s *site) forgive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.desks {
		d.wrong = nil
		for id := range d.shown {
			delete(d.ended, id)
		}
	}
}

// until waits for something to arrive.
func (s *site) until(what string, ok func() bool) {
	s.t.Helper()
	must.Soon(s.t, func() (bool, any) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return ok(), "not yet: " + what
	})
}

// answered waits until every user's lookups are answered, and fails if it took too long.
func (s *site) answered(what string, limit time.Duration) {
	s.t.Helper()
	began := time.Now()
	var asking errgroup.Group
	for _, d := range s.desks {
		asking.Go(func() error {
			for {
				_, err := d.phone.Lookup(s.t.Context(), "+31698760011")
				why, failed := errors.AsType[*contact.LookupError](err)
				if !failed || why.Failure != contact.ConnectionRefused && why.Failure != contact.HubSlow {
					return nil
				}
				if time.Since(began) > must.Patience {
					return err
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	err := asking.Wait()
	if took := time.Since(began); err != nil || took > limit && soaking {
		s.t.Errorf("%s: look-ups are answered after %v, %v", what, took, err)
	}
}

// is reports whether the link is in a phase, with nothing wrong behind it. The
// caller holds the lock.
func (d *station) is(p link.Phase) bool {
	i := len(d.states) - 1
	return i >= 0 && d.states[i].Phase == p && (p != link.Connected || d.states[i].Cause == link.NoCause)
}

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
	"wiebelt/internal/relay/server"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/relaylink"
)

// site is three relays in processes of their own, with an exchange and users.
type site struct {
	t      *testing.T
	relays []*process
	secret string
	desks  []*station

	mu    sync.Mutex
	calls map[string]*ringing // all that there have been
	named int                 // calls that got a name
	deaf  [3]time.Time        // when a relay did not answer
}

// ringing is a call as the exchange knows it.
type ringing struct {
	user  int
	state call.State
	via   int // the relay to which it was told last
	told  time.Time
}

// place is where a relay of a site runs: its address, and how it is started there.
type place struct {
	host   string
	launch func(start func() error) error
}

// here are three addresses of this computer.
var here = []place{{host: "127.0.0.2"}, {host: "127.0.0.3"}, {host: "127.0.0.4"}}

// newSite makes a relay that is alone, gives it n users, and makes it three.
func newSite(t *testing.T, n int, at []place) *site {
	t.Helper()
	s := &site{t: t, calls: map[string]*ringing{}}
	dir, ports := t.TempDir(), freePorts(t)
	o := &office{t, filepath.Join(dir, "r1")}
	o.must("init", "kantoor", "--reached", at[0].host, "--host", at[0].host, "--nats-port", ports[0], "--web-port", ports[1], "--admin", "127.0.0.1:0")
	first := &process{t: t, dir: o.dir, launch: at[0].launch}
	first.load()
	first.start()
	d := first.directory()
	var codes []string
	for i := range n {
		if err := d.Put(t.Context(), users.Entry{User: userNo(i), Extensions: []string{strconv.Itoa(1000 + i)}}); err != nil {
			t.Fatal(err)
		}
		code, err := d.Invite(t.Context(), userNo(i))
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, code)
	}
	first.kill()

	file := filepath.Join(dir, "site.relay")
	o.must("cluster", "make", file, "r1="+at[0].host, "r2="+at[1].host, "r3="+at[2].host, "--port", ports[2])
	s.relays = []*process{first}
	for i := 1; i < 3; i++ {
		o := &office{t, filepath.Join(dir, fmt.Sprint("r", i+1))}
		o.must("cluster", "join", file, "--name", fmt.Sprint("r", i+1), "--host", at[i].host, "--admin", "127.0.0.1:0")
		s.relays = append(s.relays, &process{t: t, dir: o.dir, launch: at[i].launch})
	}
	for _, p := range s.relays {
		p.load()
	}
	s.start(s.relays...)
	s.secret = first.secret()
	for i, code := range codes { // as made while there was one relay
		s.desks = append(s.desks, s.desk(i, code))
	}
	s.settle()
	return s
}

// start starts relays at the same time.
func (s *site) start(all ...*process) {
	s.t.Helper()
	var starting sync.WaitGroup
	for _, p := range all {
		starting.Go(p.start)
	}
	starting.Wait()
	if s.t.Failed() {
		s.t.FailNow()
	}
}

// station is a user's Wiebelt: what it shows, by what its link tells.
type station struct {
	user  int
	phone *relaylink.Phone

	mu     sync.Mutex
	shown  map[string]call.State
	ended  map[string]bool
	wrong  []string
	states []link.State
}

func (s *site) desk(i int, code string) *station {
	t := s.t
	t.Helper()
	stored, err := relaylink.Join(t.Context(), s.relays[i%3].at.Web, code, s.relays[0].folder.Authority.Fingerprint())
	if err != nil {
		t.Fatal(err)
	}
	p, err := relaylink.New(exchangelink.Account{Address: "https://relay.kantoor.example", Secret: func(context.Context) (string, error) { return stored, nil }})
	if err != nil {
		t.Fatal(err)
	}
	d := &station{user: i, phone: p.(*relaylink.Phone), shown: map[string]call.State{}, ended: map[string]bool{}}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		link.Run(ctx, link.Config{Name: "relay", Take: d.take, State: func(s link.State) {
			d.mu.Lock()
			d.states = append(d.states, s)
			d.mu.Unlock()
		}}, p)
	})
	t.Cleanup(func() { stop(); running.Wait() })
	return d
}

func (d *station) take(e call.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !strings.HasPrefix(e.ID, string(userNo(d.user))+"/") {
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

// say tells a state of a call to a relay that takes it: an exchange goes on with
// another one where the one that it tells does not answer.
func (s *site) say(id string, c *ringing, state call.State) {
	s.mu.Lock()
	c.state = state
	s.mu.Unlock()
	s.tell(id, c)
}

func (s *site) tell(id string, c *ringing) {
	s.mu.Lock()
	body := fmt.Sprintf(`{"id":%q,"state":%q,"number":"0698760011","extension":"%d"}`, id, c.state, 1000+c.user)
	s.mu.Unlock()
	for try, limit := rand.IntN(3), time.Now().Add(time.Minute); ; try++ {
		s.mu.Lock()
		shun := time.Since(s.deaf[try%3]) < 2*time.Second
		s.mu.Unlock()
		if !shun && s.relays[try%3].report(s.secret, body) == nil {
			s.mu.Lock()
			c.via, c.told = try%3, time.Now()
			s.mu.Unlock()
			return
		}
		if time.Now().After(limit) {
			s.t.Error("nobody takes the report")
			return
		}
		if !shun {
			s.mu.Lock()
			s.deaf[try%3] = time.Now()
			s.mu.Unlock()
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// ring lets calls ring, at users in turn.
func (s *site) ring(n int) (ids []string) {
	for range n {
		s.mu.Lock()
		u := s.named % len(s.desks)
		id := fmt.Sprintf("%s/%d", userNo(u), s.named)
		s.named++
		c := &ringing{user: u}
		s.calls[id] = c
		s.mu.Unlock()
		s.tell(id, c)
		ids = append(ids, id)
	}
	return ids
}

// lost tells again what a relay may have taken with it when it ended: whoever holds
// the link to an exchange reads what rings there before it goes on.
func (s *site) lost(relays ...int) {
	s.mu.Lock()
	again := map[string]*ringing{}
	for id, c := range s.calls {
		if slices.Contains(relays, c.via) && (c.state != call.Ended || time.Since(c.told) < 5*time.Second) {
			again[id] = c
		}
	}
	s.mu.Unlock()
	var telling errgroup.Group
	telling.SetLimit(8)
	for id, c := range again {
		telling.Go(func() error { s.tell(id, c); return nil })
	}
	_ = telling.Wait()
}

// differs says what users see that is not so, "" for nothing.
func (s *site) differs() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.desks {
		d.mu.Lock()
		for id, state := range d.shown {
			if c := s.calls[id]; c == nil || c.state != state {
				d.mu.Unlock()
				return fmt.Sprintf("%s is shown as %s: %+v", id, state, c)
			}
		}
		for id, c := range s.calls {
			if _, ok := d.shown[id]; c.user == d.user && c.state != call.Ended && !ok {
				phase := d.states[len(d.states)-1]
				d.mu.Unlock()
				return fmt.Sprintf("%s is not shown: %+v; the link is %s: %v", id, c, phase.Phase, phase.Err)
			}
		}
		d.mu.Unlock()
	}
	return ""
}

// settle waits until every user sees what is so, and tells how long that took.
func (s *site) settle() time.Duration {
	s.t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		why := s.differs()
		if why == "" {
			return time.Since(began)
		}
		if time.Since(began) > time.Minute {
			s.t.Fatal(why)
		}
	}
}

// during lets calls begin, be taken and end, while what is done to the relays is done.
func (s *site) during(do func()) {
	var busy sync.WaitGroup
	live := s.ring(200)
	busy.Go(do)
	for i, id := range live {
		s.mu.Lock()
		c := s.calls[id]
		s.mu.Unlock()
		switch i % 4 {
		case 0:
			s.say(id, c, call.Answered)
		case 1:
			s.say(id, c, call.Ended)
		case 2:
			s.ring(1)
		}
	}
	busy.Wait()
}

// over ends all calls.
func (s *site) over() {
	s.mu.Lock()
	all := map[string]*ringing{}
	for id, c := range s.calls {
		if c.state != call.Ended {
			all[id] = c
		}
	}
	s.mu.Unlock()
	for id, c := range all {
		s.say(id, c, call.Ended)
	}
}

// soon waits until users see what is so, and fails where they saw what never was, or
// for too long what was not so any more.
func (s *site) soon(what string) {
	s.t.Helper()
	took := s.settle()
	s.t.Logf("%s: right after %v", what, took.Round(10*time.Millisecond))
	if took > 5*time.Second && os.Getenv("SOAK") != "" { // which is not beside other tests
		s.t.Errorf("%s: right after %v", what, took)
	}
	for _, d := range s.desks {
		d.mu.Lock()
		for _, w := range d.wrong {
			s.t.Errorf("%s: %s", what, w)
		}
		d.mu.Unlock()
	}
	s.forgive()
}

// forgive leaves out what users saw wrong until now.
func (s *site) forgive() {
	for _, d := range s.desks {
		d.mu.Lock()
		d.wrong = nil
		d.mu.Unlock()
	}
}

// answered waits until every user's look-ups have an answer, whatever it is, and fails
// where that took longer than limit.
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
				if time.Since(began) > time.Minute {
					return err
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	err := asking.Wait()
	took := time.Since(began)
	s.t.Logf("%s: look-ups are answered after %v", what, took.Round(10*time.Millisecond))
	if err != nil || took > limit && os.Getenv("SOAK") != "" {
		s.t.Errorf("%s: look-ups are answered after %v, %v", what, took, err)
	}
}

// told adds a user at one relay and takes him out, and waits until another knows.
func (s *site) told(at, other int) {
	s.t.Helper()
	d := s.relays[at].directory()
	s.relays[other].until("the other works", func(now server.Status) bool { return now.Lacks == "" })
	began := time.Now()
	n := s.relays[other].status().Users
	knows := func(what string, users int) {
		s.relays[other].until(what+" is known elsewhere", func(now server.Status) bool { return now.Users == users })
	}
	if err := d.Put(s.t.Context(), users.Entry{User: "guest"}); err != nil {
		s.t.Fatal(err)
	}
	knows("a new user", n+1)
	if err := d.Remove(s.t.Context(), "guest"); err != nil {
		s.t.Fatal(err)
	}
	knows("a removed user", n)
	if took := time.Since(began); took > 10*time.Second && os.Getenv("SOAK") != "" { // five for each
		s.t.Errorf("both after %v", took)
	}
}

// TestClusterKilled: whichever of three relays is killed while two hundred calls ring,
// and all of them at once, every user sees his own calls again, each once, and none
// that is over; look-ups are answered again at once.
func TestClusterKilled(t *testing.T) {
	s := newSite(t, 20, here)
	rounds := 1
	if os.Getenv("SOAK") != "" {
		rounds = 5
	}
	for range rounds {
		for i, p := range s.relays {
			s.during(func() {
				p.kill()
				s.answered(fmt.Sprintf("r%d is killed", i+1), 2*time.Second)
			})
			s.lost(i)
			s.soon(fmt.Sprintf("r%d is killed", i+1))
			s.told((i+1)%3, (i+2)%3)
			s.over()
			p.start()
			s.soon(fmt.Sprintf("r%d is back", i+1))
		}
		s.ring(200)
		for _, p := range s.relays {
			p.kill()
		}
		var telling sync.WaitGroup
		telling.Go(func() { s.lost(0, 1, 2) })
		s.start(s.relays...)
		began := time.Now()
		telling.Wait()
		if took := time.Since(began); took > 2*time.Second && os.Getenv("SOAK") == "" {
			t.Logf("told again after %v, which is later than users wait for it", took)
			s.settle()
			s.forgive()
		}
		s.soon("all were killed")
		s.over()
		s.soon("all is over")
	}
}

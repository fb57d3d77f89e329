package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/relay/node"
	"wiebelt/internal/relay/server"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/natstest"
)

// guest adds a user at one relay, who joins at another, and removes them: they are soon
// disconnected, and unknown to the other relay.
func (s *site) guest(at, other int) {
	s.t.Helper()
	d, ctx := s.relays[at].directory(), s.t.Context()
	s.relays[other].until("the other works", func(now server.Status) bool { return now.Fault == "" })
	n := s.relays[other].status().Users
	s.tries(func() error { return d.Put(ctx, users.Entry{User: "guest"}) })
	s.relays[other].until("a new user is known elsewhere", func(now server.Status) bool { return now.Users == n+1 })
	var stored string
	s.tries(func() error {
		code, err := d.Invite(ctx, "guest")
		if err == nil {
			stored, err = s.join(other, code)
		}
		return err
	})
	g := s.joined(other, stored, nil)
	defer g.stop()
	g.until("a new user is connected", func() bool { return g.is(link.Connected) })
	began := time.Now()
	s.tries(func() error {
		if _, err := d.Remove(ctx, "guest"); !errors.Is(err, users.ErrUnknown) {
			return err
		}
		return nil // an earlier attempt succeeded, but its answer was lost
	})
	g.until("a removed user is cut off", func() bool { return g.is(link.Refused) })
	if took := time.Since(began); took > 5*time.Second && soaking {
		s.t.Errorf("he was cut off after %v", took)
	}
	s.relays[other].until("a removed user is known elsewhere", func(now server.Status) bool { return now.Users == n })
}

// tries retries do, which may fail while the servers elect a leader.
func (s *site) tries(do func() error) {
	s.t.Helper()
	must.Soon(s.t, func() (bool, any) {
		err := do()
		return err == nil, err
	})
}

// away adds a user who joins, and misses a call because their computer is off.
func (s *site) away() {
	s.t.Helper()
	p, ctx := s.relays[0], s.t.Context()
	s.membership = must.Get(s.join(0, invite(s.t, p.directory(), users.Entry{User: "away", Extensions: []string{"999"}})))(s.t)
	s.miss(1)
	conn := must.Get(node.Dial([]string{p.at.NATS}, p.folder.Authority.Roots(), p.folder.Keys))(s.t)
	defer conn.Close()
	js := must.Get(jetstream.New(conn))(s.t)
	must.Soon(s.t, func() (bool, any) {
		in, err := js.Stream(ctx, "journal")
		return err == nil && in.CachedInfo().State.Msgs == 1, "no missed call"
	})
}

// miss makes calls ring that the user who is away misses.
func (s *site) miss(n int) {
	for range n {
		s.missed++
		for _, state := range []call.State{call.Ringing, call.Ended} {
			s.post(fmt.Sprintf(`{"id":"away.%d","state":%q,"reason":"missed","number":"0698%06d","extension":"999"}`, s.missed, state, s.missed))
		}
	}
}

// comesBack starts that user's computer, and checks that it receives every missed call
// once. The first time it cannot store them, and has to be restarted.
func (s *site) comesBack() {
	s.t.Helper()
	refused := make(chan struct{}, 1)
	first := s.joined(0, s.membership, func(context.Context, []wire.MissedCall) error {
		wake.Up(refused)
		return errors.New("full")
	})
	must.Receive(s.t, refused, "a missed call")
	first.stop()
	times, all := map[string]bool{}, 0
	second := s.joined(0, s.membership, func(_ context.Context, page []wire.MissedCall) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, m := range page {
			times[m.Number] = true
			all++
		}
		return nil
	})
	defer second.stop()
	s.until("all missed calls are there", func() bool { return len(times) == s.missed })
	s.with(func() {
		if all != s.missed {
			s.t.Errorf("%d calls were missed, and he is told of %d", s.missed, all)
		}
		s.missed = 0
	})
	s.forgotten()
}

// forgotten waits until no file of any relay contains the number of a missed call.
func (s *site) forgotten() {
	s.t.Helper()
	must.Soon(s.t, func() (bool, any) {
		i := slices.IndexFunc(s.relays, func(p *process) bool { return bytes.Contains(natstest.Files(s.t, p.dir), []byte("0698000")) })
		return i < 0, fmt.Sprintf("a number at r%d", i+1)
	})
}

// oneLeft kills two relays: the third reports that it cannot work, users see it too, and
// everything works once there are two again.
func (s *site) oneLeft() {
	s.t.Helper()
	s.relays[0].kill()
	s.relays[1].kill()
	began := time.Now()
	s.relays[2].until("the last one is without a quorum", func(now server.Status) bool { return now.Fault == "quorum" })
	s.everybody("knows", func(d *station) bool { return !d.is(link.Connected) })
	if took := time.Since(began); took > 10*time.Second && soaking {
		s.t.Errorf("all know after %v", took)
	}
	s.start(s.relays[0], s.relays[1])
	s.everybody("is connected", func(d *station) bool { return d.is(link.Connected) })
}

// everybody waits for something to be true for all users.
func (s *site) everybody(what string, ok func(*station) bool) {
	s.t.Helper()
	s.until("everybody "+what, func() bool {
		return !slices.ContainsFunc(s.desks, func(d *station) bool { return !ok(d) })
	})
}

// replace replaces a relay whose disk is lost with an empty one that joins through a
// remaining relay; after that, the latter may fail too.
func (s *site) replace(lost, left int) {
	s.t.Helper()
	p, file := s.relays[lost], filepath.Join(s.t.TempDir(), "again.relay")
	p.kill()
	must.Do(s.t, os.RemoveAll(p.dir))
	(&office{s.t, s.relays[left].dir}).must("cluster", "make", file, "r1="+here[0].host, "r2="+here[1].host, "r3="+here[2].host, "--port", fmt.Sprint(s.relays[left].folder.Settings.ClusterPort))
	(&office{s.t, p.dir}).must("cluster", "join", file, "--name", fmt.Sprint("r", lost+1), "--host", here[lost].host, "--admin", "127.0.0.1:0")
	p.load()
	s.listenAt(p)
	p.start()
	s.relays[left].kill()
	s.back(lost)
	s.soon("r1 was lost, and another one is in its place")
	s.guest(lost, 3-lost-left)
	s.relays[left].start()
}

// TestClusterKilled: while calls ring, one of three relays is killed, and then all of them. Every
// user sees their own calls again, each once, and none that is over; lookups are answered at once,
// and the user who was away receives every missed call. With one relay left, users see that nothing
// works, and a lost relay can be replaced.
func TestClusterKilled(t *testing.T) {
	beside(t)
	s := newSite(t, 20, here)
	s.listen()
	has := s.holder()
	p := s.relays[has]
	s.during(func() {
		var missing sync.WaitGroup
		missing.Go(func() { s.miss(102) })
		p.kill()
		s.answered("one is killed", 2*time.Second)
		missing.Wait()
	})
	s.soon("the relay that listened is killed")
	s.guest((has+1)%3, (has+2)%3)
	s.over()
	p.start()
	s.soon("it is back")
	s.comesBack()
	s.ring(200)
	for _, p := range s.relays {
		p.kill()
	}
	var telling sync.WaitGroup
	telling.Go(s.lost)
	began := time.Now()
	s.start(s.relays...)
	telling.Wait()
	if took := time.Since(began); took > 4*time.Second && !soaking {
		t.Logf("told again after %v, which is later than users wait for it", took)
		s.settle()
		s.forgive()
	}
	s.soon("all were killed")
	s.over()
	s.soon("all is over")
	s.oneLeft()
	s.ring(20)
	s.soon("two are back")
	s.replace(0, 1)
	s.soon("all are back")
}

package command

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"golang.org/x/sync/errgroup"

	"wiebelt/internal/relay/server"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/testutil/must"
)

// cpu returns the process's CPU time.
func (p *process) cpu() time.Duration {
	p.t.Helper()
	b := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid)))(p.t)
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	var user, system int64
	_, _ = fmt.Sscan(fields[11]+" "+fields[12], &user, &system)
	return time.Duration(user+system) * time.Second / 100
}

// status returns the relay's status.
func (p *process) status() (s server.Status) {
	p.t.Helper()
	a := must.Get(p.admin.Get(p.at.Admin + "/status"))(p.t)
	defer a.Body.Close()
	must.Do(p.t, json.NewDecoder(a.Body).Decode(&s))
	return s
}

// memory returns the process's resident memory, in MB.
func (p *process) memory() (mb int) {
	p.t.Helper()
	b := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid)))(p.t)
	_, after, _ := strings.Cut(string(b), "VmRSS:")
	_, _ = fmt.Sscan(after, &mb)
	return mb >> 10
}

// heard is a snapshot received by a desk.
type heard struct {
	desk int
	at   time.Time
	data []byte
}

// says reports whether a snapshot has a call in a state.
func (h heard) says(id, state string) bool {
	s, err := wire.ParseSnapshot(h.data)
	return err == nil && slices.ContainsFunc(s.Calls, func(c wire.Call) bool { return c.ID == id && c.State == state })
}

// desksOffice is a relay with desks, each with its own extension, from 1000; group is the
// one at which the first ones ring together.
type desksOffice struct {
	*process
	in     chan heard
	secret string
}

const group = "600"

func newDesks(t *testing.T, n, together int) *desksOffice {
	t.Helper()
	o := &desksOffice{process: newProcess(t), in: make(chan heard, 1<<18)}
	o.start()
	o.secret = o.process.secret()
	o.add(0, n, together)
	return o
}

// add adds the desks numbered from up to n-1; those below
// together also have the extension group.
func (o *desksOffice) add(from, n, together int) {
	o.t.Helper()
	d := o.directory()
	for i := from; i < n; i++ {
		e := users.Entry{User: userNo(i), Extensions: []string{fmt.Sprint(1000 + i)}}
		if i < together {
			e.Extensions = append(e.Extensions, group)
		}
		must.Do(o.t, d.Put(o.t.Context(), e))
	}
	var all errgroup.Group
	all.SetLimit(16)
	for i := from; i < n; i++ {
		all.Go(func() error {
			pair, err := nkeys.CreateUser()
			if err != nil {
				return err
			}
			c, err := o.connect(pair, userNo(i), func(m *nats.Msg) { o.in <- heard{i, time.Now(), m.Data} })
			if err == nil {
				o.t.Cleanup(c.Close)
			}
			return err
		})
	}
	must.Do(o.t, all.Wait())
}

// connect connects like a user's computer, with its own credentials.
func (o *desksOffice) connect(pair nkeys.KeyPair, u wire.User, heard nats.MsgHandler) (*nats.Conn, error) {
	public, _ := pair.PublicKey()
	token, err := o.folder.Keys.UserToken(u, public, time.Now().Add(time.Hour))
	if err != nil {
		return nil, err
	}
	c, err := nats.Connect(o.at.NATS, nats.CustomInboxPrefix(wire.Inbox(u)), nats.NoReconnect(), nats.Timeout(time.Minute), nats.PingInterval(30*time.Second),
		nats.Secure(&tls.Config{MinVersion: tls.VersionTLS13, RootCAs: o.folder.Authority.Roots()}),
		nats.UserJWT(func() (string, error) { return token, nil }, pair.Sign))
	if err != nil {
		return nil, err
	}
	if _, err = c.Subscribe(o.folder.Keys.Site.UserSubject(wire.TopicCalls, u), func(m *nats.Msg) {
		heard(m)
		if m.Reply != "" {
			_ = m.Respond(nil)
		}
	}); err == nil {
		err = c.Flush()
	}
	return c, err
}

// say reports a call and returns the time just before.
func (o *desksOffice) say(id, state, extension string) time.Time {
	o.t.Helper()
	at := time.Now()
	must.Do(o.t, o.report(o.secret, fmt.Sprintf(`{"id":%q,"state":%q,"number":"0698760011","extension":%q}`, id, state, extension)))
	return at
}

// all waits until n desks have received a call, each once, and returns the last time.
func (o *desksOffice) all(n int, id, state string) (last time.Time) {
	o.t.Helper()
	seen := map[int]bool{}
	for len(seen) < n {
		h := must.Receive(o.t, o.in, fmt.Sprintf("%s %s for desk %d of %d", id, state, len(seen)+1, n))
		if h.says(id, state) {
			if seen[h.desk] {
				o.t.Errorf("desk %d hears twice that %s is %s", h.desk, id, state)
			}
			seen[h.desk], last = true, h.at
		}
	}
	return last
}

// figures are measured durations, in ms.
type figures []float64

func (f *figures) add(d time.Duration) { *f = append(*f, float64(d)/float64(time.Millisecond)) }

// at returns a percentile.
func (f figures) at(part float64) float64 {
	slices.Sort(f)
	return f[min(len(f)-1, int(part*float64(len(f))))]
}

// TestBenchRelay measures a relay with a thousand desks, each with its own connection and
// credentials, in this process. It runs with WIEBELT_BENCH_RELAY=1, as it needs an idle
// machine and several minutes.
func TestBenchRelay(t *testing.T) {
	if os.Getenv("WIEBELT_BENCH_RELAY") == "" {
		return
	}
	const desks, together, many = 1000, 300, 5000
	var table strings.Builder
	row := func(what string, got, limit float64, unit string) {
		fmt.Fprintf(&table, "| %-58s | %8.2f | %6.0f | %-2s |\n", what, got, limit, unit)
		if got > limit {
			t.Errorf("%s: %.2f %s, at most %.0f", what, got, unit, limit)
		}
	}
	o := newDesks(t, desks, together)

	time.Sleep(5 * time.Second) // until the work that connecting leaves behind is done
	before := o.cpu()
	const idle = 20 * time.Second
	time.Sleep(idle)
	row("1,000 desks idle: processor", 100*float64(o.cpu()-before)/float64(idle), 1, "%")
	row("1,000 desks idle: memory", float64(o.memory()), 200, "MB")

	// A hundred calls a second, each at its own desk.
	const calls = 2000
	said, one := map[string]time.Time{}, figures{}
	var mu sync.Mutex // protects said
	go func() {
		tick := time.Tick(time.Second / 100)
		for i := range calls {
			<-tick
			id := fmt.Sprint("one", i)
			mu.Lock()
			said[id] = time.Now()
			mu.Unlock()
			o.say(id, "ringing", fmt.Sprint(1000+i%desks))
			o.say(id, "ended", "")
		}
	}()
	for limit := time.After(must.Patience); len(one) < calls; {
		select {
		case h := <-o.in:
			s := must.Get(wire.ParseSnapshot(h.data))(t)
			mu.Lock()
			for _, c := range s.Calls {
				if at, ok := said[c.ID]; ok {
					one.add(h.at.Sub(at))
					delete(said, c.ID)
				}
			}
			mu.Unlock()
		case <-limit:
			t.Fatalf("%d of %d calls are heard", len(one), calls)
		}
	}
	row("report to message, 100 calls/s, p50", one.at(0.5), 2, "ms")
	row("report to message, 100 calls/s, p99", one.at(0.99), 20, "ms")

	var last figures
	for i := range 15 {
		time.Sleep(wire.EndedShownFor) // offices have seconds between such calls
		id := fmt.Sprint("group", i)
		at := o.say(id, "ringing", group)
		last.add(o.all(together, id, "ringing").Sub(at))
		o.say(id, "ended", "")
		o.all(together, id, "ended")
	}
	row("a call at 300 desks: the last of them, p50", last.at(0.5), 50, "ms")
	row("a call at 300 desks: the last of them, worst of 15", last.at(1), 50, "ms")

	row("a user is removed: until he is cut off, worst of 10", o.cutOff(10).at(1), 5000, "ms")

	answers, lost := o.webhooks(desks)
	row("webhook, 500 messages/s for a minute: answer, p99", answers.at(0.99), 50, "ms")
	row("calls among them that nobody received", float64(lost), 0, "")
	row("memory after that", float64(o.memory()), 250, "MB")

	o.add(desks, many, 0)
	for i := range 100 {
		id := fmt.Sprint("many", i)
		o.say(id, "ringing", fmt.Sprint(1000+i*many/100))
		o.all(1, id, "ringing")
	}
	held := o.status().Connected
	row("connections that are not held, of 5,000", float64(max(0, many-held)), 0, "")
	row("5,000 desks: memory", float64(o.memory()), 1000, "MB")
	fmt.Printf("\n| %-58s | %8s | %6s | %-2s |\n|---|---|---|---|\n%s\n", "relay, desks in another process", "", "budget", "", table.String())
}

// cutOff removes joined users, and returns how long they stayed connected.
func (o *desksOffice) cutOff(n int) (all figures) {
	o.t.Helper()
	d, ctx := o.directory(), o.t.Context()
	for i := range n {
		u := wire.User(fmt.Sprint("gone", i))
		pair := must.Get(nkeys.CreateUser())(o.t)
		public, _ := pair.PublicKey()
		_, _, err := d.Join(ctx, invite(o.t, d, users.Entry{User: u}), public)
		must.Do(o.t, err)
		c := must.Get(o.connect(pair, u, func(*nats.Msg) {}))(o.t)
		cut := c.StatusChanged(nats.CLOSED)
		began := time.Now()
		must.Get(d.Remove(ctx, u))(o.t)
		<-cut
		all.add(time.Since(began))
	}
	return all
}

// webhooks sends five hundred messages of a provider's exchange per second for a minute, and
// returns the response times, and how many calls reached no desk.
func (o *desksOffice) webhooks(desks int) (answers figures, lost int) {
	o.t.Helper()
	const perSecond, messages = 500, 30_000
	var mu sync.Mutex // protects answers
	send := func(i int) {
		status, n := "ringing", i/2
		if i%2 == 1 {
			status, n = "ended", n-perSecond/2 // which rang a second ago
		}
		if n < 0 {
			return
		}
		body := fmt.Sprintf(`{"call_id":"hook%d","status":%q,"direction":"inbound","caller":{"number":"0698760011"},"destination":{"targets":[{"user_numbers":["%d"]}]}}`,
			n, status, 1000+n%desks)
		at := time.Now()
		a, err := o.http.Post(o.web+"/in/"+o.secret+"/voipgrid", "application/json", strings.NewReader(body))
		if err != nil {
			o.t.Error(err)
			return
		}
		took := time.Since(at)
		_ = a.Body.Close()
		if a.StatusCode != http.StatusNoContent {
			o.t.Errorf("the relay says %d", a.StatusCode)
		}
		mu.Lock()
		defer mu.Unlock()
		answers.add(took)
	}
	rung := map[string]bool{}
	var senders errgroup.Group
	senders.SetLimit(16)
	var pacing sync.WaitGroup
	pacing.Go(func() {
		tick := time.Tick(time.Second / 100)
		for i := range messages {
			if i%(perSecond/100) == 0 {
				<-tick
			}
			senders.Go(func() error { send(i); return nil })
		}
	})
	for limit := time.After(must.Patience); len(rung) < messages/2; {
		select {
		case h := <-o.in:
			s := must.Get(wire.ParseSnapshot(h.data))(o.t)
			for _, c := range s.Calls {
				if strings.HasPrefix(c.ID, "voipgrid/hook") {
					rung[c.ID] = true
				}
			}
		case <-limit:
			lost = messages/2 - len(rung)
			o.t.Errorf("%d calls were not heard of", lost)
			return answers, lost
		}
	}
	pacing.Wait()
	_ = senders.Wait()
	return answers, 0
}

package e2e

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/guide"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
	"wiebelt/internal/testutil/phonetest"
	"wiebelt/internal/text"
)

// officeRelay is the running relay program.
type officeRelay struct {
	t       testing.TB
	bin     string
	dir     string
	secret  string // of the hub's client
	address string // where computers join
	reports string // where exchanges report
}

// startRelay creates a relay with a user, anna, that uses the hub at base, runs it, and
// makes the office join it, which then has no hub secret.
func startRelay(o *office, base string, extensions ...string) *officeRelay {
	t := o.t
	t.Helper()
	r := &officeRelay{t: t, bin: o.bin + "-relay", dir: filepath.Join(t.TempDir(), "relay")}
	r.secret = must.Get(o.hub.AddClient(t.Context(), "relay", "1234"))(t)
	r.run("", "init", "office", "--host", "127.0.0.1", "--reached", "127.0.0.1", "--nats-port", fmt.Sprint(nettest.Port(t)), "--web-port", fmt.Sprint(nettest.Port(t)), "--admin", "")
	r.run(r.secret+"\n", "secret", "hub", "--base-url", base, "--client-id", "relay", "--organisation-code", "1234")
	cmd := exec.Command(r.bin, "run", "--data", r.dir)
	out := must.Get(cmd.StdoutPipe())(t)
	cmd.Stderr = o.log
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() })
	var is struct{ Ready bool }
	if line, err := bufio.NewReader(out).ReadBytes('\n'); err != nil || json.Unmarshal(line, &is) != nil || !is.Ready {
		t.Fatalf("the relay does not start: %v: %s", err, line)
	}
	table := filepath.Join(t.TempDir(), "users.csv")
	must.Do(t, os.WriteFile(table, []byte("user,extensions\nanna,"+strings.Join(extensions, " ")+"\n"), 0o600))
	_, invited, _ := strings.Cut(r.run("", "user", "import", table), "\n")
	f := strings.Split(strings.TrimSpace(invited), ",") // user, address, code, fingerprint
	r.address, r.reports = f[1], regexp.MustCompile(`https://\S+`).FindString(r.run("", "secret", "reports"))
	o.run("secret", "remove", "hub")
	o.run("settings", "unset", "hub.client_id")
	o.run("join", f[1], f[2], "--fingerprint", f[3])
	return r
}

// run runs a command of the relay and returns its output.
func (r *officeRelay) run(in string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command(r.bin, append(args, "--data", r.dir, "--language", "en")...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("wiebelt-relay %s: %v: %s", args[0], err, out)
	}
	return string(out)
}

// kamailio starts an exchange that reports to the relay with the guide's configuration,
// with our address and certificate filled in, in front of a phone.
func (r *officeRelay) kamailio(phone string) (sipAddr string) {
	r.t.Helper()
	var lines strings.Builder
	for _, p := range guide.Help(text.English) {
		if p.ID != "kamailio" {
			continue
		}
		_, page, _ := strings.Cut(p.Text, "## wiebelt.cfg")
		for line := range strings.Lines(page) {
			if code, ok := strings.CutPrefix(line, "    "); ok || line == "\n" {
				lines.WriteString(code)
			}
		}
	}
	file := filepath.Join(r.t.TempDir(), "wiebelt.cfg")
	const address, authority = "https://relay.example:8443/in/…", "/etc/kamailio/wiebelt.pem"
	for _, word := range []string{address, authority} {
		if strings.Count(lines.String(), word) != 1 {
			r.t.Fatalf("the lines of the guide lack %s", word)
		}
	}
	must.Do(r.t, os.WriteFile(file, []byte(strings.NewReplacer(address, r.reports, authority, filepath.Join(r.dir, "authority.pem")).Replace(lines.String())), 0o600))
	return phonetest.StartKamailio(r.t, phone, file)
}

// report reports a call, in JSON, as an exchange does.
func (r *officeRelay) report(event string) {
	r.t.Helper()
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	a := must.Get(client.Post(r.reports, "application/json", strings.NewReader(event)))(r.t)
	_ = a.Body.Close()
	if a.StatusCode != http.StatusNoContent {
		r.t.Fatalf("the relay says %s", a.Status)
	}
}

// BenchmarkExchanges measures the time from a call at each exchange to the contact on
// screen: the exchange, a relay and a resident are separate processes; a simulated exchange
// runs in the test's. Run it alone on an idle machine.
func BenchmarkExchanges(b *testing.B) {
	for range b.N {
		t := newTable(b)
		s := openStage(b, 1, "")
		r := startRelay(s.office, s.base, "101", "115")
		connected := func(times int) func() bool {
			return func() bool { return strings.Count(s.log.String(), "state=connected") >= times }
		}
		s.Until("the computer hears the relay", connected(1))
		s.stop()
		with := s.bin
		s.bin = s.bare(t)
		s.start()
		without := s.atRest()
		s.stop()
		s.bin = with
		s.start()
		s.Until("it hears the relay again", connected(2))
		t.figure("memory of a resident, more with a relay than as a program without the link", s.atRest()-without, 4000, "kB")
		most := limit{p50: 20, p99: 60}
		phone, _ := phonetest.StartBaresip(b)
		exchange := r.kamailio(phone)
		line := must.Get(net.Dial("udp", exchange))(b)
		defer line.Close()
		var all []time.Duration
		pace := time.Tick(lookupPace)
		for i := range 205 {
			<-pace
			p := s.person(pause)
			num := "+31" + p.Numbers[0][1:]
			e := s.eye(p, num, engine.OutcomeFound)
			c := invitation{line: line, sip: exchange, number: num, id: fmt.Sprintf("bench-%d-%d", os.Getpid(), i)}
			began := time.Now()
			c.invite(b)
			if took := e.wait(b, "a caller by way of Kamailio").Sub(began); i >= 5 {
				all = append(all, took)
			}
			c.cancel(b)
			s.Until("the card is gone", s.empty)
		}
		t.times("INVITE → Kamailio → relay → contact painted", all, most)
		for _, kind := range []string{registry.ARI, registry.Wazo, registry.ThreeCX, registry.VoIPGRID} {
			r.times(s, t, kind, most)
		}
		r.late(s, t)
		t.print(b, "bench-exchanges.json")
	}
}

// lookupPace keeps a user below the relay's limit of 120 lookups per minute.
const lookupPace = 550 * time.Millisecond

// atRest returns a resident's memory, in kB, once it has been idle for a while. How many
// pages of a program's file are in memory is random.
func (s *stage) atRest() float64 {
	time.Sleep(5 * time.Second)
	return float64(rollup(s.resident.Process.Pid, "Anonymous:"))
}

// bare builds the program without its link to a relay, and measures how much less it
// loads and reads at start.
func (s *stage) bare(t *table) (bin string) {
	b := s.b
	b.Helper()
	dir := must.Get(filepath.Abs("../softphone/relaylink"))(b)
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for _, file := range must.Get(filepath.Glob(filepath.Join(dir, "*.go")))(b) {
		overlay.Replace[file] = ""
	}
	overlay.Replace[filepath.Join(dir, "relaylink.go")] = must.Get(filepath.Abs("testdata/norelay/relaylink.go"))(b)
	file := filepath.Join(b.TempDir(), "overlay.json")
	must.Do(b, os.WriteFile(file, must.Get(json.Marshal(overlay))(b), 0o600))
	bin = filepath.Join(b.TempDir(), "wiebelt")
	must.Do(b, build(bin, "-s -w", "./app/wiebelt", "CGO_ENABLED=0", "GOFLAGS=-overlay="+file))
	t.figure("size of the program, more with the link to a relay", 1000*(megabytes(b, s.bin)-megabytes(b, bin)), 4000, "kB")
	var with, without []time.Duration
	for range 200 {
		with = append(with, ran(b, exec.Command(s.bin, "version")))
		without = append(without, ran(b, exec.Command(bin, "version")))
	}
	slices.Sort(with)
	slices.Sort(without)
	t.figure("start of the program, more with the link to a relay, p10", float64((with[len(with)/10] - without[len(without)/10]).Microseconds()), 1000, "µs")
	return bin
}

// late measures how long a computer started during a call
// takes to show the contact, from its connection to the relay.
func (r *officeRelay) late(s *stage, t *table) {
	b := s.b
	b.Helper()
	say := func(id, state, number string) {
		r.report(fmt.Sprintf(`{"id":%q,"state":%q,"number":%q,"extension":"101"}`, id, state, number))
	}
	connected := regexp.MustCompile(`time=(\S+) .*kind=relay .*state=connected`)
	var all []time.Duration
	for i := range 20 {
		p, id := s.person(pause), fmt.Sprint("late", i)
		num := "+31" + p.Numbers[0][1:]
		e := s.eye(p, num, engine.OutcomeFound)
		s.stop()
		say(id, "ringing", num)
		s.start()
		painted := e.wait(b, "who called before")
		lines := connected.FindAllStringSubmatch(s.log.String(), -1)
		all = append(all, painted.Sub(must.Get(time.Parse(time.RFC3339, lines[len(lines)-1][1]))(b)))
		say(id, "ended", num)
		s.Until("the card is gone", s.empty)
	}
	t.times("started during a call: connected to the relay → contact painted", all, limit{p99: 1000})
}

// times measures the time from a report by a simulated exchange to the contact on screen.
func (r *officeRelay) times(s *stage, t *table, kind string, most limit) {
	b := s.b
	b.Helper()
	var o simulate.Options
	if registry.Of(kind).ReportsToRelay() {
		at := must.Get(url.Parse(r.reports))(b)
		o.Port, o.PathToken = must.Get(strconv.Atoi(at.Port()))(b), path.Base(at.Path)
	}
	f := must.Get(simulate.Open(b.Context(), kind, o))(b)
	defer f.Close()
	if listens, ok := f.(simulate.Server); ok {
		at, extension := listens.Address(), "*"
		if !registry.Of(kind).AllExtensions {
			extension = at.Extension
		}
		r.run(at.Secret+"\n", "exchange", "add", kind, "--address", at.Address, "--user", at.User, "--extension", extension)
		defer r.run("", "exchange", "remove", kind)
	}
	must.Do(b, f.Ready(b.Context()))
	pace := time.Tick(lookupPace)
	var all []time.Duration
	for i := range 90 {
		<-pace
		p := s.person(pause)
		num := "+31" + p.Numbers[0][1:]
		e := s.eye(p, num, engine.OutcomeFound)
		c := simulate.Update{Verb: simulate.Ring, Call: simulate.Call{ID: fmt.Sprintf("%s-%d", kind, i), Number: num}}
		began := time.Now()
		must.Do(b, f.SendUpdate(b.Context(), c))
		if took := e.wait(b, "a caller by way of "+kind).Sub(began); i >= 5 {
			all = append(all, took)
		}
		c.Verb = simulate.End
		must.Do(b, f.SendUpdate(b.Context(), c))
		s.Until("the card is gone", s.empty)
	}
	t.times("simulated "+kind+" → relay → contact painted", all, most)
}

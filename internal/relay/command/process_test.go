package command

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"wiebelt/internal/relay/certificates"
	"wiebelt/internal/relay/credentials"
	"wiebelt/internal/relay/node"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

func TestMain(m *testing.M) {
	processtest.Main(processtest.Roles{"relay": func(must.Test, []string) {
		os.Exit(Main(Build{Version: "test"}, os.Args, os.Stdin, os.Stdout, os.Stderr))
	}})
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil { // concurrent tests mostly wait
		panic(err)
	}
	os.Exit(m.Run())
}

// process is a relay in a separate process.
type process struct {
	t      testing.TB
	dir    string
	folder *setup.Folder
	http   *http.Client
	launch func(start func() error) error // starts it elsewhere, if not nil

	cmd    *exec.Cmd
	exited chan struct{}
	at     readiness
	web    string // of at; the same after every start
}

// newProcess creates a relay's folder; start starts it.
func newProcess(t testing.TB) *process {
	t.Helper()
	p := &process{t: t, dir: filepath.Join(t.TempDir(), "relay")}
	s := setup.Settings{Name: "r1", Host: "127.0.0.1", Admin: "127.0.0.1:0", PublicHosts: []string{"127.0.0.1"}}
	must.Do(t, setup.Create(p.dir, must.Get(credentials.New("kantoor"))(t), s))
	p.load()
	return p
}

func (p *process) load() {
	p.t.Helper()
	p.folder = must.Get(setup.Load(p.dir))(p.t)
	p.http = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16, TLSClientConfig: certificates.PinnedTLS(p.folder.Authority.Fingerprint(), p.folder.Settings.Host)}}
	p.t.Cleanup(p.http.CloseIdleConnections)
}

// start starts the relay and waits until it accepts calls and users.
func (p *process) start() {
	p.t.Helper()
	p.cmd = processtest.Command(context.Background(), "relay", "run", "--data", p.dir, "--language", "en")
	var said strings.Builder
	p.cmd.Stderr = &said
	out := must.Get(p.cmd.StdoutPipe())(p.t)
	start := p.cmd.Start
	if p.launch != nil {
		start = func() error { return p.launch(p.cmd.Start) }
	}
	must.Do(p.t, start())
	lines := bufio.NewReader(out)
	line, _ := lines.ReadBytes('\n')
	cmd, exited := p.cmd, make(chan struct{})
	p.exited = exited
	go func() {
		defer close(exited)
		_, _ = io.Copy(io.Discard, lines)
		_ = cmd.Wait()
	}()
	p.t.Cleanup(p.kill)
	if err := json.Unmarshal(line, &p.at); err != nil || !p.at.IsReady {
		p.kill()
		p.t.Fatalf("%q, %v: %s", line, err, said.String())
	}
	if p.web == "" {
		p.web = p.at.Web
	}
}

// kill ends the process like a power failure.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// directory returns the relay's users. It retries while the servers elect a leader.
func (p *process) directory() (d *users.Directory) {
	p.t.Helper()
	must.Soon(p.t, func() (bool, any) {
		conn, err := node.Dial([]string{p.at.NATS}, p.folder.Authority.Roots(), p.folder.Keys)
		if err != nil {
			return false, err
		}
		p.t.Cleanup(conn.Close)
		js, err := jetstream.New(conn)
		if err == nil {
			d, err = users.Open(p.t.Context(), js, p.folder.Settings.Replicas())
		}
		return err == nil, err
	})
	return d
}

// invite adds or changes a user, and returns a code.
func invite(t testing.TB, d *users.Directory, e users.Entry) string {
	t.Helper()
	must.Do(t, d.Put(t.Context(), e))
	return must.Get(d.Invite(t.Context(), e.User))(t)
}

// report reports a call like an exchange does.
func (p *process) report(secret, body string) error {
	a, err := p.http.Post(p.web+"/in/"+secret, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, a.Body)
	_ = a.Body.Close()
	if a.StatusCode != http.StatusNoContent {
		return fmt.Errorf("the relay says %d", a.StatusCode)
	}
	return nil
}

func (p *process) secret() string {
	p.t.Helper()
	return must.Get(setup.LoadWebhookSecrets(p.dir))(p.t).Current
}

// connect connects like a user's computer, with its own credentials.
func (p *process) connect(u wire.User, heard nats.MsgHandler) (*nats.Conn, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	return p.connectWith(pair, u, heard)
}

func (p *process) connectWith(pair nkeys.KeyPair, u wire.User, heard nats.MsgHandler) (*nats.Conn, error) {
	public, _ := pair.PublicKey()
	token, err := p.folder.Keys.UserToken(u, public, time.Now().Add(time.Hour))
	if err != nil {
		return nil, err
	}
	c, err := nats.Connect(p.at.NATS, nats.CustomInboxPrefix(wire.Inbox(u)), nats.NoReconnect(), nats.Timeout(time.Minute), nats.PingInterval(30*time.Second),
		nats.Secure(&tls.Config{MinVersion: tls.VersionTLS13, RootCAs: p.folder.Authority.Roots()}),
		nats.UserJWT(func() (string, error) { return token, nil }, pair.Sign))
	if err != nil {
		return nil, err
	}
	if _, err = c.Subscribe(p.folder.Keys.Site.UserSubject(wire.TopicCalls, u), func(m *nats.Msg) {
		heard(m)
		if m.Reply != "" {
			_ = m.Respond(nil)
		}
	}); err == nil {
		err = c.Flush()
	}
	return c, err
}

// desks connects many users, several at a time.
func (p *process) desks(from, n int, heard func(i int, m *nats.Msg)) {
	p.t.Helper()
	next := make(chan int)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for i := range next {
				c, err := p.connect(userNo(i), func(m *nats.Msg) { heard(i, m) })
				if err != nil {
					p.t.Errorf("desk %d: %v", i, err)
					continue
				}
				p.t.Cleanup(c.Close)
			}
		})
	}
	for i := from; i < n; i++ {
		next <- i
	}
	close(next)
	all.Wait()
}

func userNo(i int) wire.User { return wire.User(fmt.Sprintf("user%d", i)) }

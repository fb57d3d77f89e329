package command

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

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
	admin  *http.Client
	in     func(do func() error) error // where it runs, if not nil

	*processtest.Process
	cmd *exec.Cmd
	at  readiness
	web string // of at; the same after every start
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
	p.admin = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: p.dial}}
}

// inside runs do where the relay runs.
func (p *process) inside(do func() error) error {
	if p.in == nil {
		return do()
	}
	return p.in(do)
}

func (p *process) dial(_ context.Context, network, address string) (c net.Conn, err error) {
	err = p.inside(func() (err error) { c, err = net.Dial(network, address); return err })
	return c, err
}

// start starts the relay and waits until it accepts calls and users.
func (p *process) start() {
	p.t.Helper()
	p.cmd = processtest.Command(context.Background(), "relay", "run", "--data", p.dir, "--language", "en")
	var said strings.Builder
	p.cmd.Stderr = &said
	must.Do(p.t, p.inside(func() error { p.Process = processtest.StartCommand(p.t, p.cmd); return nil }))
	line := <-p.Lines
	if err := json.Unmarshal([]byte(line), &p.at); err != nil || !p.at.IsReady {
		p.kill()
		p.t.Fatalf("%q, %v: %s", line, err, said.String())
	}
	if p.web == "" {
		p.web = p.at.Web
	}
}

// kill ends the process like a power failure.
func (p *process) kill() {
	p.Kill()
	_ = p.Wait()
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

func userNo(i int) wire.User { return wire.User(fmt.Sprintf("user%d", i)) }

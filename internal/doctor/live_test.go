package doctor

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/call"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/register"
	"wiebelt/internal/testutil/instancetest"
	"wiebelt/internal/testutil/must"
)

// runJSON returns a run as monitoring sees it.
func runJSON(t *testing.T, cfg Config, sys system) Report {
	t.Helper()
	return shaped(t, must.Get(json.Marshal(run(t.Context(), cfg, sys, func(string, []Check) {})))(t))
}

// aHub answers tokens and lookups over TLS.
type aHub struct {
	*httptest.Server
	refuse  atomic.Bool
	tokens  atomic.Int64
	lookups atomic.Int64
}

func startHub() *aHub {
	h := &aHub{}
	h.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodHead:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case strings.HasSuffix(r.URL.Path, "/identity/token"):
			h.tokens.Add(1)
			if _, value, _ := r.BasicAuth(); h.refuse.Load() || value != "canary-secret" || r.PostFormValue("scopes") == "Deliver" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_, _ = io.WriteString(w, `{"access_token":"canary-token","token_type":"Bearer","expires_in":1800}`)
		default:
			h.lookups.Add(1)
			_, _ = io.WriteString(w, `{"data":{"items":[]}}`)
		}
	}))
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	return h
}

// known starts the hub and writes its certificate where settings find it.
func (h *aHub) known(t *testing.T) (toml string) {
	t.Helper()
	h.StartTLS()
	t.Cleanup(h.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	write(t, file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})))
	return strings.ReplaceAll(setUp, "https://hub.example", h.URL) + "secret_store = \"file\"\nextra_ca_file = '" + file + "'\n"
}

// TestTheWay connects to a real hub over TLS, with the token request that lookups
// use, and looks nothing up unless asked.
func TestTheWay(t *testing.T) {
	h := startHub()
	toml := h.known(t)
	cfg := configured(t, toml)
	keepSecret(t, cfg.Dirs, h.URL, "canary-secret")
	r := runJSON(t, cfg, server())
	for _, id := range []string{"hub.name", "hub.connection", "hub.certificate", "hub.clock", "hub.token", "secret", "setup"} {
		if c := r.of(t, id); c.State != OK {
			t.Errorf("%+v", c)
		}
	}
	if c := r.of(t, "hub.token"); !strings.Contains(c.Message, "30 minuten") || !r.OK {
		t.Errorf("%+v, ok %v", c, r.OK)
	}
	if h.tokens.Load() != 1 || h.lookups.Load() != 0 {
		t.Errorf("%d tokens and %d lookups asked for", h.tokens.Load(), h.lookups.Load())
	}
	cfg.Number = "020 123 4567"
	if c := runJSON(t, cfg, server()).of(t, "hub.lookup"); c.State != OK || h.lookups.Load() != 1 || strings.Contains(c.Message, "123") {
		t.Errorf("%+v after %d lookups", c, h.lookups.Load())
	}
	cfg.Number = "101"
	if c := runJSON(t, cfg, server()).of(t, "hub.lookup"); c.State != Fail || h.lookups.Load() != 1 {
		t.Errorf("%+v after %d lookups", c, h.lookups.Load())
	}
	asked := h.tokens.Load()
	for delivers, want := range map[string]string{"": "ok", "intermediary = \"x\"\n": "ok fail"} {
		cfg := configured(t, toml+"delivery_scopes = \"Deliver\"\n"+delivers)
		keepSecret(t, cfg.Dirs, h.URL, "canary-secret")
		if got := strings.Join(runJSON(t, cfg, server()).states("hub.token"), " "); got != want {
			t.Errorf("deliveries %q: %s", delivers, got)
		}
	}
	if n := h.tokens.Load() - asked; n != 3 {
		t.Errorf("%d tokens asked for", n)
	}
	h.refuse.Store(true)
	if r := runJSON(t, cfg, server()); r.OK || r.of(t, "hub.token").State != Fail || r.of(t, "hub.connection").State != OK {
		t.Errorf("refused: %+v", r.of(t, "hub.token"))
	}
	if other := runJSON(t, configured(t, toml), server()); other.of(t, "hub.token").State != Off || other.of(t, "secret").State != Fail || other.of(t, "hub.clock").State != OK {
		t.Errorf("without a secret: %+v", other.Checks)
	}
	stranger := configured(t, toml[:strings.Index(toml, "extra_ca_file")])
	if r := runJSON(t, stranger, server()); r.of(t, "hub.certificate").State != Fail || r.of(t, "hub.connection").State != OK || r.of(t, "hub.token").State != Off {
		t.Errorf("unknown authority: %+v", r.of(t, "hub.certificate"))
	}
}

// hanging is a store whose Get blocks until the test is over.
type hanging struct {
	secret.Store
	until <-chan struct{}
}

func (h hanging) Get(context.Context, secret.Ref) (string, error) { <-h.until; return "", nil }

// TestEverythingHangs checks that if everything hangs, each check reports
// so individually, and the run takes less than ten seconds in total.
func TestEverythingHangs(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t) // accepts connections and sends nothing
	defer l.Close()
	cfg := configured(t, strings.ReplaceAll(setUp, "https://hub.example", "http://"+l.Addr().String()))
	over := make(chan struct{})
	defer close(over)
	wait := func() { <-over }
	sys := system{
		store:       func(string, profile.Dirs) secret.Store { return hanging{until: over} },
		register:    func(register.Options) (register.Status, error) { wait(); return register.Status{}, nil },
		policy:      func() (bool, bool) { wait(); return false, false },
		desktop:     func() bool { return true },
		screen:      func(context.Context) string { wait(); return screenFailed },
		trayHost:    func(context.Context) bool { wait(); return false },
		lockSources: func(context.Context) []string { wait(); return nil },
		writable:    func(string) bool { wait(); return true },
		browser:     func(context.Context) bool { wait(); return false },
		audit:       func() error { wait(); return nil },
		microSIP:    func() string { wait(); return "" },
		free:        func(string) (uint64, error) { wait(); return 0, nil },
		folder:      func(string) error { wait(); return nil },
		installed:   func(string) error { wait(); return nil },
	}
	// A resident that accepts the connection and sends nothing.
	silence := must.Get(net.Listen("unix", filepath.Join(cfg.Dirs.Run, instance.SocketName)))(t)
	defer silence.Close()
	began := time.Now()
	if _, late := load(t.Context(), func() *settings.Settings { wait(); return nil }); !late {
		t.Error("settings that never came were not late")
	}
	cfg.Settings, _ = settings.Load(cfg.Dirs)
	r := runJSON(t, cfg, sys)
	must.Within(t, began, 10*time.Second)
	for id, want := range map[string]State{"secret": Fail, "hub.name": OK, "hub.connection": Fail, "hub.token": Off, "resident": Fail,
		"scheme": Fail, "tray": Fail, "lock": Fail, "disk": Fail, "folders": Fail, "program": Fail, "crash": OK} {
		if c := r.of(t, id); c.State != want {
			t.Errorf("%+v, want %s", c, want)
		}
	}
}

// TestHangingHubWithASecret checks that waiting for the token takes no longer than the rest.
func TestHangingHubWithASecret(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead {
			<-over
		}
	}))
	t.Cleanup(s.Close)
	defer close(over)
	cfg := configured(t, strings.ReplaceAll(setUp, "https://hub.example", s.URL)+"secret_store = \"file\"\n")
	keepSecret(t, cfg.Dirs, s.URL, "canary-secret")
	began := time.Now()
	r := runJSON(t, cfg, calm())
	if c := r.of(t, "hub.token"); c.State != Fail || !strings.Contains(c.Message, "reageert niet") || r.of(t, "hub.connection").State != OK {
		t.Errorf("%+v", c)
	}
	must.Within(t, began, 9*time.Second)
}

// answering is a resident that answers.
type answering struct {
	facts *windowapi.DoctorFacts // nil if its version does not know the question
	mute  bool                   // greets, then sends nothing
	raw   any
}

func (answering) Ring(call.Event) error { return nil }

func (a answering) Peer(ctx context.Context, _ instance.Hello, c *instance.Conn) {
	kind, _, err := c.Receive()
	switch {
	case a.mute:
		<-ctx.Done()
	case err == nil && kind == windowapi.KindFacts && a.raw != nil:
		_ = c.Send(windowapi.KindFacts, a.raw)
	case err == nil && kind == windowapi.KindFacts && a.facts != nil:
		_ = c.Send(windowapi.KindFacts, a.facts)
	}
}

// residentOf runs a resident for a profile.
func residentOf(t *testing.T, d profile.Dirs, version, build string, a answering) {
	t.Helper()
	instancetest.Serve(t, instance.Config{RunDir: d.Run, Version: version, Build: build}, a)
}

// TestAsksTheResident checks a resident that answers, one of another
// version, one that hangs, one that sends garbage, and one that died.
func TestAsksTheResident(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		toml, version, build string
		answering
		want map[string]State
	}{
		"answers":                  {"", "1.2.0", "abc", answering{facts: &windowapi.DoctorFacts{SetUp: true}}, map[string]State{"resident": OK, "version": OK, "listener": Fail}},
		"another version":          {twoLinks, "1.1.0", "old", answering{}, map[string]State{"resident": Warn, "version": OK, "listener": Off, "link": Off}},
		"hangs after the greeting": {"", "1.2.0", "abc", answering{mute: true}, map[string]State{"resident": Fail}},
		"nonsense":                 {twoLinks, "1.2.0", "abc", answering{raw: []string{"canary"}}, map[string]State{"resident": Warn}},
		"died":                     {want: map[string]State{"resident": Warn, "version": Off}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := configured(t, c.toml)
			if c.version != "" {
				residentOf(t, cfg.Dirs, c.version, c.build, c.answering)
			} else {
				l := must.Get(net.Listen("unix", filepath.Join(cfg.Dirs.Run, instance.SocketName)))(t)
				l.(*net.UnixListener).SetUnlinkOnClose(false) // as after a kill
				must.Do(t, l.Close())
			}
			r := runJSON(t, cfg, calm())
			for id, want := range c.want {
				if r.of(t, id).State != want || !strings.Contains(r.of(t, "version").Message, c.version) {
					t.Errorf("want %s %s: %+v", id, want, r.Checks)
				}
			}
		})
	}
}

// TestRights checks real folders.
func TestRights(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	dir := t.TempDir()
	for mode, want := range map[os.FileMode]filetrust.Fault{0o700: "", 0o755: filetrust.FaultRead, 0o777: filetrust.FaultWrite, 0o720: filetrust.FaultWrite} {
		must.Do(t, os.Chmod(dir, mode))
		got, _ := errors.AsType[*filetrust.Error](folderFault(dir))
		if (got == nil) != (want == "") || got != nil && got.Fault != want {
			t.Errorf("%o: %v; want %q", mode, got, want)
		}
	}
	if free, err := freeSpace(dir); err != nil || free == 0 {
		t.Errorf("%d, %v", free, err)
	}
}

// TestReadsOnly checks that a run creates and removes no file or folder in the profile.
func TestReadsOnly(t *testing.T) {
	cfg := configured(t, setUp)
	waits := box(func(t *testing.T, _ string, b *outbox.Outbox) { put(t, b, 1) })
	for _, fill := range []func(*testing.T, *exam){nil, both(calls(nil), waits)} {
		if fill != nil {
			fill(t, &exam{Config: cfg})
		}
		before := listing(t, cfg.Dirs.State)
		runJSON(t, cfg, calm())
		if after := listing(t, cfg.Dirs.State); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		b.WriteString(path + "\n")
		return err
	})
	must.Do(t, err)
	return b.String()
}

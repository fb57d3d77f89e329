package fromsettings

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// refusing is a proxy that lets nobody through and tells who asked for what.
func refusing(t *testing.T) (address string, asked <-chan string) {
	t.Helper()
	l := must.Get(net.Listen("tcp4", "127.0.0.1:0"))(t)
	c := make(chan string, 16)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
			if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				c <- r.Method + " " + r.Host
				_, _ = io.WriteString(conn, "HTTP/1.1 403 no\r\n\r\n")
			}
			conn.Close()
		}
	})
	t.Cleanup(func() { l.Close(); serving.Wait() })
	return l.Addr().String(), c
}

// Links to exchanges go through the proxy that the hub is reached through: that of
// the settings, as they are when a connection is made, else the environment's.
func TestExchangesThroughTheProxy(t *testing.T) {
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	t.Setenv("https_proxy", "")
	for _, kind := range []string{"ari", "wazo", "3cx", "broadworks", "xelion", "yeastar-socket"} {
		dir := t.TempDir()
		d := must.Get(profile.Find(dir))(t)
		must.Do(t, d.Make())
		s := settings.Softphone{Kind: kind, Name: "centrale", Address: "https://pbx.example:5001", User: "u", Extension: "101"}
		store := must.Get(secret.Open(secret.KindFile, d))(t)
		ref := must.Get(secret.Softphone(s.Name, s.Address))(t)
		must.Do(t, store.Set(t.Context(), ref, "geheim"))
		p := must.Get(Softphone(d, secret.KindFile, s))(t)
		first, askedFirst := refusing(t)
		second, askedSecond := refusing(t)
		environment, askedEnvironment := refusing(t)
		t.Setenv("HTTPS_PROXY", "http://"+environment)
		for _, c := range []struct {
			set   string
			asked <-chan string
		}{{"proxy = \"http://" + first + "\"", askedFirst}, {"proxy = \"http://" + second + "\"", askedSecond}, {"", askedEnvironment}} {
			must.Do(t, os.WriteFile(filepath.Join(dir, settings.FileName), []byte("[hub]\n"+c.set+"\n"), 0o600))
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			err := link.Once(ctx, link.Config{}, p)
			cancel()
			select {
			case got := <-c.asked:
				if got != "CONNECT pbx.example:5001" {
					t.Errorf("%s: %s", kind, got)
				}
			default:
				t.Errorf("%s with %q: not through the proxy: %v", kind, c.set, err)
			}
		}
	}
}

// TestOnlyDeclaredLinks: nothing is linked that the registry does not know.
func TestOnlyDeclaredLinks(t *testing.T) {
	for name := range links {
		if !registry.Of(name).IsLink() {
			t.Errorf("%s is not declared", name)
		}
	}
}

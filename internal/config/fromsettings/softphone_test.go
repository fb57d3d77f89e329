package fromsettings

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestExchangesThroughTheProxy checks that links to exchanges use the hub's proxy: the
// one in the settings at the time of each connection, else the one in the environment.
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
		ref := must.Get(secret.Softphone(s.Kind, s.Name, s.Address))(t)
		must.Do(t, store.Set(t.Context(), ref, "geheim"))
		p := must.Get(Softphone(d, secret.KindFile, s))(t)
		refusing := func() *nettest.Proxy {
			return nettest.StartProxy(t, nettest.Listen(t), "", nettest.Connect("HTTP/1.1 403 no\r\n\r\n"))
		}
		first, second, environment := refusing(), refusing(), refusing()
		t.Setenv("HTTPS_PROXY", "http://"+environment.Address)
		for _, c := range []struct {
			set string
			by  *nettest.Proxy
		}{{"proxy = \"http://" + first.Address + "\"", first}, {"proxy = \"http://" + second.Address + "\"", second}, {"", environment}} {
			must.Do(t, os.WriteFile(filepath.Join(dir, settings.FileName), []byte("[hub]\n"+c.set+"\n"), 0o600))
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			err := link.RunOnce(ctx, link.Config{}, p)
			cancel()
			if asked := c.by.Asked(); len(asked) == 0 || asked[0] != "pbx.example:5001" {
				t.Errorf("%s with %q: the proxy was asked for %q: %v", kind, c.set, asked, err)
			}
		}
	}
}

// TestOnlyDeclaredLinks: every link is declared in the registry.
func TestOnlyDeclaredLinks(t *testing.T) {
	for name := range links {
		if !registry.Of(name).IsLink() {
			t.Errorf("%s is not declared", name)
		}
	}
}

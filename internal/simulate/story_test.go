package simulate_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/ari"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/listener"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/softphone/webhook"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/storytest"
)

const (
	socketToken = "Zm9vYmFyLXNvY2tldC10b2tlbi1mb3ItdGVzdHMtMDE"
	pathToken   = "cGF0aC10b2tlbi10aGF0LWNhbi1vbmx5LXJpbmctMDI"
)

// linkedKinds lists the kinds that report to this program's own links and
// listener; kinds that run our program are tested with the program itself.
var linkedKinds = slices.Concat([]string{"websocket", "http", registry.ARIOutbound}, registry.Links(), webhooks())

func webhooks() []string {
	return slices.DeleteFunc(registry.Names(), func(name string) bool { return registry.Of(name).Reach != registry.ByWebhook })
}

func linkTo(t testing.TB, a simulate.Address) link.Phone {
	t.Helper()
	return must.Get(fromsettings.Link(a.Protocol, linktest.Account(a)))(t)
}

// wired is a simulated phone with our link to it, or our listener.
type wired struct {
	simulate.Softphone
	told *storytest.Tracked
	link *linktest.Watch // nil with the listener
}

func wire(t testing.TB, over string) *wired {
	t.Helper()
	w := &wired{told: storytest.New(t)}
	var o simulate.Options
	switch over {
	case "websocket", "http":
		l := must.Get(listener.Start(t.Context(), listener.Config{SocketToken: socketToken, PathToken: pathToken,
			HTTP: true, Tries: 1, Receive: w.told.Receive}))(t)
		t.Cleanup(l.Close)
		o = simulate.Options{Port: l.Port(), Token: socketToken, PathToken: pathToken}
	default:
		switch registry.Of(over).Reach {
		case registry.ByInbound:
			p, port := linktest.Inbound(t, "/in/"+pathToken+"/"+over, func(sock *exchangelink.Socket) link.Phone {
				return ari.Inbound(exchangelink.Account{HasExtension: func(extension string) bool { return extension == "115" }}, sock)
			})
			o, w.link = simulate.Options{Port: port, PathToken: pathToken}, linktest.RunInto(t, p, w.told.Receive)
		case registry.ByWebhook:
			o = simulate.Options{Port: hear(t, over, w.told.Receive), PathToken: pathToken}
		}
	}
	p := must.Get(simulate.Open(t.Context(), over, o))(t)
	w.Softphone = p
	t.Cleanup(func() { _ = p.Close() })
	if s, ok := p.(simulate.Server); ok {
		w.link = linktest.RunInto(t, linkTo(t, s.Address()), w.told.Receive)
	}
	late, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := p.Ready(late); err != nil {
		t.Fatalf("nobody came: %v", err)
	}
	return w
}

func hear(t testing.TB, over string, take func(call.Event) error) (port int) {
	t.Helper()
	read, ok := webhook.Of(over)
	path := "/in/" + pathToken + "/" + over
	if !ok {
		read, path = webhook.OwnMapping, "/in/"+pathToken
	}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		b, err := io.ReadAll(q.Body)
		all, wrong := read(webhook.Message{Query: q.URL.Query(), Type: q.Header.Get("Content-Type"), Body: b})
		if err = errors.Join(err, wrong); err != nil || q.URL.Path != path {
			t.Errorf("%s %s: %v", q.URL, b, err)
		}
		for _, r := range all {
			if !r.Empty() && !slices.Contains(r.Extensions, "115") {
				continue // a colleague's
			}
			r.Event.Source = registry.Of(over).CallSource("")
			if err := take(r.Event); err != nil {
				t.Error(err)
			}
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().(*net.TCPAddr).Port
}

// TestEveryStory checks that every built-in scenario, over every protocol, gives
// the tracker what is documented for it.
func TestEveryStory(t *testing.T) {
	for _, over := range linkedKinds {
		for _, s := range simulate.Builtin() {
			t.Run(over+"/"+s.ID, func(t *testing.T) {
				t.Parallel()
				w := wire(t, over)
				err := simulate.Play{Capabilities: registry.Of(over).Capabilities, Speed: 1e6, Repeat: 1, Prefix: "sim-", OnStep: func(s simulate.Step) { w.told.Set(s.At) }}.Run(t.Context(), w, s)
				must.Do(t, err)
				must.Do(t, w.Close())
				if w.link != nil {
					w.link.Until(link.Waiting) // everything before was processed
				}
				want, got := storytest.Want(t, s, over), w.told.Lines()
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("the tracker's story\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
				}
				if strings.Contains(w.told.Said(), "1239999") {
					t.Error("a withheld number came through")
				}
			})
		}
	}
}

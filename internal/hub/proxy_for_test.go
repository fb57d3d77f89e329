package hub

import (
	"net/http"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestProxyFor checks that another server is reached through the hub's proxy.
func TestProxyFor(t *testing.T) {
	const set = "http://set.example:8080"
	for _, c := range []struct{ setting, address, want string }{
		{set, "https://pbx.example", set}, {set, "wss://pbx.example:5001", set}, {"none", "https://pbx.example", ""},
		{set, "http://127.0.0.1:8088", ""}, {set, "ws://127.0.0.1:8088", ""},
	} {
		f, err := ProxyFor(c.setting, c.address)
		if err != nil || (f != nil) != (c.want != "") {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if f == nil {
			continue
		}
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://pbx.example/", nil))(t)
		if u, err := f(r); err != nil || u.String() != c.want {
			t.Errorf("%+v: %v, %v", c, u, err)
		}
	}
	for _, bad := range [][2]string{{"http://u:p@set.example", "https://pbx.example"}, {"system", ""}, {"system", "::"}, {"gopher://x", "https://pbx.example"}} {
		if _, err := ProxyFor(bad[0], bad[1]); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

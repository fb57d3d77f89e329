package hub

import (
	"net/http"
	"testing"
)

// A server beside the hub is reached through the hub's proxy.
func TestProxyFor(t *testing.T) {
	for _, c := range []struct{ setting, env, except, address, want string }{
		{"http://set.example:8080", "http://env.example:3128", "", "https://pbx.example", "http://set.example:8080"},
		{"http://set.example:8080", "", "", "wss://pbx.example:5001", "http://set.example:8080"},
		{"system", "http://env.example:3128", "", "https://pbx.example", "http://env.example:3128"},
		{"", "http://env.example:3128", "", "https://pbx.example", "http://env.example:3128"},
		{"system", "http://env.example:3128", "pbx.example", "https://pbx.example", ""},
		{"none", "http://env.example:3128", "", "https://pbx.example", ""},
		{"http://set.example:8080", "", "", "http://127.0.0.1:8088", ""},
		{"http://set.example:8080", "", "", "https://127.0.0.1:8089", ""},
		{"system", "", "", "https://pbx.example", ""},
	} {
		t.Setenv("HTTPS_PROXY", c.env)
		t.Setenv("https_proxy", "")
		t.Setenv("NO_PROXY", c.except)
		t.Setenv("no_proxy", "")
		f, err := ProxyFor(c.setting, c.address)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		got := ""
		if f != nil {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://pbx.example/", nil)
			if err != nil {
				t.Fatal(err)
			}
			if u, err := f(r); err != nil {
				t.Errorf("%+v: %v", c, err)
			} else if u != nil {
				got = u.String()
			}
		}
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	for _, bad := range [][2]string{{"http://u:p@set.example", "https://pbx.example"}, {"system", ""}, {"system", "::"}, {"gopher://x", "https://pbx.example"}} {
		if _, err := ProxyFor(bad[0], bad[1]); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

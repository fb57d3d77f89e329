package exchangelink

import (
	"context"
	"errors"
	"strings"
	"testing"

	"wiebelt/internal/softphone/registry"
)

// TestAccountRefused: an impossible account is refused before any request.
func TestAccountRefused(t *testing.T) {
	good := Account{Address: "https://pbx.example:8089", User: "u", Extension: "101", Secret: func(context.Context) (string, error) { return "", nil }}
	p, err := good.Open(registry.ARI)
	if want := registry.Of(registry.ARI).CallSource("pbx.example:8089/101"); err != nil || p.Traits().Source != want || p.Traits().Local {
		t.Fatalf("%+v %v", p, err)
	}
	for _, f := range []func(*Account){
		func(a *Account) { a.Extension = "" }, func(a *Account) { a.Extension = "1/../2" }, func(a *Account) { a.User = "" }, func(a *Account) { a.User = "a:b" }, func(a *Account) { a.User = "a\nb" }, func(a *Account) { a.User = "a\x7f" },
		func(a *Account) { a.Secret = nil }, func(a *Account) { a.Address = "" }, func(a *Account) { a.Address = "http://pbx.example:8088" },
		func(a *Account) { a.Address = "http://localhost:8088" },
	} {
		a := good
		f(&a)
		if _, err := a.Open(registry.ARI); err == nil || !strings.HasPrefix(err.Error(), "ari: ") {
			t.Errorf("%+v: %v", a, err)
		}
	}
	many := good
	many.HasExtension = func(string) bool { return true }
	if _, err := many.Open(registry.Wazo); err == nil {
		t.Error("a link that tells of one extension hears many")
	}
}

func TestPassword(t *testing.T) {
	broken := errors.New("broken")
	a := Account{Secret: func(context.Context) (string, error) { return "", broken }}
	if _, err := a.Password(t.Context(), "key"); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// TestClientName: two links of one user to one exchange have different
// names; an office's link keeps its name, whatever its extensions.
func TestClientName(t *testing.T) {
	desk, mobile := Account{Extension: "101"}, Account{Extension: "101-mobile"}
	if desk.ClientName() == mobile.ClientName() {
		t.Error("two extensions have one name")
	}
	desk.Client, mobile.Client = "office", "office"
	if name := desk.ClientName(); name != mobile.ClientName() || len(name) != len("wiebelt-0123456789ab") {
		t.Errorf("an office has the names %s and %s", name, mobile.ClientName())
	}
}

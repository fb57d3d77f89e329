package credentials

import (
	"bytes"
	"testing"

	"github.com/nats-io/nkeys"

	"wiebelt/internal/testutil/must"
)

// TestParse: keys are read back as they were written, a site's own as well as those of an
// account on somebody else's NATS; anything else is refused.
func TestParse(t *testing.T) {
	own := must.Get(New("kantoor"))(t)
	seed := func(k nkeys.KeyPair) string { return string(must.Get(k.Seed())(t)) }
	account := must.Get(own.account.PublicKey())(t)
	foreign := must.Get(NewExternal("kantoor", account, seed(own.account), seed(own.signing)))(t)
	for _, a := range []*Authority{own, foreign} {
		b := must.Get(a.Encode())(t)
		if again := must.Get(Parse(b))(t); !bytes.Equal(must.Get(again.Encode())(t), b) {
			t.Error("other keys are read")
		}
		for old, wrong := range map[string]string{"kantoor": "Kan toor", seed(own.signing): seed(own.operator), seed(own.account): "", "{": ""} {
			if _, err := Parse(bytes.Replace(b, []byte(old), []byte(wrong), 1)); err == nil {
				t.Errorf("%q counts for %q", wrong, old)
			}
		}
	}
	for _, wrong := range []string{"", "{}", "[]", `{"site":"kantoor"}`} {
		if _, err := Parse([]byte(wrong)); err == nil {
			t.Errorf("%q are keys", wrong)
		}
	}
	if _, err := NewExternal("kantoor", seed(own.account), seed(own.account), seed(own.signing)); err == nil {
		t.Error("a secret counts for the account's public key")
	}
}

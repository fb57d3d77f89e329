package hub

import (
	"io"
	"net/http"
	"testing"

	"wiebelt/internal/contact"
)

func FuzzDecode(f *testing.F) {
	f.Add([]byte(oneContact))
	f.Add([]byte(`{"data":{"items":[{"Relatienummer":1}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := decode(b, "")
		if err != nil && contact.FailureOf(err) != contact.NotUnderstood {
			t.Fatal(err)
		}
	})
}

func BenchmarkLookup(b *testing.B) {
	f := newFake(b)
	c := newClient(b, f.URL, nil)
	if _, err := c.Lookup(b.Context(), number); err != nil {
		b.Fatal(err)
	}
	b.Run("client", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.attempt(b.Context(), number); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			r, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, f.URL+"/contact", nil)
			resp, err := c.http.Do(r)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	})
	b.Run("kept", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.Lookup(b.Context(), number); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package hub

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestIsTheAnswerWhole: a receipt tells whether it holds all that the hub said,
// and a success whose answer broke off is none.
func TestIsTheAnswerWhole(t *testing.T) {
	for _, c := range []struct {
		name        string
		said        string
		promised    string // Content-Length, where it is more than is said
		cut, broken bool
		want        Outcome
	}{
		{"short", "taken", "", false, false, Delivered},
		{"as long as is kept", strings.Repeat("x", maxSaid), "", false, false, Delivered},
		{"longer", strings.Repeat("x", maxSaid+1), "", true, false, Delivered},
		{"longer than is read", strings.Repeat("x", maxReceipt) + "y", "", true, false, Delivered},
		{"its end is not read", "a" + strings.Repeat(" ", maxReceipt) + "b", "", true, false, Delivered},
		{"long, but only of spaces", "a" + strings.Repeat(" ", 2*maxSaid) + "b", "", false, false, Delivered},
		{"broken off", `{"data":`, "100", false, true, Uncertain},
		{"a text that broke off", "taken", "100", false, true, Uncertain},
	} {
		f := newFake(t)
		f.lookup = func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if c.promised != "" {
				w.Header().Set("Content-Length", c.promised)
			}
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, c.said)
			if c.promised != "" {
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		}
		got, err := deliveryClient(t, f.URL, nil).Deliver(t.Context(), []Item{bytesItem([]byte("PK"), nil)})
		if err != nil || got.Cut != c.cut || got.Broken != c.broken || got.Outcome != c.want || got.Status != http.StatusCreated {
			t.Errorf("%s: cut %t, broken %t, %s, %d, %v", c.name, got.Cut, got.Broken, got.Outcome, got.Status, err)
		}
	}
}

package hub

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// side measures one of two things being compared.
type side struct {
	one  func(n int) error
	took []time.Duration
}

func (s *side) p50() time.Duration {
	slices.Sort(s.took)
	return s.took[len(s.took)/2]
}

// lookupAndBare returns a lookup that is never cached, and the same request made
// with net/http alone: same server, path and headers, with the body read to its end.
func lookupAndBare(t testing.TB) (client, bare *side, lookup *Client) {
	f := newFake(t)
	c := newClient(t, f.URL, nil)
	plain := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	t.Cleanup(plain.CloseIdleConnections)
	number := func(n int) string { return fmt.Sprintf("+3120%07d", n) }
	client = &side{one: func(n int) error {
		found, err := c.Lookup(t.Context(), number(n))
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%d contacts", len(found))
		}
		return err
	}}
	bare = &side{one: func(n int) error {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.URL+"/contact/contacts/telephony?q=%2B"+number(n)[1:], nil)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer canary-token")
		r.Header.Set("Accept", "application/json")
		resp, err := plain.Do(r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = io.ReadAll(resp.Body)
		return err
	}}
	return client, bare, c
}

// interleave runs both sides alternately, each first equally often, so that other load on
// the machine affects both.
func interleave(t testing.TB, n int, a, b *side) {
	once := func(s *side, n int, count bool) {
		begin := time.Now()
		must.Do(t, s.one(n))
		if took := time.Since(begin); count {
			s.took = append(s.took, took)
		}
	}
	for i := range n + 50 { // the first fifty create connections and buffers
		if i%2 == 0 {
			once(a, i, i >= 50)
			once(b, i, i >= 50)
		} else {
			once(b, i, i >= 50)
			once(a, i, i >= 50)
		}
	}
}

// BenchmarkLookupOverBare measures what our client adds to a bare request, in
// one run: at most two fifths at p50, most of it spent on reading the answer.
func BenchmarkLookupOverBare(b *testing.B) {
	client, bare, _ := lookupAndBare(b)
	b.ResetTimer()
	interleave(b, max(b.N, 10_000), client, bare)
	b.StopTimer()
	c, p := client.p50(), bare.p50()
	ratio := float64(c) / float64(p)
	b.ReportMetric(float64(c.Nanoseconds())/1e3, "lookup-p50-us")
	b.ReportMetric(float64(p.Nanoseconds())/1e3, "bare-p50-us")
	b.ReportMetric(ratio, "ratio")
	if ratio > 1.4 {
		b.Errorf("a lookup takes %v, a bare request %v: %.2f times", c, p, ratio)
	}
}

// BenchmarkKept measures a cached answer.
func BenchmarkKept(b *testing.B) {
	_, _, c := lookupAndBare(b)
	b.ReportAllocs()
	for b.Loop() {
		must.Get(c.Lookup(b.Context(), number))(b)
	}
}

func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	body := []byte(oneContact)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		must.Get(decode(body, ""))(b)
	}
}

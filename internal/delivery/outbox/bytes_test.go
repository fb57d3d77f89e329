package outbox

import (
	"bufio"
	"encoding/base64"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"wiebelt/internal/hub"
	"wiebelt/internal/testutil/must"
)

// discarding returns a client for a server that only reads what it gets, and the server's address.
func discarding(t testing.TB) (client *hub.Client, base string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, r.Body, make([]byte, 64<<10))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"t1","expires_in":3600}`)
	}))
	t.Cleanup(s.Close)
	return newClient(t, s.URL), s.URL
}

const largeSize = 64 << 20

func large(t testing.TB) *os.File {
	t.Helper()
	f := must.Get(os.Create(filepath.Join(t.TempDir(), "large.zip")))(t)
	t.Cleanup(func() { _ = f.Close() })
	must.Get(io.Copy(f, io.LimitReader(rand.NewChaCha8([32]byte{1, 2, 3}), largeSize)))(t)
	return f
}

// TestLargeInLittleMemory checks that no more than a part of a file is ever in memory.
func TestLargeInLittleMemory(t *testing.T) {
	client, _ := discarding(t)
	o, path := open(t, Options{Hub: to(client)}), large(t).Name()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	it := add(t, o, path)
	drive(t, o)
	runtime.ReadMemStats(&after)
	if all := after.TotalAlloc - before.TotalAlloc; all > largeSize/8 || get(t, o, it.ID).State != Delivered {
		t.Errorf("%s, with %d bytes", get(t, o, it.ID).State, all)
	}
}

// BenchmarkDelivery compares the worker, from the spool to a server, with a bare
// copy through base64 to the same server.
func BenchmarkDelivery(b *testing.B) {
	client, base := discarding(b)
	f := large(b)
	o := open(b, Options{Hub: to(client), Policy: Policy{Duplicate: DuplicateSend}})
	tr := &http.Transport{DisableKeepAlives: true}
	defer tr.CloseIdleConnections()
	bare := func() time.Duration {
		must.Get(f.Seek(0, io.SeekStart))(b)
		r, w := io.Pipe()
		go func() {
			out := bufio.NewWriterSize(w, 64<<10) // the encoder writes small pieces
			_, _ = io.WriteString(out, `{"data":{"items":[{"message":"`)
			e := base64.NewEncoder(base64.StdEncoding, out)
			_, _ = io.Copy(struct{ io.Writer }{e}, struct{ io.Reader }{f})
			_ = e.Close()
			_, _ = io.WriteString(out, `"}]}}`)
			_ = out.Flush()
			_ = w.Close()
		}()
		began := time.Now()
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, base+"/x", r)
		must.Do(b, err)
		resp, err := tr.RoundTrip(req)
		must.Do(b, err)
		_ = resp.Body.Close()
		return time.Since(began)
	}
	ours := func() time.Duration {
		it := add(b, o, f.Name())
		began := time.Now()
		drive(b, o)
		took := time.Since(began)
		if get(b, o, it.ID).State != Delivered {
			b.Fatal("not delivered")
		}
		return took
	}
	bare()
	ours()
	best, bestBare := time.Hour, time.Hour
	for range 25 {
		bestBare, best = min(bestBare, bare()), min(best, ours())
	}
	for b.Loop() {
	}
	ratio := bestBare.Seconds() / best.Seconds()
	b.ReportMetric(largeSize/1e6/best.Seconds(), "MB/s")
	b.ReportMetric(largeSize/1e6/bestBare.Seconds(), "bare-MB/s")
	b.ReportMetric(ratio, "of-bare")
	if ratio < 0.8 {
		b.Errorf("%.2f of a bare copy", ratio)
	}
}

var _ Deliverer = (*hub.Client)(nil)

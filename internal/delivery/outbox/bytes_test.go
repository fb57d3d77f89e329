package outbox

import (
	"bufio"
	"encoding/base64"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wiebelt/internal/hub"
	"wiebelt/internal/testutil/must"
)

// BenchmarkDelivery compares the worker, from the spool to a server, with a bare
// copy through base64 to the same server.
func BenchmarkDelivery(b *testing.B) {
	const size = 64 << 20
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, r.Body, make([]byte, 64<<10))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"t1","expires_in":3600}`)
	})}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(b)
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(l) }()
	defer func() { _ = s.Close(); <-served }()
	base := "http://" + l.Addr().String()
	path := filepath.Join(b.TempDir(), "large.zip")
	f, err := os.Create(path)
	if err == nil {
		_, err = io.Copy(f, io.LimitReader(rand.NewChaCha8([32]byte{1, 2, 3}), size))
	}
	must.Do(b, err)
	defer f.Close()
	client := newClient(b, base)
	o := open(b, Options{Hub: func(string) (Deliverer, error) { return client, nil }, Policy: Policy{Duplicate: DuplicateSend}})
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
		it := add(b, o, path)
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
	b.ReportMetric(size/1e6/best.Seconds(), "MB/s")
	b.ReportMetric(size/1e6/bestBare.Seconds(), "bare-MB/s")
	b.ReportMetric(ratio, "of-bare")
	if ratio < 0.8 {
		b.Errorf("%.2f of a bare copy", ratio)
	}
}

var _ Deliverer = (*hub.Client)(nil)

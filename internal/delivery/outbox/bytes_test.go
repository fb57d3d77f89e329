package outbox

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/hub"
)

// noiseBlock repeats in pattern. A multiple of three bytes, so that its base64
// repeats as well.
var noiseBlock = func() []byte {
	b := make([]byte, 3*349_529)
	_, _ = rand.NewChaCha8([32]byte{1, 2, 3}).Read(b) // never fails
	return b
}()

// pattern is a file of any size that can be written and compared without holding
// it.
func pattern(size int64) io.Reader { return io.LimitReader(&repeated{block: noiseBlock}, size) }

type repeated struct {
	block []byte
	at    int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := copy(p, r.block[r.at:])
	r.at = (r.at + n) % len(r.block)
	return n, nil
}

// document is the body of a delivery around a pattern.
func document(size int64) io.Reader {
	rest := size % int64(len(noiseBlock))
	return io.MultiReader(strings.NewReader(`{"data":{"items":[{"message":"`),
		io.LimitReader(&repeated{block: []byte(base64.StdEncoding.EncodeToString(noiseBlock))}, (size-rest)/3*4),
		strings.NewReader(base64.StdEncoding.EncodeToString(noiseBlock[:rest])), strings.NewReader(`"}]}}`))
}

// same compares two readers to their ends.
func same(a, b io.Reader) error {
	x, y := make([]byte, 64<<10), make([]byte, 64<<10)
	for at := int64(0); ; {
		n, err := io.ReadFull(a, x)
		m, other := io.ReadFull(b, y)
		if !bytes.Equal(x[:n], y[:m]) {
			return fmt.Errorf("they differ within %d bytes after %d", len(x), at)
		}
		at += int64(n)
		if err != nil || other != nil {
			if err != other {
				return fmt.Errorf("after %d bytes: %v and %v", at, err, other)
			}
			return nil
		}
	}
}

// TestRequestByteForByte compares whole requests, as they come over the wire,
// with the documented one.
func TestRequestByteForByte(t *testing.T) {
	for _, c := range []struct {
		name string
		size int64
	}{{"klein.zip", 1000}, {".zip", 1}, {" .zip", 2}, {"bericht é 漢字 😀 \u202e.zip", 3}, {"groot.zip", 500 << 20}} {
		t.Run(fmt.Sprint(c.size), func(t *testing.T) {
			heads, verdict := make(chan string, 1), make(chan error, 1)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan struct{})
			go func() {
				defer close(served)
				for range 2 { // a token, and the delivery
					conn, err := l.Accept()
					if err != nil {
						return
					}
					in := bufio.NewReader(conn)
					var head strings.Builder
					for !strings.HasSuffix(head.String(), "\r\n\r\n") {
						line, err := in.ReadString('\n')
						if err != nil {
							break
						}
						head.WriteString(line)
					}
					r, err := http.ReadRequest(bufio.NewReader(io.MultiReader(strings.NewReader(head.String()), in)))
					switch {
					case err != nil:
						verdict <- err
					case strings.HasSuffix(r.URL.Path, "token"):
						_, _ = io.Copy(io.Discard, r.Body)
						_, _ = io.WriteString(conn, goodToken)
					default:
						heads <- head.String()
						verdict <- same(io.LimitReader(r.Body, r.ContentLength+1), document(c.size))
						_, _ = io.WriteString(conn, "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 10\r\nConnection: close\r\n\r\n{\"id\":\"1\"}")
					}
					_ = conn.Close()
				}
			}()
			defer func() { _ = l.Close(); <-served }()

			path := filepath.Join(t.TempDir(), c.name)
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
			if err == nil {
				_, err = io.Copy(f, pattern(c.size))
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			b := open(t, Options{Hub: to(newClient(t, "http://"+l.Addr().String()))})
			it := add(t, b, path)
			drive(t, b)
			if got := get(t, b, it.ID); got.State != Delivered || got.Size != c.size {
				t.Fatalf("%+v", got)
			}
			if err := <-verdict; err != nil {
				t.Error("the body: ", err)
			}
			lines := strings.Split(strings.TrimSuffix(<-heads, "\r\n\r\n"), "\r\n")
			if lines[0] != "POST /transaction/intermediary HTTP/1.1" {
				t.Errorf("%q", lines[0])
			}
			length := (c.size+2)/3*4 + int64(len(`{"data":{"items":[{"message":""}]}}`))
			for name, want := range map[string]string{"Authorization": "Bearer t1", "Content-Type": "application/json", "Cache-Control": "no-cache",
				"Content-Length": fmt.Sprint(length), "Host": l.Addr().String()} {
				n := 0
				for _, line := range lines[1:] {
					if line == name+": "+want {
						n++
					} else if strings.HasPrefix(strings.ToLower(line), strings.ToLower(name)+":") {
						t.Errorf("%q", line)
					}
				}
				if n != 1 {
					t.Errorf("%s stands %d times", name, n)
				}
			}
			for _, line := range lines[1:] {
				if strings.HasPrefix(line, "Transfer-Encoding") || strings.HasPrefix(line, "Expect") || strings.HasPrefix(line, "Idempotency") {
					t.Errorf("%q", line)
				}
			}
		})
	}
}

// BenchmarkDelivery compares the worker, from the spool to a server, with a bare
// copy through base64 to the same server.
func BenchmarkDelivery(b *testing.B) {
	const size = 64 << 20
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, r.Body, make([]byte, 64<<10))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"t1","expires_in":3600}`)
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(l) }()
	defer func() { _ = s.Close(); <-served }()
	base := "http://" + l.Addr().String()
	path := filepath.Join(b.TempDir(), "large.zip")
	f, err := os.Create(path)
	if err == nil {
		_, err = io.Copy(f, pattern(size))
	}
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	client := newClient(b, base)
	o := open(b, Options{Hub: func(string) (Deliverer, error) { return client, nil }, Policy: Policy{Duplicate: DuplicateSend}})
	tr := &http.Transport{DisableKeepAlives: true}
	defer tr.CloseIdleConnections()
	bare := func() time.Duration {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			b.Fatal(err)
		}
		r, w := io.Pipe()
		go func() {
			out := bufio.NewWriterSize(w, 64<<10) // the encoder gives small pieces
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
		if err != nil {
			b.Fatal(err)
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
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

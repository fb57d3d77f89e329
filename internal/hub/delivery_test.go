package hub

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
)

// bytesItem returns a file with these bytes; opened counts how often it is opened.
func bytesItem(b []byte, opened *atomic.Int64) Item {
	return Item{Size: int64(len(b)), Open: func() (io.ReadCloser, error) {
		if opened != nil {
			opened.Add(1)
		}
		return io.NopCloser(bytes.NewReader(b)), nil
	}}
}

func deliveryClient(t testing.TB, base string, change func(*Config)) *Client {
	return newClient(t, base, func(cfg *Config) {
		cfg.Intermediary = "postbus"
		if change != nil {
			change(cfg)
		}
	})
}

// TestDeliveryRequestToTheByte compares the request on the wire with the documented one.
func TestDeliveryRequestToTheByte(t *testing.T) {
	for _, c := range []struct {
		intermediary, path string
		files              []string
		body               string
	}{
		{"postbus", "/transaction/postbus", []string{"abc"}, `{"data":{"items":[{"message":"YWJj"}]}}`},
		{"a b é..%", "/transaction/a%20b%20%C3%A9..%25", []string{"a", "ab", "abcd"},
			`{"data":{"items":[{"message":"YQ=="},{"message":"YWI="},{"message":"YWJjZA=="}]}}`},
	} {
		base, sent := raw(t, reply("200 OK", "application/json", goodToken), reply("200 OK", "application/json", `{"id":"1"}`))
		cl := deliveryClient(t, base, func(cfg *Config) { cfg.Intermediary = c.intermediary })
		var items []Item
		for _, f := range c.files {
			items = append(items, bytesItem([]byte(f), nil))
		}
		got, err := cl.Deliver(t.Context(), items)
		if err != nil || got.Status != 200 || got.Answer != `{"id":"1"}` {
			t.Fatalf("%+v, %v", got, err)
		}
		<-sent
		head, body, _ := strings.Cut(<-sent, "\r\n\r\n")
		lines := strings.Split(head, "\r\n")
		if lines[0] != "POST "+c.path+" HTTP/1.1" || body != c.body {
			t.Errorf("%s\n%s", lines[0], body)
		}
		header := map[string]string{}
		for _, l := range lines[1:] {
			name, value, _ := strings.Cut(l, ": ")
			header[name] = value
		}
		for name, want := range map[string]string{"Authorization": "Bearer canary-token", "Content-Type": "application/json",
			"Cache-Control": "no-cache", "Content-Length": fmt.Sprint(len(c.body)), "Transfer-Encoding": "", "Expect": ""} {
			if header[name] != want {
				t.Errorf("%s: %q, want %q", name, header[name], want)
			}
		}
	}
}

// TestBodiesOfEverySize: the announced length is correct, and the content arrives
// unchanged, around every chunk boundary and for readers of any size.
func TestBodiesOfEverySize(t *testing.T) {
	for _, sizes := range [][]int{{1}, {2}, {3}, {4}, {chunkSize - 1}, {chunkSize}, {chunkSize + 1}, {2 * chunkSize}, {chunkSize + 1, 1, 3*chunkSize - 1}, {1, 1, 1, 1, 1}} {
		for _, chunk := range []int{1, 7, 4096, 1 << 20} {
			var items []Item
			var files [][]byte
			for n, size := range sizes {
				b := make([]byte, size)
				for i := range b {
					b[i] = byte(i*7 + n)
				}
				files = append(files, b)
				items = append(items, bytesItem(b, nil))
			}
			m := newMessage(items, defaultTimeouts, func() {})
			var body bytes.Buffer
			must.Get(io.CopyBuffer(struct{ io.Writer }{&body}, struct{ io.Reader }{m}, make([]byte, chunk)))(t)
			_ = m.Close()
			m.wait()
			var got struct {
				Data struct{ Items []struct{ Message []byte } }
			}
			if err := json.Unmarshal(body.Bytes(), &got); err != nil || int64(body.Len()) != m.length || !m.fullyRead() || len(got.Data.Items) != len(files) {
				t.Fatalf("%v: %v, %d bytes of %d", sizes, err, body.Len(), m.length)
			}
			for n, f := range files {
				if !bytes.Equal(got.Data.Items[n].Message, f) {
					t.Errorf("%v: item %d is another", sizes, n+1)
				}
			}
			if _, err := m.Read(make([]byte, 1)); err == nil || err == io.EOF {
				t.Errorf("read after it was closed: %v", err)
			}
		}
	}
}

// TestReceipts checks what Deliver returns of an answer, whether
// it reports it as complete, and that it retries only a 401.
func TestReceipts(t *testing.T) {
	const words = "wrong file, says the hub"
	for _, c := range []struct {
		name         string
		status       int
		kind, after  string
		said, answer string
		length       string // Content-Length, if larger than the body
		want         Receipt
	}{
		{"cleaned", 422, "", "", "  wrong\x00\u202e file,\r\n\tsays the hub ", words, "", Receipt{}},
		{"with the request", 500, "", "", "Authorization: Bearer canary/token" + words, "Authorization: Bearer …" + words, "", Receipt{}},
		{"and in JSON", 500, "", "", `{"was":"Bearer canary\/token"}`, `{"was":"Bearer …"}`, "", Receipt{}},
		{"a page", 200, "text/html; charset=utf-8", "", "<p>", "<p>", "", Receipt{WebPage: true}},
		{"nothing", 204, "", "", "", "", "", Receipt{Empty: true}},
		{"nothing, as its length says", 200, "text/html", "", "", "", "", Receipt{Empty: true}},
		{"an error", 200, "", "", `{"fout":"x"}`, `{"fout":"x"}`, "", Receipt{NamesError: true}},
		{"wait", 429, "", "30", "x", "x", "", Receipt{RetryAfter: 30 * time.Second}},
		{"wait until", 503, "", "Mon, 02 Nov 2026 09:02:00 GMT", "x", "x", "", Receipt{RetryAfter: 2 * time.Minute}},
		{"wait for years", 503, "", "99999999", "x", "x", "", Receipt{RetryAfter: time.Hour}},
		{"as long as is kept", 201, "", "", strings.Repeat("x", maxKeptAnswer), strings.Repeat("x", maxKeptAnswer), "", Receipt{}},
		{"longer", 201, "", "", strings.Repeat("x", maxKeptAnswer+1), strings.Repeat("x", maxKeptAnswer), "", Receipt{Truncated: true}},
		{"longer than is read", 201, "", "", strings.Repeat("x", maxReceipt) + "y", strings.Repeat("x", maxKeptAnswer), "", Receipt{Truncated: true, AnswerTooLong: true}},
		{"its end is not read", 201, "", "", "a" + strings.Repeat(" ", maxReceipt) + "b", "a", "", Receipt{Truncated: true, AnswerTooLong: true}},
		{"long, but only of spaces", 201, "", "", "a" + strings.Repeat(" ", 2*maxKeptAnswer) + "b", "a b", "", Receipt{}},
		{"broken off", 201, "", "", `{"data":`, `{"data":`, "100", Receipt{Broken: true}},
		{"item by item", 207, "application/json", "", `{"data":{"items":[{"status":201},{"status":"x"},{}]}}`, `{"data":{"items":[{"status":201},{"status":"x"},{}]}}`, "", Receipt{ItemStatuses: []int{201, 0, 0}}},
		{"item by item, as texts", 200, "", "", `{"data":{"items":[{"status":"422"},{"status":"inf"}]}}`,
			`{"data":{"items":[{"status":"422"},{"status":"inf"}]}}`, "", Receipt{ItemStatuses: []int{422, 0}}},
		{"an item of another type", 207, "", "", `{"data":{"items":[7,{"status":422}]}}`, `{"data":{"items":[7,{"status":422}]}}`, "", Receipt{ItemStatuses: []int{0, 422}}},
		{"by other signs", 200, "", "", `{"data":{"items":[{"status":1},{"status":201.5},{"status":600}]}}`, `{"data":{"items":[{"status":1},{"status":201.5},{"status":600}]}}`, "", Receipt{ItemStatuses: []int{0, 0, 0}}},
	} {
		f := newFake(t)
		f.token = func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"access_token":"canary/token","expires_in":3600}`)
		}
		f.lookup = func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header()["Content-Type"] = []string{c.kind}
			if c.after != "" {
				w.Header().Set("Retry-After", c.after)
			}
			if c.length != "" {
				w.Header().Set("Content-Length", c.length)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.said)
			if c.length != "" {
				panicAfterFlush(w)
			}
		}
		got, err := deliveryClient(t, f.URL, func(cfg *Config) { cfg.Now = newClock().Now }).Deliver(t.Context(), []Item{bytesItem([]byte("PK"), nil)})
		c.want.Status, c.want.Answer = c.status, c.answer
		if err != nil || !reflect.DeepEqual(got, c.want) || f.lookups.Load() != 1 {
			t.Errorf("%s: %+v, %v, %d requests", c.name, got, err, f.lookups.Load())
		}
	}
}

// TestNamesError: only what plainly is an error counts as one.
func TestNamesError(t *testing.T) {
	for said, want := range map[string]bool{`{"errors":[{"code":1}]}`: true, `{"Error":"x"}`: true, `{"data":{"fouten":{"a":1}}}`: true,
		"\ufeff{\"success\":false}": true, `{"error":"","errors":[],"data":{"error":null,"errors":{}}}`: false, `{"error":false,"success":true}`: false,
		`{"data":{"items":[{},{"errors":["of an item"]}]}}`: true, `{"error":{"code":0,"texts":[null,""]},"data":{"items":[{"error":null}]}}`: false, `{"error`: false, "error": false, `["error"]`: false, "": false} {
		if got := namesError([]byte(said)); got != want {
			t.Errorf("%s: %v", said, got)
		}
	}
}

// TestDeliveryRefreshesTheTokenOnce also checks that the files are opened again for the retry.
func TestDeliveryRefreshesTheTokenOnce(t *testing.T) {
	for _, c := range []struct {
		refuse          int64
		with, status    int
		requests, opens int64
	}{{0, 0, 200, 1, 1}, {1, 401, 200, 2, 2}, {9, 401, 401, 2, 2}, {1, 403, 200, 2, 2}, {9, 403, 403, 2, 2}} {
		f := newFake(t)
		var opened atomic.Int64
		f.token = func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"access_token":"t%d","expires_in":3600}`, f.tokens.Load())
		}
		content := bytes.Repeat([]byte("PK\x03\x04"), 1000)
		f.lookup = func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			want := `{"data":{"items":[{"message":"` + base64.StdEncoding.EncodeToString(content) + `"}]}}`
			if err != nil || string(body) != want || r.Header.Get("Authorization") != fmt.Sprintf("Bearer t%d", f.lookups.Load()) {
				t.Errorf("request %d: %v, %d bytes, %s", f.lookups.Load(), err, len(body), r.Header.Get("Authorization"))
			}
			if f.lookups.Load() <= c.refuse {
				w.WriteHeader(c.with)
			}
		}
		got, err := deliveryClient(t, f.URL, nil).Deliver(t.Context(), []Item{bytesItem(content, &opened)})
		if err != nil || got.Status != c.status || f.lookups.Load() != c.requests || opened.Load() != c.opens || f.tokens.Load() != c.requests {
			t.Errorf("%+v, %v: %d requests, %d tokens, opened %d times", got, err, f.lookups.Load(), f.tokens.Load(), opened.Load())
		}
	}
}

// endless produces bytes without storing them.
type endless struct{ left int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), e.left)
	for rest := p[:n]; len(rest) > 0; {
		rest = rest[copy(rest, pattern):]
	}
	e.left -= n
	return int(n), nil
}

var pattern = bytes.Repeat([]byte("PK\x03\x04 a file "), 2048)

func (e *endless) Close() error { return nil }

func endlessItem(size, real int64) Item {
	return Item{Size: size, Open: func() (io.ReadCloser, error) { return &endless{real}, nil }}
}

// TestFilesThatChange: a file that differs from what was announced ends the request; the
// hub never gets a complete one.
func TestFilesThatChange(t *testing.T) {
	broken := errors.New("the disk")
	path := &fs.PathError{Op: "open", Path: "/canary/file.zip", Err: fs.ErrNotExist}
	good := bytesItem([]byte("PK"), nil)
	for _, c := range []struct {
		name  string
		items []Item
		text  string
		is    error
		none  bool // the hub receives nothing
	}{
		{"shorter", []Item{endlessItem(100_000, 99_999)}, "item 1: the file is shorter than its size", ErrItem, false},
		{"longer", []Item{endlessItem(100_000, 100_001)}, "item 1: the file is longer than its size", ErrItem, false},
		{"small and longer", []Item{endlessItem(3, 4)}, "item 1: the file is longer than its size", ErrItem, false},
		{"empty", []Item{endlessItem(3, 0)}, "item 1: the file is shorter than its size", ErrItem, false},
		{"second", []Item{good, endlessItem(100_000, 10)}, "item 2: the file is shorter than its size", ErrItem, false},
		{"gone", []Item{good, {Size: 1, Open: func() (io.ReadCloser, error) { return nil, path }}}, "item 2: the file cannot be opened", fs.ErrNotExist, false},
		{"unreadable", []Item{{Size: 9, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader("PK"), &failing{broken})), nil
		}}}, "item 1: the file cannot be read", broken, false},
		{"unreadable at its end", []Item{{Size: 2, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader("PK"), &failing{broken})), nil
		}}}, "item 1: the file cannot be read", broken, false},
		{"no size", []Item{{Size: 0, Open: good.Open}}, "item 1: the file is empty, or larger than any hub takes", ErrItem, true},
		{"no items", nil, "delivery: 1 to 1000 items", nil, true},
		{"too many", make([]Item, maxItems+1), "delivery: 1 to 1000 items", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			heard := make(chan error, 1)
			f.lookup = func(_ http.ResponseWriter, r *http.Request) {
				_, err := io.Copy(io.Discard, r.Body)
				heard <- err
			}
			got, err := deliveryClient(t, f.URL, nil).Deliver(t.Context(), c.items)
			if err == nil || !strings.HasSuffix(err.Error(), c.text) || c.is != nil && !errors.Is(err, c.is) || !reflect.DeepEqual(got, Receipt{}) {
				t.Fatalf("%+v, %v; want %s", got, err, c.text)
			}
			var named *fs.PathError
			if errors.As(err, &named) || strings.Contains(err.Error(), "canary") {
				t.Errorf("the name came out: %v", err)
			}
			f.CloseClientConnections()
			f.Close() // waits for the handler
			if f.lookups.Load() == 0 {
				return // ended before the hub read the request's header
			}
			if err := <-heard; err == nil || c.none {
				t.Errorf("the hub got a whole request")
			}
		})
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// TestNothingWasSent checks failures before any part of the
// message is sent, after which the caller may simply retry.
func TestNothingWasSent(t *testing.T) {
	var opened atomic.Int64
	fails := func(what string, c *Client, want contact.Failure) {
		t.Helper()
		if _, err := c.Deliver(t.Context(), []Item{bytesItem([]byte("PK"), &opened)}); contact.FailureOf(err) != want {
			t.Errorf("%s: %v", what, err)
		}
	}
	fails("nobody listens", deliveryClient(t, "http://"+nettest.Nobody(t), nil), contact.ConnectionRefused)
	f := newFake(t)
	fails("no intermediary", newClient(t, f.URL, nil), contact.NotSetUp)
	f.token = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
	fails("no token", deliveryClient(t, f.URL, nil), contact.CredentialsRefused)
	c := deliveryClient(t, newFake(t).URL, nil)
	c.Close()
	fails("closed", c, contact.HubError)
	// The token is valid, but the hub's port is closed.
	f = newFake(t)
	c = deliveryClient(t, f.URL, nil)
	must.Get(c.deliveryTokens.get(t.Context()))(t)
	f.CloseClientConnections()
	f.Close()
	fails("gone meanwhile", c, contact.ConnectionRefused)
	if n := opened.Load(); n != 0 {
		t.Errorf("files were opened %d times", n)
	}
	for _, bad := range []string{".", "..", "a\nb", "a/b", "a\x7f", "\xff", strings.Repeat("x", 201)} {
		if ValidIntermediary(bad) {
			t.Errorf("intermediary %q was accepted", bad)
		}
	}
}

// TestTheFateIsUncertain checks failures after part of the message was
// sent, without an answer: the request is never retried automatically.
func TestTheFateIsUncertain(t *testing.T) {
	content := bytes.Repeat([]byte("PK"), 4<<20)
	abort := func(read int64) func(http.ResponseWriter, *http.Request) {
		return func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.CopyN(io.Discard, r.Body, read)
			panic(http.ErrAbortHandler)
		}
	}
	for _, c := range []struct {
		name string
		hub  func(http.ResponseWriter, *http.Request)
		size int
	}{
		{"broke at the beginning", abort(100), len(content)},
		{"broke in the middle", abort(1 << 20), len(content)},
		{"broke after the end", abort(1 << 40), 100},
		{"no HTTP", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, "hello\r\n\r\n")
				_ = conn.Close()
			}
		}, 100},
		{"200 before the end", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{}")
			panicAfterFlush(w)
		}, len(content)},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			f.lookup = c.hub
			var opened atomic.Int64
			got, err := deliveryClient(t, f.URL, nil).Deliver(t.Context(), []Item{bytesItem(content[:c.size], &opened)})
			// The reset may come before the answer is read.
			if err != nil || got.Status != 0 && !got.Early {
				t.Errorf("%+v, %v", got, err)
			}
			if f.lookups.Load() != 1 || opened.Load() != 1 {
				t.Errorf("%d requests, opened %d times", f.lookups.Load(), opened.Load())
			}
		})
	}
}

func panicAfterFlush(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// TestDeliveryIsGivenUp checks that a delivery ends when its caller cancels it, and on Close.
func TestDeliveryIsGivenUp(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(c *Client, cancel context.CancelFunc)
	}{
		{"caller", func(_ *Client, cancel context.CancelFunc) { cancel() }},
		{"close", func(c *Client, _ context.CancelFunc) { c.Close() }},
	} {
		f := newFake(t)
		reached := make(chan struct{})
		f.lookup = func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.CopyN(io.Discard, r.Body, 100)
			close(reached)
			_, _ = io.Copy(io.Discard, r.Body)
		}
		cl := deliveryClient(t, f.URL, nil)
		ctx, cancel := context.WithCancel(t.Context())
		closed := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			item := Item{Size: 1 << 30, Open: func() (io.ReadCloser, error) { return &watched{&endless{1 << 30}, closed}, nil }}
			got, err := cl.Deliver(ctx, []Item{item})
			if err != nil || got.Status != 0 {
				t.Errorf("%s: %+v, %v", c.name, got, err)
			}
			select {
			case <-closed:
			default:
				t.Errorf("%s: the file is still open", c.name)
			}
		})
		<-reached
		c.end(cl, cancel)
		all.Wait()
		cancel()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := deliveryClient(t, newFake(t).URL, nil).Deliver(ctx, []Item{endlessItem(1, 1)}); err == nil {
		t.Error("a delivery that was given up before it began")
	}
}

// TestASlowWay checks that a delivery that makes progress is not given up, however long it takes,
// nor while it waits for the answer, even if the last bytes took a while to send or record.
func TestASlowWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stalled := false
		m := newMessage([]Item{bytesItem(make([]byte, 8*chunkSize), nil)}, defaultTimeouts, func() { stalled = true })
		defer m.Close()
		for range 4 {
			must.Get(m.Read(make([]byte, chunkSize)))(t)
			time.Sleep(defaultTimeouts.stall * 2 / 3)
		}
		must.Get(io.CopyN(io.Discard, m, m.length-m.sent))(t)
		time.Sleep(defaultTimeouts.stall / 2)
		_, _ = m.Read(make([]byte, 1)) // its end
		time.Sleep(defaultTimeouts.stall * 2)
		if synctest.Wait(); stalled {
			t.Error("it stood still")
		}
	})
}

// TestEndOfFile: the end of a file is read once all of it is written to the hub, and
// before the end of the message.
func TestEndOfFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		file := bytes.NewReader(make([]byte, chunkSize))
		item := Item{Size: chunkSize, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(file, readerFunc(func([]byte) (int, error) { ended = true; return 0, io.EOF }))), nil
		}}
		m := newMessage([]Item{item}, defaultTimeouts, func() {})
		defer m.Close()
		must.Get(io.CopyN(io.Discard, m, m.length-int64(len(bodyEnd))))(t)
		if synctest.Wait(); ended {
			t.Error("the end was read while the last part was being written")
		}
		if n := must.Get(m.Read(make([]byte, 1)))(t); n != 0 || m.fullyRead() {
			t.Errorf("%d bytes", n)
		}
		if synctest.Wait(); !ended {
			t.Error("the message goes on without the end")
		}
		must.Get(io.Copy(io.Discard, m))(t)
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// TestAHubThatStops checks a hub that stops reading the
// message, and one that has all of it and does not answer.
func TestAHubThatStops(t *testing.T) {
	for _, c := range []struct {
		name     string
		size     int64
		timeouts timeouts
	}{
		{"reading", 64 << 20, timeouts{stall: 500 * time.Millisecond, answer: time.Hour}},
		{"answering", 100, timeouts{stall: time.Hour, answer: 500 * time.Millisecond}},
	} {
		f := newFake(t)
		gate := make(chan struct{})
		f.lookup = func(_ http.ResponseWriter, r *http.Request) {
			if c.size == 100 {
				_, _ = io.Copy(io.Discard, r.Body)
			}
			<-gate
		}
		cl := deliveryClient(t, f.URL, nil)
		cl.timeouts = c.timeouts
		got, err := cl.Deliver(t.Context(), []Item{endlessItem(c.size, c.size)})
		if err != nil || got.Status != 0 {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		close(gate)
	}
}

// TestAHubThatStopsWithinItsAnswer checks that a delivery ends, also over HTTP/2, if the hub begins
// to answer, takes no more of the message, and never ends its answer.
func TestAHubThatStopsWithinItsAnswer(t *testing.T) {
	root := newAuthority(t, "Root", nil)
	for _, two := range []bool{false, true} {
		f := unstarted(t)
		f.EnableHTTP2, f.TLS = two, root.server(t)
		gate := make(chan struct{})
		f.lookup = func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-gate
		}
		f.StartTLS()
		cl := root.trusting(t, f.URL)
		cl.deliveryURL = must.Get(deliveryAddress(cl.base, "postbus"))(t)
		cl.timeouts.stall = 500 * time.Millisecond
		got, err := cl.Deliver(t.Context(), []Item{endlessItem(64<<20, 64<<20)})
		if err != nil || got.Status != 200 || !got.Early || !got.Broken {
			t.Errorf("HTTP/2 %v: %+v, %v", two, got, err)
		}
		close(gate)
	}
}

type watched struct {
	io.Reader
	closed chan struct{}
}

func (w *watched) Close() error { close(w.closed); return nil }

// TestSeveralDeliveriesAtOnce checks that concurrent deliveries share the client,
// each on its own connection, and disturb neither each other nor the lookups.
func TestSeveralDeliveriesAtOnce(t *testing.T) {
	f := newFake(t)
	f.lookup = func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, oneContact)
			return
		}
		n, _ := io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"bytes":%d}`, n)
	}
	c := deliveryClient(t, f.URL, nil)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for m := range 5 {
				got, err := c.Deliver(t.Context(), []Item{endlessItem(1<<20, 1<<20)})
				if err != nil || got.Status != 200 {
					t.Errorf("%+v, %v", got, err)
				}
				if _, err := c.Lookup(t.Context(), fmt.Sprintf("+3120123%02d%02d", n, m)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := f.conns.Load(); n < 41 {
		t.Errorf("%d connections for 40 deliveries: one was used again", n)
	}
	if c.upload.next.ResponseHeaderTimeout != 0 {
		t.Error("a hub may take no longer for a large file than for a lookup")
	}
}

// TestRefusedTokenWhoseAnswerIsLost checks that the next try uses a new token even if
// the answer is lost: a hub that refuses a token during a long request may reset the
// connection before its answer is read, and this would repeat until the token expires.
func TestRefusedTokenWhoseAnswerIsLost(t *testing.T) {
	f := newFake(t)
	f.token = func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"access_token":"t%d","expires_in":3600}`, f.tokens.Load())
	}
	f.lookup = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t1" {
			_, _ = io.Copy(io.Discard, r.Body)
			return
		}
		_, _ = io.CopyN(io.Discard, r.Body, 1<<20)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.(*net.TCPConn).SetLinger(0) // unsent data is lost
		_ = conn.Close()
	}
	c := deliveryClient(t, f.URL, nil)
	item := []Item{endlessItem(32<<20, 32<<20)}
	first, err := c.Deliver(t.Context(), item)
	if err != nil || first.Status != 0 {
		t.Fatalf("%+v %v", first, err)
	}
	if second, err := c.Deliver(t.Context(), item); err != nil || second.Status != 200 || f.tokens.Load() != 2 {
		t.Errorf("%+v %v, %d tokens", second, err, f.tokens.Load())
	}
}

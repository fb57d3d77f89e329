package localhub

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
)

func numbered(t testing.TB, n int) []byte {
	return messagetest.ZIP(t, "bericht.xml", fmt.Sprintf("<Contractdocument><AL><AL_VRWRKCD>%d</AL_VRWRKCD></AL></Contractdocument>", n))
}

func deliver(t testing.TB, h *Hub, token, body string) answer {
	t.Helper()
	return do(t, newClient(t), "POST", h.BaseURL()+"/transaction/intermediary", body,
		"Authorization", "Bearer "+token, "Content-Type", "application/json", "Cache-Control", "no-cache")
}

func receipts(t testing.TB, a answer) []receipt {
	t.Helper()
	var v struct{ Data struct{ Items []receipt } }
	if err := json.Unmarshal([]byte(a.body), &v); err != nil || a.status != http.StatusOK {
		t.Fatalf("no receipts: %d %v %s", a.status, err, a.body)
	}
	return v.Data.Items
}

type refusalJSON struct {
	Error string `json:"error"`
	About string `json:"error_description"`
	Item  *int   `json:"item"`
}

func refused(t testing.TB, a answer) refusalJSON {
	t.Helper()
	var v refusalJSON
	if err := json.Unmarshal([]byte(a.body), &v); err != nil || v.Error == "" || v.About == "" || a.header.Get("Content-Type") != "application/json" {
		t.Fatalf("no refusal: %d %v %s", a.status, err, a.body)
	}
	return v
}

func errorCode(t testing.TB, a answer) string {
	t.Helper()
	return refused(t, a).Error
}

func box(t testing.TB, d *Data) []Message {
	t.Helper()
	return must.Get(d.Messages(t.Context(), "", 10_000))(t)
}

// files returns the files below a hub's folder for messages, including those in transit.
func files(t testing.TB, dir string) (all []string) {
	t.Helper()
	for _, sub := range []string{"incoming", "messages"} {
		err := filepath.WalkDir(filepath.Join(dir, sub), func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				all = append(all, path)
			}
			if os.IsNotExist(err) {
				return nil
			}
			return err
		})
		must.Do(t, err)
	}
	return all
}

func TestDeliverAndRead(t *testing.T) {
	dir := t.TempDir()
	now := newClock()
	h := start(t, Config{Dir: dir, Now: now.Now})
	a, b := numbered(t, 1), messagetest.ZIP(t, "bericht.xml", "<x/>", "bijlagen/polis.pdf", strings.Repeat("%PDF", 50_000))
	got := receipts(t, deliver(t, h, token(t, h), messagetest.Request(a, b)))
	if len(got) != 2 {
		t.Fatalf("%d receipts", len(got))
	}
	for i, want := range [][]byte{a, b} {
		sum := fmt.Sprintf("%x", sha256.Sum256(want))
		if r := got[i]; r.SHA256 != sum || r.Size != int64(len(want)) || r.Repeated || !r.Received.Equal(now.Now()) {
			t.Errorf("receipt %d: %+v", i, r)
		}
		m := must.Get(h.Message(t.Context(), got[i].ID))(t)
		if m.Sender != clientID || m.OrganisationCode != org || m.Intermediary != "intermediary" || m.Files != i+1 ||
			!m.Received.Equal(now.Now()) {
			t.Errorf("message %d: %+v", i, m)
		}
		var back bytes.Buffer
		if err := h.CopyMessage(m, &back); err != nil || !bytes.Equal(back.Bytes(), want) {
			t.Errorf("message %d came back otherwise: %v", i, err)
		}
	}
	if all := box(t, h.Data); len(all) != 2 || all[0].ID != got[1].ID || all[1].ID != got[0].ID {
		t.Errorf("box: %+v", all)
	}
	if older, err := h.Messages(t.Context(), got[1].ID, 10); err != nil || len(older) != 1 || older[0].ID != got[0].ID {
		t.Errorf("older: %+v %v", older, err)
	}
	if _, err := h.Message(t.Context(), "nobody"); err != ErrNoMessage {
		t.Error(err)
	}
	if len(files(t, dir)) != 2 {
		t.Errorf("files: %v", files(t, dir))
	}
	if runtime.GOOS != "windows" {
		for _, f := range files(t, dir) {
			if info, _ := os.Stat(f); info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v", info.Mode())
			}
		}
	}
}

func TestMessagesOutliveTheHub(t *testing.T) {
	dir := t.TempDir()
	h := start(t, Config{Dir: dir})
	id := receipts(t, deliver(t, h, token(t, h), messagetest.Request(numbered(t, 7))))[0].ID
	_ = notStarted(t, Config{Dir: dir})
	d := must.Get(OpenData(t.Context(), dir))(t) // while the hub runs
	must.Get(d.Message(t.Context(), id))(t)
	must.Do(t, d.Close(), h.Close())
	// The next start removes the remains of an interrupted delivery and keeps what is in the list.
	for _, stray := range []string{"incoming/x.part", "messages/aa/" + strings.Repeat("a", 64) + ".zip"} {
		name := filepath.Join(dir, filepath.FromSlash(stray))
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must.Do(t, os.WriteFile(name, []byte("half"), 0o600))
	}
	h2 := must.Get(Start(t.Context(), Config{Dir: dir}))(t)
	defer h2.Close()
	m := must.Get(h2.Message(t.Context(), id))(t)
	must.Do(t, h2.CopyMessage(m, io.Discard))
	if left := files(t, dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	// A damaged file is detected.
	must.Do(t, os.WriteFile(files(t, dir)[0], []byte("other"), 0o600))
	if err := h2.CopyMessage(m, io.Discard); err == nil {
		t.Error("a damaged file went out")
	}
}

func TestDeliverAllOrNone(t *testing.T) {
	dir := t.TempDir()
	h := start(t, Config{Dir: dir})
	tok := token(t, h)
	bad := messagetest.ZIP(t, "../a.xml", "x")
	r := refused(t, deliver(t, h, tok, messagetest.Request(numbered(t, 1), numbered(t, 2), bad)))
	if r.Item == nil || *r.Item != 2 || r.Error != "invalid_zip" {
		t.Errorf("%+v", r)
	}
	cut := messagetest.Request(numbered(t, 1), numbered(t, 2))
	refused(t, deliver(t, h, tok, cut[:len(cut)-3]))
	if n, err := h.CountMessages(t.Context()); n != 0 || err != nil || len(files(t, dir)) != 0 {
		t.Errorf("%d messages, %v, %v", n, files(t, dir), err)
	}
}

func TestDeliverRepeated(t *testing.T) {
	dir := t.TempDir()
	h := start(t, Config{Dir: dir, Intermediaries: []string{"intermediary", "other"}})
	must.Do(t, h.SetClientSecret(t.Context(), "second", org, secret))
	tok := token(t, h)
	a, b := numbered(t, 1), numbered(t, 2)
	first := receipts(t, deliver(t, h, tok, messagetest.Request(a, a, b)))
	if first[0].Repeated || !first[1].Repeated || first[2].Repeated || first[0].ID != first[1].ID {
		t.Errorf("twice in one request: %+v", first)
	}
	again := receipts(t, deliver(t, h, tok, messagetest.Request(b, a)))
	if !again[0].Repeated || !again[1].Repeated || again[0].ID != first[2].ID || again[1].ID != first[0].ID || !again[1].Received.Equal(first[0].Received) {
		t.Errorf("again: %+v", again)
	}
	if len(box(t, h.Data)) != 2 || len(files(t, dir)) != 2 {
		t.Errorf("%d messages in %d files", len(box(t, h.Data)), len(files(t, dir)))
	}
	// For another intermediary, or from another sender, it is another message with the same file.
	elsewhere := do(t, newClient(t), "POST", h.BaseURL()+"/transaction/other", messagetest.Request(a), "Authorization", "Bearer "+tok, "Content-Type", "application/json")
	if r := receipts(t, elsewhere); r[0].Repeated || r[0].ID == first[0].ID {
		t.Errorf("elsewhere: %+v", r)
	}
	if r := receipts(t, deliver(t, h, tokenOf(t, h, "second", org), messagetest.Request(a))); r[0].Repeated {
		t.Errorf("another sender: %+v", r)
	}
	if len(box(t, h.Data)) != 4 || len(files(t, dir)) != 2 {
		t.Errorf("%d messages in %d files", len(box(t, h.Data)), len(files(t, dir)))
	}
}

// TestDeliverRepeatedAtOneTime delivers the same message concurrently: it is stored once,
// and a sender told that it was already there can rely on it.
func TestDeliverRepeatedAtOneTime(t *testing.T) {
	h := start(t, Config{Dir: t.TempDir()})
	tok := token(t, h)
	body := messagetest.Request(numbered(t, 1))
	var wait sync.WaitGroup
	var mu sync.Mutex
	fresh, ids := 0, map[string]bool{}
	for range 8 {
		wait.Go(func() {
			r := receipts(t, deliver(t, h, tok, body))[0]
			mu.Lock()
			defer mu.Unlock()
			ids[r.ID] = true
			if !r.Repeated {
				fresh++
			}
		})
	}
	wait.Wait()
	if fresh != 1 || len(ids) != 1 {
		t.Errorf("stored %d times under %d ids", fresh, len(ids))
	}
}

func TestDeliverRefusals(t *testing.T) {
	dir := t.TempDir()
	h := start(t, Config{Dir: dir})
	tok := token(t, h)
	good := messagetest.Request(numbered(t, 1))
	json := "application/json"
	for name, c := range map[string]struct {
		method, path, kind, body string
		status                   int
		code                     string
	}{
		"unknown intermediary":  {"POST", "/transaction/nobody", json, good, 404, "unknown_intermediary"},
		"no type":               {"POST", "/transaction/intermediary", "", good, 415, "invalid_content_type"},
		"another alphabet":      {"POST", "/transaction/intermediary", json + "; charset=utf-16", good, 415, "invalid_content_type"},
		"no base64":             {"POST", "/transaction/intermediary", json, strings.Replace(good, `:"UEsD`, `:"U$sD`, 1), 400, "invalid_base64"},
		"a backslash in a name": {"POST", "/transaction/intermediary", json, messagetest.Request(messagetest.ZIP(t, `a\b.xml`, "x")), 400, "invalid_zip"},
		"a damaged ZIP":         {"POST", "/transaction/intermediary", json, messagetest.Request(append(numbered(t, 1), 'x')), 400, "invalid_zip"},
	} {
		a := do(t, newClient(t), c.method, h.BaseURL()+c.path, c.body, "Authorization", "Bearer "+tok, "Content-Type", c.kind)
		if r := refused(t, a); a.status != c.status || r.Error != c.code {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	do(t, newClient(t), "POST", h.BaseURL()+"/transaction/intermediary", good, "Authorization", "Bearer "+tok, "Content-Type", json, "Content-Encoding", "gzip").is(t, 415, "compressed")
	if n, _ := h.CountMessages(t.Context()); n != 0 || len(files(t, dir)) != 0 {
		t.Errorf("%d messages, files %v", n, files(t, dir))
	}
	receipts(t, deliver(t, h, tok, good)) // still works
}

func heap(do func()) int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, most := int64(m.HeapAlloc), int64(0)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.Tick(5 * time.Millisecond)
		for {
			select {
			case <-end:
				return
			case <-tick:
				runtime.ReadMemStats(&m)
				most = max(most, int64(m.HeapAlloc)-before)
			}
		}
	}()
	do()
	close(end)
	<-ended
	return most
}

// sender writes a request by hand, to send what no client would,
// and reads the answer while still writing.
func sender(t *testing.T, h *Hub, token, length string, body io.Reader) (status string, sent int64) {
	t.Helper()
	conn := wire(t, h, fmt.Sprintf("POST /transaction/intermediary HTTP/1.1\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s\r\n\r\n", token, length))
	written := make(chan int64, 1)
	go func() {
		n, _ := io.Copy(conn, body) // the hub may close first
		written <- n
	}()
	line := must.Get(bufio.NewReader(conn).ReadString('\n'))(t)
	conn.Close()
	return strings.TrimSpace(line), <-written
}

// endless repeats a byte.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	return copy(b, bytes.Repeat([]byte{byte(e)}, len(b))), nil
}

func TestDeliverBombs(t *testing.T) {
	dir := t.TempDir()
	h := start(t, Config{Dir: dir})
	tok := token(t, h)
	const long = 32 << 20 // twice what the heap may grow
	length := func(n int64) string { return fmt.Sprintf("Content-Length: %d", n) }
	bomb := messagetest.Request(messagetest.ZIP(t, "a", strings.Repeat("\x00", 33<<20)))
	for name, c := range map[string]struct {
		length string
		body   io.Reader
		status string
	}{
		"32 MB of zeros":        {length(long), io.LimitReader(endless(0), long), "400"},
		"32 MB of white space":  {length(long), io.LimitReader(endless(' '), long), "413"},
		"32 MB of one number":   {length(long), io.MultiReader(strings.NewReader(`{"a":`), io.LimitReader(endless('1'), long)), "413"},
		"32 MB of A":            {length(long), io.MultiReader(strings.NewReader(`{"data":{"items":[{"message":"`), io.LimitReader(endless('A'), long)), "400"},
		"it says 1 TB":          {length(1 << 40), io.LimitReader(endless('{'), 1<<20), "413"},
		"a bomb":                {length(int64(len(bomb))), strings.NewReader(bomb), "400"},
		"it says more than all": {length(99999999999999), strings.NewReader("{"), "413"},
	} {
		var status string
		var sent int64
		grown := heap(func() { status, sent = sender(t, h, tok, c.length, c.body) })
		if !strings.HasPrefix(status, "HTTP/1.1 "+c.status) || grown > 16<<20 {
			t.Errorf("%s: %q, %d MB sent, heap grew %d MB", name, status, sent>>20, grown>>20)
		}
	}
	if n, _ := h.CountMessages(t.Context()); n != 0 || len(files(t, dir)) != 0 {
		t.Errorf("%d messages, files %v", n, files(t, dir))
	}
}

// TestDeliverAtOneTime checks that a client with many deliveries in progress is
// told at once to retry further ones later, while other clients can deliver.
func TestDeliverAtOneTime(t *testing.T) {
	h := start(t, Config{})
	tok := token(t, h)
	must.Do(t, h.SetClientSecret(t.Context(), "second", org, secret))
	const many = maxUploads
	var begun []half
	for i := range many {
		begun = append(begun, startDelivery(t, h, messagetest.Request(numbered(t, i))))
	}
	for len(h.uploadSlots(clientID)) != many { // until all have begun
		runtime.Gosched()
	}
	next := messagetest.Request(numbered(t, many))
	if a := deliver(t, h, tok, next); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || refused(t, a).Error != "busy" {
		t.Errorf("%d %s", a.status, a.body)
	}
	deliver(t, h, tokenOf(t, h, "second", org), next).is(t, http.StatusOK, "another client")
	for _, d := range begun {
		if status := d.finish(t); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	for len(h.uploadSlots(clientID)) > 0 { // the answer is sent before the slot is released
		runtime.Gosched()
	}
	if n, _ := h.CountMessages(t.Context()); n != many+1 {
		t.Errorf("%d messages", n)
	}
}

// TestRefusalOfALongRequestArrives checks that a sender refused in the middle of a long
// message always sees the answer, although not all of the message is read.
func TestRefusalOfALongRequestArrives(t *testing.T) {
	h := start(t, Config{})
	const size = 3 * 64 << 20
	for name, want := range map[string]int{"no token": 401, "wrong type": 415, "fault": 503} {
		for range 10 {
			r := must.Get(http.NewRequestWithContext(t.Context(), "POST", h.BaseURL()+"/transaction/"+DefaultIntermediary, io.LimitReader(endless(' '), size)))(t)
			r.ContentLength = size
			switch name {
			case "wrong type":
				r.Header.Set("Authorization", "Bearer "+token(t, h))
				r.Header.Set("Content-Type", "text/plain")
			case "fault":
				h.Faults().Set(EndpointTransaction, Fault{Status: 503, Times: 1})
			}
			tr := &http.Transport{DisableKeepAlives: true}
			resp, err := tr.RoundTrip(r)
			if err != nil {
				t.Fatalf("%s: the answer was lost: %v", name, err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s: %d", name, resp.StatusCode)
			}
		}
	}
}

// slow returns a fixed number of bytes every two seconds.
type slow struct {
	now  time.Time
	each int
}

func (s *slow) Read(p []byte) (int, error) {
	s.now = s.now.Add(2 * time.Second)
	return min(len(p), s.each), nil
}

type lastDeadline struct{ read time.Time }

func (d *lastDeadline) SetReadDeadline(t time.Time) error  { d.read = t; return nil }
func (d *lastDeadline) SetWriteDeadline(t time.Time) error { return nil }

// TestPatience checks that a trickling delivery is aborted soon after the time allowed for
// a stalled one, and that one at modem speed is not.
func TestPatience(t *testing.T) {
	for each, want := range map[int]time.Duration{1: maxSilence + 10*time.Second, 2 * minRate * 9 / 10: 6 * time.Minute, 2 * minRate: maxDuration + 10*time.Second} {
		began := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
		body := &slow{began, each}
		var last lastDeadline
		p := newPacedReader(body, &last, func() time.Time { return body.now }, maxDuration)
		for buf := make([]byte, 64<<10); ; {
			must.Get(p.Read(buf))(t)
			if body.now.After(last.read) {
				break
			}
		}
		if took := body.now.Sub(began); took > want || each == 2*minRate && took < maxDuration {
			t.Errorf("%d bytes every two seconds: given up after %v, want %v", each, took, want)
		}
	}
}

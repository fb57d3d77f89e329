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
	"math"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
)

// Item is a file to deliver: a ZIP file, whose contents are opaque to us. Open reads it
// from the start and is called again for a retry; Size is its number of bytes.
type Item struct {
	Open func() (io.ReadCloser, error)
	Size int64
}

// Receipt is the answer to a delivery whose request was started. Without a
// Status, it is unknown whether the hub has the delivery. All items of a request
// share it. What a status means is undocumented, and left to the caller.
type Receipt struct {
	Status        int           // HTTP status; 0 if there was no answer
	RetryAfter    time.Duration // requested by the hub, at most an hour; 0 if not
	Answer        string        // from the hub, cleaned and cut, for the administrator; never logged
	Truncated     bool          // Answer is only the start of the hub's answer
	ItemStatuses  []int         // the status given for each of data.items, 0 if missing; nil without such a list
	AnswerTooLong bool          // the answer was too long to read, so ItemStatuses is unknown
	Broken        bool          // the answer broke off; Answer has what arrived
	WebPage       bool          // it is a web page: something on the way answers 200 to anything
	Early         bool          // it came before the whole request was sent
	Empty         bool          // it says itself that it has no body
	NamesError    bool          // it names an error, whatever its status
}

// ErrItem is the kind of error caused by a file. The hub
// then has no complete request, so nothing was delivered.
var ErrItem = errors.New("delivery: the file cannot be sent")

// itemError is an ErrItem that reports which item, from 1, and why, without names.
type itemError struct {
	number int
	why    string
	err    error
}

func (e *itemError) Error() string { return fmt.Sprintf("delivery: item %d: %s", e.number, e.why) }

func (e *itemError) Is(target error) bool { return target == ErrItem }
func (e *itemError) Unwrap() error        { return e.err }

// Limits on a delivery. The hub documents none.
const (
	maxItems      = 1000
	maxSize       = 1 << 40
	maxReceipt    = 64 << 10
	maxKeptAnswer = 4 << 10
	maxRetryAfter = time.Hour
)

// timeouts limit how long a delivery waits.
type timeouts struct {
	stall  time.Duration // without anything being sent
	answer time.Duration // from the last byte to the end of the answer
}

var defaultTimeouts = timeouts{stall: time.Minute, answer: 5 * time.Minute}

// newUpload creates the transport of deliveries. It keeps no connections: one that died
// while idle would swallow the start of a message, leaving its fate unknown.
func newUpload(cfg Config, base *url.URL) (*transport, error) {
	o, err := newTransport(cfg, base)
	if err != nil {
		return nil, err
	}
	o.next.DisableKeepAlives = true
	o.next.ResponseHeaderTimeout = 0 // the delivery has its own limits
	return o, nil
}

// ValidIntermediary reports whether a message box's name can be the
// last segment of an address. "" is no name, and is accepted.
func ValidIntermediary(intermediary string) bool {
	return intermediary != "." && intermediary != ".." && len(intermediary) <= 200 && utf8.ValidString(intermediary) &&
		!strings.ContainsFunc(intermediary, func(r rune) bool { return r < 0x20 || r == 0x7f || strings.ContainsRune(`/\?#`, r) })
}

// deliveryAddress returns the address of deliveries; nil without an intermediary.
func deliveryAddress(base *url.URL, intermediary string) (*url.URL, error) {
	if intermediary == "" {
		return nil, nil
	}
	if !ValidIntermediary(intermediary) {
		return nil, errors.New("hub.intermediary: not the last segment of an address")
	}
	return url.Parse(base.String() + "/transaction/" + escape(intermediary))
}

// Deliver sends items in one request, streaming them. An error means that the hub
// has no complete request and that nothing of it can have been delivered: it is a
// *contact.LookupError if none of the body was sent, or an ErrItem for a file
// that cannot be read or has another size. Everything else is in the receipt.
//
// Its limits are ctx, a minute without anything being sent, and five
// minutes for the answer. If the token is refused, it is renewed and the
// request repeated once; nothing else is repeated. Safe for concurrent use.
func (c *Client) Deliver(ctx context.Context, items []Item) (Receipt, error) {
	if c.deliveryURL == nil {
		return Receipt{}, failed(contact.NotSetUp, "no intermediary")
	}
	if err := checkItems(items); err != nil {
		return Receipt{}, err
	}
	if !c.begin() {
		return Receipt{}, errClosed()
	}
	defer c.work.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	for again := false; ; again = true {
		g, err := c.deliveryTokens.get(ctx)
		if err != nil {
			return Receipt{}, err
		}
		r, whole, err := c.deliver(ctx, items, g)
		if err == nil && r.Status == 0 && !whole && ctx.Err() == nil {
			// A hub that refuses the token during a long request may close the connection
			// before its answer is read: make the next attempt use another token.
			c.deliveryTokens.drop(g)
		}
		if refused := err == nil && g.recordStatus(r.Status); !refused {
			return r, err
		}
		if again || !c.deliveryTokens.drop(g) {
			return r, nil
		}
	}
}

func checkItems(items []Item) error {
	if len(items) == 0 || len(items) > maxItems {
		return fmt.Errorf("delivery: 1 to %d items", maxItems)
	}
	for n, it := range items {
		if it.Size <= 0 || it.Size > maxSize {
			return &itemError{number: n + 1, why: "the file is empty, or larger than any hub takes"}
		}
	}
	return nil
}

// deliver sends the request once; whole reports whether all of it was sent.
func (c *Client) deliver(ctx context.Context, items []Item, g *accessToken) (r Receipt, whole bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	body := newMessage(items, c.timeouts, func() { cancel(errStalled) })
	q := (&http.Request{Method: http.MethodPost, URL: c.deliveryURL, Host: c.deliveryURL.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: body, ContentLength: body.length,
		// No GetBody, so that the transport repeats nothing itself.
		Header: http.Header{"Authorization": g.bearer, "Content-Type": {"application/json"}, "Cache-Control": {"no-cache"}},
	}).WithContext(ctx)
	resp, err := c.upload.RoundTrip(q)
	var said []byte
	var broken error
	if err == nil {
		said, broken = io.ReadAll(io.LimitReader(resp.Body, maxReceipt+1))
		_ = resp.Body.Close()
	}
	body.wait()
	if body.fault != nil {
		return Receipt{}, false, body.fault
	}
	if err != nil {
		switch {
		case body.sent > 0:
			return Receipt{}, body.fullyRead(), nil
		case context.Cause(ctx) == errStalled:
			return Receipt{}, false, failed(contact.HubSlow, "nothing went on")
		}
		return Receipt{}, false, transportError(ctx, err)
	}
	r = readReceipt(resp, said, c.cfg.Now(), g.AccessToken)
	r.Broken, r.Early = broken != nil, !body.fullyRead()
	return r, body.fullyRead(), nil
}

// readReceipt reads an answer. It removes the token, which the hub may have repeated, from
// the text that is kept.
func readReceipt(resp *http.Response, said []byte, now time.Time, token string) Receipt {
	r := Receipt{Status: resp.StatusCode, RetryAfter: min(retryAfter(resp.Header.Get("Retry-After"), now), maxRetryAfter)}
	hidden := strings.NewReplacer(token, "…", strings.ReplaceAll(token, "/", `\/`), "…") // as JSON may write it
	words := hidden.Replace(string(said[:min(len(said), maxReceipt)]))
	clean := call.CleanText(words, maxReceipt)
	r.Answer = call.CleanText(clean, maxKeptAnswer)
	r.AnswerTooLong = len(said) > maxReceipt
	r.Truncated = r.AnswerTooLong || len(r.Answer) < len(clean)
	r.ItemStatuses = itemStatuses(said)
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	r.WebPage = kind == "text/html" && len(said) > 0
	r.Empty = len(said) == 0 && (resp.ContentLength == 0 || len(resp.TransferEncoding) > 0 || resp.ProtoMajor > 1)
	r.NamesError = namesError(said)
	return r
}

// namesError reports whether an answer in JSON plainly names an error, at its top, in data or
// in an item. Like itemStatuses it reads the full answer.
func namesError(said []byte) bool {
	var a map[string]any
	_ = json.Unmarshal(bytes.TrimPrefix(said, []byte("\ufeff")), &a)
	data, _ := a["data"].(map[string]any)
	items, _ := data["items"].([]any)
	for _, part := range append(items, a, data) {
		fields, _ := part.(map[string]any)
		for name, value := range fields {
			switch strings.ToLower(name) {
			case "error", "errors", "fout", "fouten":
				if !saysNothing(value) {
					return true
				}
			case "success", "succes":
				if value == false {
					return true
				}
			}
		}
	}
	return false
}

// saysNothing reports whether a value in JSON is null, false, 0, "", or holds only such values.
func saysNothing(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, inside := range v {
			if !saysNothing(inside) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(v, func(inside any) bool { return !saysNothing(inside) })
	default:
		return slices.Contains([]any{nil, false, 0.0, ""}, v)
	}
	return true
}

// itemStatuses reads what an answer says about each item, if it has the shape of a request:
// {"data":{"items":[{"status":201},…]}}. It reads the full answer, since the part kept
// for people may be too short.
func itemStatuses(said []byte) []int {
	var a struct {
		Data struct {
			Items []struct {
				Status any `json:"status"`
			} `json:"items"`
		} `json:"data"`
	}
	_ = json.Unmarshal(bytes.TrimPrefix(said, []byte("\ufeff")), &a) // skips values of other types
	var all []int
	for _, x := range a.Data.Items {
		n, _ := x.Status.(float64)
		if text, ok := x.Status.(string); ok {
			n, _ = strconv.ParseFloat(text, 64)
		}
		if n != math.Trunc(n) || n < 200 || n > 599 {
			n = 0 // another kind of status
		}
		all = append(all, int(n))
	}
	return all
}

// The parts of a delivery's body around its messages.
const (
	bodyStart = `{"data":{"items":[{"message":"`
	bodyNext  = `"},{"message":"`
	bodyEnd   = `"}]}}`
)

var errStalled = errors.New("nothing went on")

// message is the body of a delivery, generated by a goroutine of its own while the
// transport reads it. wait returns after that goroutine has ended.
type message struct {
	*io.PipeReader
	length   int64         // of the whole body
	fault    error         // caused by a file; valid after wait
	ended    chan struct{} // the files are closed
	timeouts timeouts
	stall    *time.Timer
	mu       sync.Mutex // held while reading; protects the next two
	sent     int64      // valid after wait, too
	resetAt  time.Time  // when stall was last reset
}

// chunkSize is how much of a file is read at once, a multiple of three.
const chunkSize = 24 << 10

func newMessage(items []Item, p timeouts, stalled func()) *message {
	r, w := io.Pipe()
	m := &message{PipeReader: r, timeouts: p, ended: make(chan struct{}), stall: time.AfterFunc(p.stall, stalled)}
	m.length = int64(len(bodyStart) + len(bodyNext)*(len(items)-1) + len(bodyEnd))
	for _, it := range items {
		m.length += (it.Size + 2) / 3 * 4
	}
	go func() {
		defer close(m.ended)
		_ = w.CloseWithError(m.write(w, items)) // never fails
	}()
	return m
}

// Read implements io.Reader for one request.
func (m *message) Read(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.PipeReader.Read(p)
	if n == 0 {
		return 0, err
	}
	m.sent += int64(n)
	switch now := time.Now(); {
	case m.fullyRead():
		m.stall.Reset(m.timeouts.answer)
	case now.Sub(m.resetAt) > m.timeouts.stall/10:
		// Not every time: setting a timer wakes a thread, and a message has
		// thousands of pieces.
		m.stall.Reset(m.timeouts.stall)
		m.resetAt = now
	}
	return n, err
}

// write writes the body. Problems with a file are found before the end of the body is
// written, so that the hub never has a whole request in that case.
func (m *message) write(w io.Writer, items []Item) error {
	before := bodyStart
	for n, it := range items {
		if _, err := io.WriteString(w, before); err != nil {
			return err // nobody reads any more
		}
		if err := m.writeItem(w, n+1, it); err != nil {
			return err
		}
		before = bodyNext
	}
	_, err := io.WriteString(w, bodyEnd)
	return err
}

func (m *message) writeItem(w io.Writer, number int, it Item) error {
	wrong := func(why string, err error) error {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err // without the file's name
		}
		m.fault = &itemError{number, why, err}
		return m.fault
	}
	f, err := it.Open()
	if err != nil {
		return wrong("the file cannot be opened", err)
	}
	defer f.Close()
	room, encoded := make([]byte, chunkSize), []byte(nil)
	for left := it.Size; left > 0; {
		n, err := io.ReadFull(f, room[:min(left, chunkSize)])
		left -= int64(n)
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return wrong("the file is shorter than its size", nil)
		case err != nil:
			return wrong("the file cannot be read", err)
		}
		encoded = base64.StdEncoding.AppendEncode(encoded[:0], room[:n])
		if _, err := w.Write(encoded); err != nil {
			return err
		}
	}
	// The caller may note the file's end as the point from which its fate is unknown: read
	// it once the transport has written what it took, and asks for more.
	if _, err := w.Write(nil); err != nil {
		return err
	}
	switch n, err := io.ReadFull(f, room[:1]); {
	case n > 0:
		return wrong("the file is longer than its size", nil)
	case err != io.EOF:
		return wrong("the file cannot be read", err)
	}
	return nil
}

func (m *message) fullyRead() bool { return m.sent == m.length }

// wait returns once the transport has closed the body or read all of it.
func (m *message) wait() {
	<-m.ended
	m.mu.Lock() // a Read that the last Write did not wait for has counted what it sent
	defer m.mu.Unlock()
	m.stall.Stop()
}

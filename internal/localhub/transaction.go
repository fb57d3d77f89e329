package localhub

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/delivery/message"
	"wiebelt/internal/store/sqlitefile"
	"wiebelt/internal/text"
)

// Time limits of a delivery. The interface documents none.
const (
	maxSilence  = 30 * time.Second // between two pieces of a request
	minRate     = 8 << 10          // bytes per second over the request, once maxSilence has passed
	maxDuration = time.Hour
	maxDrained  = 64 << 20 // of the rest of a rejected request
	drainTime   = 5 * time.Second
	maxUploads  = 8 // of a client at once; beyond that, it is told to retry
)

func (h *Hub) receiveDelivery(w http.ResponseWriter, r *http.Request, c client) (any, error) {
	h.stats.messages.Add(1)
	intermediary := r.PathValue("intermediary")
	body := newPacedReader(r.Body, http.NewResponseController(w), time.Now, maxDuration)
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case !slices.Contains(h.cfg.Intermediaries, intermediary):
		return nil, refuse(http.StatusNotFound, "unknown_intermediary", "this hub has no message box for that intermediary")
	case err != nil || kind != "application/json" || params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8"):
		return nil, refuse(http.StatusUnsupportedMediaType, "invalid_content_type", "the body is application/json")
	case r.Header.Get("Content-Encoding") != "":
		return nil, refuse(http.StatusUnsupportedMediaType, "invalid_content_type", "the body is not compressed")
	case r.ContentLength > defaultLimits.bytes/3*4+(2<<20):
		return nil, refuse(http.StatusRequestEntityTooLarge, "too_large", "the request is too large")
	}
	slots := h.uploadSlots(c.id)
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	default:
		w.Header().Set("Retry-After", "5")
		return nil, refuse(http.StatusServiceUnavailable, "busy", "too many deliveries at one time")
	}
	receipts, err := h.storeDelivery(r.Context(), body, c, intermediary)
	if err != nil {
		return nil, deliveryError(r.Context(), err)
	}
	h.log.Info("local hub: messages taken", "items", len(receipts))
	return wrapItems(receipts), nil
}

// senderError is an error of reading the request.
type senderError struct{ error }

func (e senderError) Unwrap() error { return e.error }

// deliveryError turns an error of a delivery into the one to answer
// with. It panics with http.ErrAbortHandler if the sender is gone.
func deliveryError(ctx context.Context, err error) error {
	switch {
	case errors.As(err, new(*refusal)):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(http.StatusRequestTimeout, "timeout", "the request came too slowly")
	case ctx.Err() != nil, errors.As(err, new(senderError)):
		panic(http.ErrAbortHandler) // the sender went away
	case sqlitefile.IsFull(err):
		return refuse(http.StatusInsufficientStorage, "no_space", "the hub has no room left; nothing was stored")
	}
	return err
}

// storeDelivery reads a request and stores all its messages or none.
func (h *Hub) storeDelivery(ctx context.Context, body io.Reader, from client, intermediary string) ([]receipt, error) {
	var all []*incomingFile
	defer func() { removeFiles(all) }()
	err := readDelivery(body, defaultLimits, func(int) (io.Writer, error) {
		p, err := h.newIncomingFile()
		if err == nil {
			all = append(all, p)
		}
		return p, err
	}, func(i int) error {
		p := all[i]
		files, err := checkZIP(ctx, p, i)
		if err != nil {
			return err
		}
		return p.seal(files)
	})
	if err != nil {
		return nil, err
	}
	return h.storeMessages(ctx, all, from, intermediary)
}

// zipLimits are wider than those of a sender's own check.
var zipLimits = func() message.Limits {
	l := message.Defaults
	l.Directory, l.Unpacked, l.Ratio = 8<<20, 4<<30, 250
	return l
}()

func checkZIP(ctx context.Context, p *incomingFile, item int) (files int, err error) {
	report, files, err := message.InspectZIP(ctx, p.file, p.size, zipLimits)
	if err != nil {
		return 0, err
	}
	for _, f := range report.Findings {
		if f.Severity == message.Refused || f.Code == message.NameBackslash {
			return 0, &refusal{http.StatusBadRequest, "invalid_zip", text.English.T(text.MessageFinding(string(f.Code))), item}
		}
	}
	return files, nil
}

// uploadSlots returns a client's slots for deliveries in progress: a slow or malicious
// client leaves room for the others.
func (h *Hub) uploadSlots(client string) chan struct{} {
	slots, _ := h.uploads.LoadOrStore(client, make(chan struct{}, maxUploads))
	return slots.(chan struct{})
}

// pacedReader reads a body as long as it keeps arriving, and fast enough:
// a large message takes longer than the server allows for other requests.
type pacedReader struct {
	body    io.Reader
	control deadlines
	now     func() time.Time
	began   time.Time
	ends    time.Time
	read    int64
}

type deadlines interface {
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

func newPacedReader(body io.Reader, control deadlines, now func() time.Time, longest time.Duration) *pacedReader {
	began := now()
	return &pacedReader{body: body, control: control, now: now, began: began, ends: began.Add(longest)}
}

func (p *pacedReader) Read(b []byte) (int, error) {
	slowest := p.began.Add(maxSilence + time.Duration(p.read/minRate)*time.Second)
	deadline := slices.MinFunc([]time.Time{p.now().Add(maxSilence), p.ends, slowest}, time.Time.Compare)
	_ = p.control.SetReadDeadline(deadline)
	_ = p.control.SetWriteDeadline(deadline.Add(maxDuration)) // for the answer, after the ZIP files are checked
	n, err := p.body.Read(b)
	p.read += int64(n)
	if err != nil && err != io.EOF {
		err = senderError{err}
	}
	return n, err
}

// answerFirst lets a sender see an answer that comes before the end of its request:
// it sends the answer first and then reads the rest of the request, within limits.
// A sender that is cut off while writing does not always see the answer, and if its
// request were read first, hardly ever once the limits are reached.
func answerFirst(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		control := http.NewResponseController(w)
		_ = control.Flush()
		_, _ = io.CopyN(io.Discard, newPacedReader(r.Body, control, time.Now, drainTime), maxDrained)
	})
}

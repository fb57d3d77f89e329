package exchangelink

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"sync"
	"time"
)

// Stream is an answer that lasts as long as its connection. It is closed when no part has
// arrived for Options.Silence, not counting the time in which a part waits for its receiver.
// Close belongs to one goroutine.
type Stream struct {
	// Server is the one that answered, of possibly several behind one name.
	Server *Server
	// Cookies are the server's cookies, formatted for the Cookie header.
	Cookies string

	asked *Server // under the common name
	in    chan []byte
	on    context.Context // ends with the stream
	end   context.CancelCauseFunc
	task  sync.WaitGroup
	err   error // why the reader ended; read it after in is closed
}

// Stream sends a request and delivers its answer in parts, as cut by split. If a server
// refuses, it returns the status, no stream and no error. The stream ends with ctx.
func (s *Server) Stream(ctx context.Context, method, path string, h http.Header, body []byte, split bufio.SplitFunc) (k *Stream, status int, err error) {
	k = &Stream{asked: s, in: make(chan []byte, queued)}
	on, end := context.WithCancelCause(ctx)
	var at string
	traced := httptrace.WithClientTrace(on, &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { at = c.Conn.RemoteAddr().String() }})
	resp, err := s.send(traced, s.client, method, path, h, body)
	if err == nil && resp.StatusCode/100 != 2 {
		resp.Body.Close()
		end(nil)
		return nil, resp.StatusCode, nil
	} else if err != nil {
		end(nil)
		return nil, 0, s.broke(ctx, err)
	}
	k.on, k.end = on, end
	here := *s
	here.fixed = at
	here.client = here.newClient()
	k.Server = &here
	for i, c := range resp.Cookies() {
		if i > 0 {
			k.Cookies += "; "
		}
		k.Cookies += c.Name + "=" + c.Value
	}
	k.task.Go(func() { k.read(ctx, resp.Body, split) })
	return k, resp.StatusCode, nil
}

func (k *Stream) read(ctx context.Context, body io.ReadCloser, split bufio.SplitFunc) {
	defer close(k.in)
	defer body.Close()
	silent := time.AfterFunc(k.asked.opts.Silence, func() { k.end(os.ErrDeadlineExceeded) })
	defer silent.Stop()
	parts := bufio.NewScanner(body)
	parts.Buffer(nil, maxMessage)
	parts.Split(split)
	for parts.Scan() {
		silent.Stop() // waiting for the receiver is not the server's silence
		select {
		case k.in <- bytes.Clone(parts.Bytes()):
		case <-k.on.Done():
		}
		silent.Reset(k.asked.opts.Silence)
	}
	switch err := parts.Err(); {
	case k.Silent():
		k.err = k.asked.broke(ctx, os.ErrDeadlineExceeded)
	case errors.Is(err, bufio.ErrTooLong):
		k.err = k.asked.broke(ctx, errLarge)
	default:
		k.err = k.asked.broke(ctx, errors.Join(io.ErrUnexpectedEOF, err)) // an unexpected end
	}
}

// In delivers the parts. It is closed when the answer has ended.
func (k *Stream) In() <-chan []byte { return k.in }

// Silent reports whether the stream was closed because nothing arrived for Options.Silence.
func (k *Stream) Silent() bool { return errors.Is(context.Cause(k.on), os.ErrDeadlineExceeded) }

// Err returns why In was closed.
func (k *Stream) Err() error { return k.err }

// Close ends the connection and waits for its goroutine.
func (k *Stream) Close() {
	k.end(nil)
	k.task.Wait()
	k.Server.Idle()
}

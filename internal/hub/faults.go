package hub

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"wiebelt/internal/core/contact"
)

// Errors of the transport itself.
var (
	errWrongHost = errors.New("request for another host")
	errPlainHTTP = errors.New("plain http left this computer")
)

type proxyStatus int

func (p proxyStatus) Error() string { return fmt.Sprintf("proxy: status %d", int(p)) }

// How far a request got.
const (
	stageNone int32 = iota
	stageName       // the name is being resolved
	stageConnect
	stageConnected // connected, to the hub or to the proxy
	stageTLS
	stageSending // the request is being sent
	stageAnswer
)

type traceKey struct{}

// trace records how a request went: the error of a RoundTrip and what explains it.
type trace struct {
	stage         atomic.Int32
	proxy         atomic.Bool // through a proxy
	certRequested bool        // the hub asked for a client certificate and never answered
	online        func() bool
	err           error
}

func (w *trace) Error() string { return w.err.Error() }
func (w *trace) Unwrap() error { return w.err }
func (w *trace) Timeout() bool { return timedOut(w.err) }

// reached records a stage unless the request is already past
// it: the transport may still be busy with a second connection.
func (w *trace) reached(stage int32) {
	for old := w.stage.Load(); old < stage && !w.stage.CompareAndSwap(old, stage); old = w.stage.Load() {
	}
}

func (w *trace) reachedIf(ok bool, stage int32) {
	if ok {
		w.reached(stage)
	}
}

func throughProxy(ctx context.Context) {
	if w, ok := ctx.Value(traceKey{}).(*trace); ok {
		w.proxy.Store(true)
	}
}

// transportError turns an error of the connection, or of reading the body, into a failure
// that people can act on. None of the error's text is passed on: it may contain the address
// with the number, or text from the other side.
func transportError(ctx context.Context, err error) error {
	w := &trace{online: online, err: err}
	w.stage.Store(stageAnswer) // an error without a trace comes from reading the body
	errors.As(err, &w)
	for _, explain := range []func(*trace) error{proxyFault, certificateFault, tlsFault, networkFault} {
		if e := explain(w); e != nil {
			return e
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded) || timedOut(err) {
		return timeoutError(w)
	}
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return failed(contact.HubError, "given up")
	}
	return brokenAnswer(w)
}

func timeoutError(w *trace) error {
	switch s := w.stage.Load(); {
	case w.proxy.Load() && s <= stageConnect:
		return failed(contact.ProxyFailed, "proxy: no connection in time")
	case w.proxy.Load() && s <= stageConnected:
		return failed(contact.HubSlow, "proxy: no way to the hub in time")
	case s == stageName:
		return failed(contact.HubSlow, "name not resolved in time")
	case s <= stageConnected:
		return failed(contact.HubSlow, "no connection in time")
	case s == stageTLS:
		return failed(contact.HubSlow, "no TLS handshake in time")
	case s == stageSending:
		return failed(contact.HubSlow, "no answer in time")
	}
	return failed(contact.HubSlow, "the answer did not end in time")
}

// proxyFault explains faults of the proxy, not of the hub behind it.
func proxyFault(w *trace) error {
	var status proxyStatus
	if errors.As(w.err, &status) {
		if status == http.StatusProxyAuthRequired {
			return failed(contact.ProxyLogin, status.Error())
		}
		return failed(contact.ProxyFailed, status.Error())
	}
	var op *net.OpError
	if !errors.As(w.err, &op) {
		return nil
	}
	switch op.Op {
	case "socks connect":
		if text := op.Err.Error(); strings.Contains(text, "authentication") {
			return failed(contact.ProxyLogin, "proxy: SOCKS")
		}
		if timedOut(op.Err) {
			return nil
		}
		return failed(contact.ProxyFailed, "proxy: it does not reach the hub")
	case "proxyconnect":
		if e := networkFault(&trace{online: w.online, err: op.Err}); e != nil {
			if contact.FailureOf(e) == contact.NoNetwork {
				return e
			}
			return failed(contact.ProxyFailed, "proxy: no connection")
		}
		if timedOut(op.Err) {
			return failed(contact.ProxyFailed, "proxy: no connection in time")
		}
		return failed(contact.ProxyFailed, "proxy: no TLS with it")
	}
	return nil
}

// certificateFault explains faults of the hub's certificate, or of the clock that it is
// checked against.
func certificateFault(w *trace) error {
	var (
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		verify  *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		roots   x509.SystemRootsError
	)
	errors.As(w.err, &verify)
	switch {
	case errors.As(w.err, &name):
		return failed(contact.CertificateMismatch, "the certificate is for another name")
	case errors.As(w.err, &invalid) && invalid.Reason == x509.Expired:
		if invalid.Cert != nil && time.Now().Before(invalid.Cert.NotBefore) {
			return failed(contact.ClockWrong, "the certificate is not valid yet")
		}
		return failed(contact.CertificateExpired, "the certificate has expired")
	case errors.As(w.err, &invalid) && invalid.Reason == x509.IncompatibleUsage:
		return failed(contact.CertificateUnknown, "the certificate is not for servers")
	case errors.As(w.err, &invalid):
		return failed(contact.CertificateUnknown, "the certificate breaks its authority's rules")
	case errors.As(w.err, &roots):
		return failed(contact.CertificateUnknown, "this computer has no root certificates")
	case errors.As(w.err, &unknown):
		return failed(contact.CertificateUnknown, unknownAuthority(verify))
	case verify != nil:
		return failed(contact.CertificateUnknown, "the certificate cannot be checked")
	}
	return nil
}

func unknownAuthority(verify *tls.CertificateVerificationError) string {
	if verify == nil || len(verify.UnverifiedCertificates) == 0 {
		return "signed by an unknown authority"
	}
	sent := verify.UnverifiedCertificates
	leaf := sent[0]
	switch {
	case leaf.CheckSignature(leaf.SignatureAlgorithm, leaf.RawTBSCertificate, leaf.Signature) == nil:
		return "the certificate is self-signed"
	case len(sent) == 1:
		return "signed by an unknown authority, and the hub sends no intermediate certificate"
	}
	return "signed by an unknown authority"
}

// tlsFault explains all other TLS failures.
func tlsFault(w *trace) error {
	var (
		record tls.RecordHeaderError
		op     *net.OpError
	)
	if errors.As(w.err, &record) || errors.Is(w.err, http.ErrSchemeMismatch) {
		return failed(contact.TLSFailed, "the hub answers without TLS")
	}
	alert := ""
	if errors.As(w.err, &op) && op.Op == "remote error" {
		alert = op.Err.Error()
	}
	text := innermost(w.err).Error()
	switch {
	case alert == "tls: certificate required", w.certRequested && (alert != "" || brokenOff(w.err)):
		return failed(contact.TLSFailed, "the hub wants a client certificate")
	case alert == "tls: protocol version not supported", strings.HasPrefix(text, "tls: server selected unsupported protocol version"):
		return failed(contact.TLSFailed, "the hub's TLS is older than 1.2")
	case alert == "tls: unrecognized name":
		return failed(contact.TLSFailed, "the hub does not serve this name")
	case alert != "":
		return failed(contact.TLSFailed, "the hub refuses the TLS handshake")
	case strings.HasPrefix(text, "tls: "):
		return failed(contact.TLSFailed, "the TLS handshake failed")
	}
	return nil
}

func networkFault(w *trace) error {
	var (
		dns *net.DNSError
		n   syscall.Errno
	)
	switch {
	case errors.As(w.err, &dns):
		switch {
		case !w.online():
			return failed(contact.NoNetwork, "name not resolved")
		case dns.IsTimeout:
			return failed(contact.HubSlow, "name not resolved in time")
		}
		return failed(contact.NameNotResolved, "")
	case !errors.As(w.err, &n):
		return nil
	}
	switch n {
	case syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ENETDOWN, wsaNetDown, wsaNetUnreachable, wsaHostUnreachable:
		if w.online() {
			return failed(contact.ConnectionRefused, "no route")
		}
		return failed(contact.NoNetwork, "no route")
	case syscall.ECONNREFUSED, wsaRefused:
		return failed(contact.ConnectionRefused, "refused")
	}
	return nil
}

// Windows' error numbers, which package syscall defines only there.
const (
	wsaNetDown         = syscall.Errno(10050)
	wsaNetUnreachable  = syscall.Errno(10051)
	wsaAborted         = syscall.Errno(10053)
	wsaReset           = syscall.Errno(10054)
	wsaRefused         = syscall.Errno(10061)
	wsaHostUnreachable = syscall.Errno(10065)
)

// brokenAnswer explains the rest: a broken connection, or an answer that is not HTTP.
func brokenAnswer(w *trace) error {
	var corrupt flate.CorruptInputError
	if errors.Is(w.err, gzip.ErrHeader) || errors.Is(w.err, gzip.ErrChecksum) || errors.As(w.err, &corrupt) {
		return failed(contact.NotUnderstood, "the answer's compression is broken")
	}
	s := w.stage.Load()
	if w.proxy.Load() && s <= stageConnected {
		return failed(contact.ProxyFailed, "proxy: the connection broke")
	}
	switch off := brokenOff(w.err); {
	case s == stageTLS:
		return failed(contact.HubError, "the connection broke in the TLS handshake")
	case s == stageAnswer && off:
		return failed(contact.HubError, "the connection broke within the answer")
	case s == stageAnswer:
		return failed(contact.NotUnderstood, "the answer is no HTTP, or too long")
	}
	return failed(contact.HubError, "the connection broke")
}

// brokenOff reports whether the other side closed the connection or stream.
func brokenOff(err error) bool {
	for _, e := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, wsaReset, wsaAborted} {
		if errors.Is(err, e) {
			return true
		}
	}
	text := err.Error()
	return strings.Contains(text, "server closed") || strings.Contains(text, "http2: ") || strings.Contains(text, "stream error: ")
}

func timedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// innermost returns the end of the chain of wrapped errors.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

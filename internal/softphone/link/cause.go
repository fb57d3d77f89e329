package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"os"
)

// Cause is a code for why a link is not connected, or what does not work behind one that
// is, so that users learn what to do. Each has its texts (text.LinkWhy, text.LinkDo).
type Cause string

// The causes.
const (
	NoCause            Cause = ""             // nothing helpful is known
	CauseNotListening  Cause = "nobody"       // nothing listens at the address
	CauseSilent        Cause = "silent"       // no answer in time
	CauseNotResolved   Cause = "name"         // the name cannot be resolved
	CauseCertAuthority Cause = "authority"    // a certificate of an authority unknown to this computer
	CauseCertHost      Cause = "host"         // a certificate for another name
	CauseCertExpired   Cause = "expired"      // a certificate that has expired or is not valid yet
	CauseTLS           Cause = "tls"          // any other TLS problem
	CauseProxy         Cause = "proxy"        // the proxy cannot be reached or refuses
	CauseProxyLogin    Cause = "proxy.login"  // the proxy requires a login
	CauseUnavailable   Cause = "fault"        // it answers that it is unavailable
	CauseUnexpected    Cause = "odd"          // an unexpected answer
	CauseNoSecret      Cause = "secret.none"  // no secret is stored
	CauseSecretStore   Cause = "secret.store" // the secret store does not return it
	CauseDenied        Cause = "denied"       // user or secret are not accepted
	CauseRights        Cause = "rights"       // the user lacks the permission
	CauseExtension     Cause = "extension"    // the extension is unknown, or not the user's
	CauseBria          Cause = "bria"         // its user has to allow the connection
	CauseOwner         Cause = "owner"        // it belongs to another user
	CauseSystem        Cause = "system"       // not available on this kind of computer
	CauseSettings      Cause = "settings"     // an unusable setting of the link
	CauseVersion       Cause = "version"      // another version, or it lacks what the link needs
	CauseEnded         Cause = "ended"        // the exchange has ended the subscription
	CauseReplaced      Cause = "replaced"     // another program receives our events
	CauseUnreadable    Cause = "unread"       // it sends unreadable messages

	// Behind a connected link to an office's relay.
	CauseStorage  Cause = "relay.storage"  // the relay cannot store its data
	CauseExchange Cause = "relay.exchange" // it is not connected to the exchange
	CauseHub      Cause = "relay.hub"      // it gets no answer from the hub
)

// CauseNeeds returns the cause for a missing setting that
// the link needs, one of those in package registry.
func CauseNeeds(setting string) Cause { return Cause("needs." + setting) }

// Causes lists all causes, for tests and for validation.
func Causes() []Cause {
	return []Cause{CauseNotListening, CauseSilent, CauseNotResolved, CauseCertAuthority, CauseCertHost, CauseCertExpired, CauseTLS, CauseProxy, CauseProxyLogin, CauseUnavailable, CauseUnexpected,
		CauseNoSecret, CauseSecretStore, CauseDenied, CauseRights, CauseExtension, CauseBria, CauseOwner, CauseSystem, CauseSettings, CauseVersion, CauseEnded, CauseReplaced, CauseUnreadable, CauseStorage, CauseExchange, CauseHub,
		CauseNeeds("address"), CauseNeeds("extension"), CauseNeeds("user")}
}

// ForAdmin reports whether the cause persists until somebody other than staff fixes it.
func (c Cause) ForAdmin() bool {
	switch c {
	case CauseCertAuthority, CauseCertHost, CauseCertExpired, CauseTLS, CauseProxyLogin:
		return true
	}
	return false
}

// Failure is an error in our own words, where a library's error could quote what
// the other side has sent.
type Failure struct {
	Why   string
	Cause Cause
}

func (f *Failure) Error() string { return f.Why }

// CauseOf returns the cause of a session's error.
func CauseOf(err error) Cause {
	var (
		refusal *Refusal
		failure *Failure
		name    *net.DNSError
		unknown x509.UnknownAuthorityError
		other   x509.HostnameError
		invalid x509.CertificateInvalidError
		verify  *tls.CertificateVerificationError
		timeout net.Error
	)
	switch {
	case errors.As(err, &refusal):
		return refusal.Cause
	case errors.As(err, &failure):
		return failure.Cause
	case errors.Is(err, ErrNotRunning), NobodyListens(err):
		return CauseNotListening
	case errors.As(err, &name):
		return CauseNotResolved
	case errors.As(err, &unknown):
		return CauseCertAuthority
	case errors.As(err, &other):
		return CauseCertHost
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return CauseCertExpired
	case errors.As(err, &invalid), errors.As(err, &verify), SpeaksNoTLS(err):
		return CauseTLS
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return CauseSilent
	}
	return NoCause
}

// SpeaksNoTLS reports whether something else than TLS answers.
func SpeaksNoTLS(err error) bool {
	var record tls.RecordHeaderError
	return errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch)
}

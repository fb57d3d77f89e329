package link

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"os"
)

// Cause says in a word why a link does not stand, or what does not work behind one
// that does, so that whoever looks learns what to do. Every one has its texts (text.LinkWhy, text.LinkDo).
type Cause string

// The causes.
const (
	NoCause         Cause = ""             // nothing is known that would help
	CauseNobody     Cause = "nobody"       // nobody listens at the address
	CauseSilent     Cause = "silent"       // no answer in time
	CauseName       Cause = "name"         // the name cannot be resolved
	CauseAuthority  Cause = "authority"    // a certificate of an authority that this computer does not know
	CauseHost       Cause = "host"         // a certificate for another name
	CauseExpired    Cause = "expired"      // a certificate that has expired, or is not valid yet
	CauseTLS        Cause = "tls"          // any other trouble with TLS
	CauseProxy      Cause = "proxy"        // the proxy cannot be reached, or refuses
	CauseLogin      Cause = "proxy.login"  // the proxy asks for a login
	CauseFault      Cause = "fault"        // it answers that it cannot serve now
	CauseUnexpected Cause = "odd"          // what answers is not what was expected
	CauseNoSecret   Cause = "secret.none"  // no secret is stored
	CauseStore      Cause = "secret.store" // the secret store does not give it out
	CauseDenied     Cause = "denied"       // user or secret are not accepted
	CauseRights     Cause = "rights"       // the user may not do that
	CauseExtension  Cause = "extension"    // the extension is not known, or not the user's
	CauseBria       Cause = "bria"         // its user has to allow us
	CauseOwner      Cause = "owner"        // it belongs to another user
	CauseSystem     Cause = "system"       // not on this kind of computer
	CauseSettings   Cause = "settings"     // a setting of the link cannot be used
	CauseVersion    Cause = "version"      // it speaks another version, or does not offer what the link needs
	CauseEnded      Cause = "ended"        // the exchange has ended what it was asked to tell
	CauseReplaced   Cause = "replaced"     // another program gets what was meant for us
	CauseUnread     Cause = "unread"       // it sends messages that cannot be read

	// Behind a link that stands: of an office's relay.
	CauseStorage  Cause = "relay.storage"  // it cannot keep what it has to
	CauseExchange Cause = "relay.exchange" // it does not hear the exchange
	CauseHub      Cause = "relay.hub"      // the hub does not answer it
)

// CauseNeeds is for a setting that the link needs and lacks: one of those of
// package registry.
func CauseNeeds(setting string) Cause { return Cause("needs." + setting) }

// Causes are all there are, for tests and for whoever is told of one.
func Causes() []Cause {
	return []Cause{CauseNobody, CauseSilent, CauseName, CauseAuthority, CauseHost, CauseExpired, CauseTLS, CauseProxy, CauseLogin, CauseFault, CauseUnexpected,
		CauseNoSecret, CauseStore, CauseDenied, CauseRights, CauseExtension, CauseBria, CauseOwner, CauseSystem, CauseSettings, CauseVersion, CauseEnded, CauseReplaced, CauseUnread, CauseStorage, CauseExchange, CauseHub,
		CauseNeeds("address"), CauseNeeds("extension"), CauseNeeds("user")}
}

// ForAdmin tells the causes that stay until somebody does something about them that
// staff cannot do.
func (c Cause) ForAdmin() bool {
	switch c {
	case CauseAuthority, CauseHost, CauseExpired, CauseTLS, CauseLogin:
		return true
	}
	return false
}

// Failure is an error in our own words, where those of a library could quote what
// the other side has sent.
type Failure struct {
	Why   string
	Cause Cause
}

func (f *Failure) Error() string { return f.Why }

// CauseOf is what an error of a session comes down to.
func CauseOf(err error) Cause {
	var (
		refusal *Refusal
		failure *Failure
		name    *net.DNSError
		unknown x509.UnknownAuthorityError
		other   x509.HostnameError
		invalid x509.CertificateInvalidError
		timeout net.Error
	)
	switch {
	case errors.As(err, &refusal):
		return refusal.Cause
	case errors.As(err, &failure):
		return failure.Cause
	case errors.Is(err, ErrNotThere):
		return CauseNobody
	case errors.As(err, &name):
		return CauseName
	case errors.As(err, &unknown):
		return CauseAuthority
	case errors.As(err, &other):
		return CauseHost
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return CauseExpired
	case errors.As(err, &invalid):
		return CauseTLS
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return CauseSilent
	}
	return NoCause
}

package hub

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"wiebelt/internal/contact"
)

// transportError turns what went wrong on the way into words that a person can
// act on. The error's own text may hold the address with the number: it is
// never passed on.
func transportError(ctx context.Context, err error) error {
	var (
		unknown  x509.UnknownAuthorityError
		name     x509.HostnameError
		invalid  x509.CertificateInvalidError
		verify   *tls.CertificateVerificationError
		dns      *net.DNSError
		op       *net.OpError
		location *url.Error
	)
	switch {
	case errors.As(err, &name):
		return failed(contact.CertificateName, "")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		if invalid.Cert != nil && time.Now().Before(invalid.Cert.NotBefore) {
			return failed(contact.ClockWrong, "the certificate is not valid yet")
		}
		return failed(contact.CertificateExpired, "")
	case errors.As(err, &unknown), errors.As(err, &invalid), errors.As(err, &verify):
		return failed(contact.CertificateUnknown, "")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failed(contact.HubSlow, "")
	case errors.As(err, &dns):
		if dns.IsTimeout {
			return failed(contact.HubSlow, "name")
		}
		return failed(contact.NameNotResolved, "")
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETDOWN):
		return failed(contact.NoNetwork, "")
	case errors.Is(err, syscall.ECONNREFUSED), connectionRefused(err):
		return failed(contact.ConnectionRefused, "")
	case errors.As(err, &location) && strings.Contains(location.Err.Error(), "Proxy Authentication Required"):
		return failed(contact.ProxyLogin, "")
	case errors.As(err, &op) && op.Timeout(), isTimeout(err):
		return failed(contact.HubSlow, "")
	}
	return failed(contact.HubError, "the connection broke")
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// connectionRefused knows Windows' number for it (WSAECONNREFUSED).
func connectionRefused(err error) bool {
	var n syscall.Errno
	return errors.As(err, &n) && n == 10061
}

package contact

import "errors"

// Failure is why a lookup gave no answer. "Nobody has this number" is not a failure but
// an answer without contacts.
type Failure string

// Failures for which cards, tray and commands have texts. The values are stable: they are
// error codes of "wiebelt lookup --json".
const (
	NotSetUp            Failure = "not_set_up"
	SecretNotForUser    Failure = "secret_no_right"   // the computer's secret is not for this user
	SecretUnreadable    Failure = "secret_unreadable" // for now: its store is locked or does not answer
	NoNetwork           Failure = "no_network"
	NameNotResolved     Failure = "name_not_resolved"
	ConnectionRefused   Failure = "connection_refused"
	ProxyLogin          Failure = "proxy_login"
	ProxyFailed         Failure = "proxy_failed" // the proxy is at fault, not the hub
	TLSFailed           Failure = "tls_failed"   // no secure connection, not because of the certificate
	CertificateUnknown  Failure = "certificate_unknown"
	CertificateExpired  Failure = "certificate_expired"
	CertificateMismatch Failure = "certificate_name"
	ClockWrong          Failure = "clock_wrong"
	CredentialsRefused  Failure = "credentials_refused"
	ScopeRefused        Failure = "scope_refused"
	HubError            Failure = "hub_error"
	HubSlow             Failure = "hub_slow"
	NotUnderstood       Failure = "answer_not_understood"
	NeverRang           Failure = "never_rang" // the relay only answers for numbers that called this user; not a fault
)

// LookupError is the error of a failed lookup. Its text contains no number, name, token or
// secret; neither does Detail, which is for logs and administrators.
type LookupError struct {
	Failure Failure
	Detail  string
}

// Error returns the failure and its detail.
func (e *LookupError) Error() string {
	if e.Detail == "" {
		return "lookup: " + string(e.Failure)
	}
	return "lookup: " + string(e.Failure) + ": " + e.Detail
}

// FailureOf returns the failure of err, HubError for any other error and "" for nil.
func FailureOf(err error) Failure {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*LookupError](err); ok {
		return e.Failure
	}
	return HubError
}

// NeedsAdmin reports whether only an administrator can fix the failure, so that retrying
// while the phone rings is pointless.
func (f Failure) NeedsAdmin() bool {
	switch f {
	case NotSetUp, SecretNotForUser, CredentialsRefused, ScopeRefused, CertificateUnknown, CertificateExpired, CertificateMismatch, ProxyLogin, TLSFailed:
		return true
	}
	return false
}

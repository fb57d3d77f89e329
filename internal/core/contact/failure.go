package contact

import "errors"

// Failure says why a lookup gave no answer. "Nobody has this number" is not a
// failure: that is an answer with no contacts.
type Failure string

// The failures that cards, tray and commands can put into words. The value is
// stable: it is the error code of "wiebelt lookup --json".
const (
	NotSetUp           Failure = "not_set_up"
	SecretNoRight      Failure = "secret_no_right" // the computer's secret is not for this user
	NoNetwork          Failure = "no_network"
	NameNotResolved    Failure = "name_not_resolved"
	ConnectionRefused  Failure = "connection_refused"
	ProxyLogin         Failure = "proxy_login"
	ProxyFailed        Failure = "proxy_failed" // the proxy, not the hub, is at fault
	TLSFailed          Failure = "tls_failed"   // no secure connection, for another reason than the certificate
	CertificateUnknown Failure = "certificate_unknown"
	CertificateExpired Failure = "certificate_expired"
	CertificateName    Failure = "certificate_name"
	ClockWrong         Failure = "clock_wrong"
	CredentialsRefused Failure = "credentials_refused"
	ScopeRefused       Failure = "scope_refused"
	HubError           Failure = "hub_error"
	HubSlow            Failure = "hub_slow"
	NotUnderstood      Failure = "answer_not_understood"
	NeverRang          Failure = "never_rang" // the relay answers for numbers that called this user, and nothing is wrong
)

// LookupError is the error of a lookup that failed. Its text carries no number,
// name, token or secret; Detail is for logs and administrators and obeys the
// same rule.
type LookupError struct {
	Failure Failure
	Detail  string
}

// Error names the failure and its detail.
func (e *LookupError) Error() string {
	if e.Detail == "" {
		return "lookup: " + string(e.Failure)
	}
	return "lookup: " + string(e.Failure) + ": " + e.Detail
}

// FailureOf returns the failure that err carries, HubError for any other error
// and "" for none.
func FailureOf(err error) Failure {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*LookupError](err); ok {
		return e.Failure
	}
	return HubError
}

// NeedsAdmin reports whether only an administrator can mend the failure, so
// that retrying while the phone rings is of no use.
func (f Failure) NeedsAdmin() bool {
	switch f {
	case NotSetUp, SecretNoRight, CredentialsRefused, ScopeRefused, CertificateUnknown, CertificateExpired, CertificateName, ProxyLogin, TLSFailed:
		return true
	}
	return false
}

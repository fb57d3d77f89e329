package relaylink

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"wiebelt/internal/relay/certificates"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/text"
)

// membership is what a computer received on joining: the relay's answer, and the private
// key, which was created here and never leaves it.
type membership struct {
	wire.Joined
	Seed        string `json:"seed"`
	Fingerprint string `json:"print,omitempty"` // of the authority by which the relay was known; "" for the system's

	pair    nkeys.KeyPair
	roots   *x509.CertPool // nil for the system's
	isLocal bool           // the relay runs on this computer
}

var errMembership = errors.New("not a membership of a relay")

// parseMembership parses the result of Join.
func parseMembership(s string) (m membership, err error) {
	if _, err := wire.ParseJoined([]byte(s)); err != nil || json.Unmarshal([]byte(s), &m) != nil {
		return membership{}, errMembership
	}
	if prefix, _, err := nkeys.DecodeSeed([]byte(m.Seed)); err != nil || prefix != nkeys.PrefixByteUser {
		return membership{}, errMembership
	}
	if m.pair, err = nkeys.FromSeed([]byte(m.Seed)); err != nil {
		return membership{}, errMembership
	}
	if m.CA != "" {
		if m.roots, err = certificates.Pool([]byte(m.CA)); err != nil {
			return membership{}, errMembership
		}
	}
	for i, address := range m.URLs {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			return membership{}, errMembership
		}
		switch ip, _ := netip.ParseAddr(u.Hostname()); {
		case u.Scheme == "tls" && !m.isLocal:
		case u.Scheme == "nats" && ip.IsLoopback() && m.isLocal == (i > 0):
			m.isLocal = true
		default:
			return membership{}, errMembership
		}
	}
	return m, nil
}

func (m membership) encode() string { return string(exchangelink.EncodeJSON(m)) }

// joinTime limits how long joining may take.
const joinTime = 15 * time.Second

// Join redeems a code at a relay and returns what to store as the secret of a link to it.
// The relay's certificate is verified by the fingerprint of its authority or, without one,
// by the system. Errors are fit for users.
func Join(ctx context.Context, address, code, fingerprint string) (stored string, err error) {
	at, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil || at.Scheme != "https" || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "" {
		return "", text.Errorf(text.RelayJoinAddress)
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return "", err
	}
	key, err := pair.PublicKey()
	if err != nil {
		return "", err
	}
	seed, err := pair.Seed()
	if err != nil {
		return "", err
	}
	m := membership{Seed: string(seed), Fingerprint: fingerprint}
	if m.Joined, err = requestJoin(ctx, at.String()+"/join", wire.JoinRequest{Code: code, Key: key}, fingerprint); err != nil {
		return "", err
	}
	stored = m.encode()
	if _, err := parseMembership(stored); err != nil {
		return "", text.Errorf(text.RelayJoinOther)
	}
	return stored, nil
}

// refusals maps a relay's refusals to texts.
var refusals = map[int]text.Key{
	http.StatusForbidden: text.RelayJoinCode, http.StatusTooManyRequests: text.RelayJoinWait,
	http.StatusServiceUnavailable: text.RelayJoinFault, http.StatusInternalServerError: text.RelayJoinFault,
}

// requestJoin sends the code to the relay, which answers with the membership.
func requestJoin(ctx context.Context, to string, asked wire.JoinRequest, fingerprint string) (wire.Joined, error) {
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(exchangelink.EncodeJSON(asked)))
	if err != nil {
		return wire.Joined{}, text.Errorf(text.RelayJoinAddress)
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS13}
	if fingerprint != "" {
		secure = certificates.PinnedTLS(fingerprint, r.URL.Hostname())
	}
	client := http.Client{
		Transport:     &http.Transport{TLSClientConfig: secure, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	a, err := client.Do(r)
	if err != nil {
		return wire.Joined{}, errorText(err)
	}
	defer a.Body.Close()
	if key, ok := refusals[a.StatusCode]; ok {
		return wire.Joined{}, text.Errorf(key)
	}
	b, err := io.ReadAll(io.LimitReader(a.Body, maxAnswer))
	if err != nil {
		return wire.Joined{}, errorText(err)
	}
	joined, err := wire.ParseJoined(b)
	if err != nil || a.StatusCode != http.StatusOK {
		return wire.Joined{}, text.Errorf(text.RelayJoinOther)
	}
	return joined, nil
}

// maxAnswer bounds a relay's answer, in bytes.
const maxAnswer = 64 << 10

// joinErrorTexts maps the reasons for not reaching a relay to texts.
var joinErrorTexts = map[link.Cause]text.Key{
	link.CauseCertHost: text.RelayJoinName, link.CauseCertExpired: text.RelayJoinExpired,
	link.CauseCertAuthority: text.RelayJoinUnknown, link.CauseTLS: text.RelayJoinUnknown,
}

// errorText returns the text for why a relay was not reached.
func errorText(err error) error {
	key := joinErrorTexts[link.CauseOf(err)]
	switch {
	case errors.Is(err, certificates.ErrFingerprint):
		key = text.RelayJoinFingerprint
	case link.SpeaksNoTLS(err):
		key = text.RelayJoinOther
	case link.NobodyListens(err), errors.Is(err, context.DeadlineExceeded):
		key = text.RelayJoinNobody
	}
	return text.Errorf(cmp.Or(key, text.RelayJoinOther))
}

// renewEvery is how often the token's remaining lifetime is checked.
const renewEvery = time.Hour

// renew requests a longer-lived token in time. If it cannot be stored, it is requested
// again: the relay issues it for this very key. s.Token belongs to maintain by then.
func (p *Phone) renew(ctx context.Context, s *session) {
	if p.account.StoreSecret == nil || time.Until(expires(s.Token)) > renewBefore {
		return
	}
	key, err := s.pair.PublicKey()
	if err != nil {
		return
	}
	b, err := s.ask(ctx, wire.TopicRenew, wire.RenewRequest{Key: key}, askTime)
	var answer wire.RenewAnswer
	if err != nil || json.Unmarshal(b, &answer) != nil || answer.Token == "" || len(answer.URLs) == 0 {
		return
	}
	next := s.membership
	next.Token, next.URLs = answer.Token, answer.URLs
	stored := next.encode()
	if m, err := parseMembership(stored); err == nil && p.account.StoreSecret(ctx, stored) == nil {
		s.Token = m.Token
	}
}

// renewBefore is how long before its end a token is renewed: at one week old, because the
// renewal also brings the list of relays.
const renewBefore = 83 * 24 * time.Hour

// expires returns when a token ends; the zero time if that cannot be read.
func expires(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct{ Exp int64 }
	if err != nil || json.Unmarshal(b, &claims) != nil || claims.Exp == 0 {
		return time.Time{}
	}
	return time.Unix(claims.Exp, 0)
}

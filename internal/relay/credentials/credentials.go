// Package credentials defines who may do what at a site. A site has an operator, one
// account and one signing key, created once and kept by its relays. Each user has a key
// pair that never leaves their computer, and a token (a JWT) signed with the signing key.
//
// What users may do is defined in the account, as a template with the user's name in it,
// and not in the token: someone with the signing key alone could create users, but none
// with more rights than other users.
//
// Values of this package are immutable.
package credentials

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"wiebelt/internal/relay/wire"
)

// Lifetime of a user's token, which the user's computer renews in time.
const Lifetime = 90 * 24 * time.Hour

// Authority creates tokens for a site. It holds the site's secrets.
type Authority struct {
	Site                               wire.Site
	operator, account, signing, system nkeys.KeyPair
	// externalAccount is the account's public key at a site that uses somebody else's NATS. Then
	// account is one of its signing keys, and there is no operator.
	externalAccount string
}

// NewExternal is for a site in an account on somebody else's NATS: relays and users are
// seeds of two signing keys of the account, the former without a scope, the latter
// with the scope of Rights.
func NewExternal(site wire.Site, account, relays, users string) (*Authority, error) {
	a := &Authority{Site: site, externalAccount: account}
	var err error
	if a.account, err = parseSeed(relays, nkeys.PrefixByteAccount); err == nil {
		a.signing, err = parseSeed(users, nkeys.PrefixByteAccount)
	}
	if err != nil || !nkeys.IsValidPublicAccountKey(account) {
		return nil, errKeys
	}
	return a, nil
}

// New creates the keys of a new site.
func New(site wire.Site) (*Authority, error) {
	a := &Authority{Site: site}
	for _, k := range a.keys() {
		var err error
		if *k.pair, err = nkeys.CreatePair(k.prefix); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// key describes one of the keys: its name in the file, where it is kept and its seed's prefix.
type key struct {
	name   string
	pair   *nkeys.KeyPair
	prefix nkeys.PrefixByte
}

func (a *Authority) keys() []key {
	return []key{
		{"operator", &a.operator, nkeys.PrefixByteOperator},
		{"account", &a.account, nkeys.PrefixByteAccount},
		{"signing", &a.signing, nkeys.PrefixByteAccount},
		{"system", &a.system, nkeys.PrefixByteAccount},
	}
}

// errKeys does not reveal anything from the file.
var errKeys = errors.New("not the keys of a site")

// Parse reads the output of Encode.
func Parse(b []byte) (*Authority, error) {
	var stored map[string]string
	if json.Unmarshal(b, &stored) != nil {
		return nil, errKeys
	}
	site, err := wire.ParseSite(stored["site"])
	if err != nil {
		return nil, errKeys
	}
	if account := stored["foreign"]; account != "" {
		return NewExternal(site, account, stored["account"], stored["signing"])
	}
	a := &Authority{Site: site}
	for _, k := range a.keys() {
		if *k.pair, err = parseSeed(stored[k.name], k.prefix); err != nil {
			return nil, errKeys
		}
	}
	return a, nil
}

func parseSeed(seed string, kind nkeys.PrefixByte) (nkeys.KeyPair, error) {
	if is, _, err := nkeys.DecodeSeed([]byte(seed)); err != nil || is != kind {
		return nil, errKeys
	}
	return nkeys.FromSeed([]byte(seed))
}

// Encode returns the secrets, for a file that only the relay may read.
func (a *Authority) Encode() ([]byte, error) {
	stored := map[string]string{"site": string(a.Site), "foreign": a.externalAccount}
	for _, k := range a.keys() {
		if *k.pair == nil {
			continue
		}
		seed, err := (*k.pair).Seed()
		if err != nil {
			return nil, err
		}
		stored[k.name] = string(seed)
	}
	return json.MarshalIndent(stored, "", "  ")
}

// Server is what a NATS server needs to verify tokens.
type Server struct {
	Operator      *jwt.OperatorClaims
	Account       string            // its public key
	System        string            // the system account's public key
	Accounts      map[string]string // tokens of both, by public key
	AccountClaims *jwt.AccountClaims
}

// Server returns what a NATS server needs.
func (a *Authority) Server() (Server, error) {
	public := make(map[string]string)
	for _, k := range a.keys() {
		p, err := (*k.pair).PublicKey()
		if err != nil {
			return Server{}, err
		}
		public[k.name] = p
	}
	operator := jwt.NewOperatorClaims(public["operator"])
	if _, err := operator.Encode(a.operator); err != nil {
		return Server{}, err
	}
	account := jwt.NewAccountClaims(public["account"])
	account.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	account.SigningKeys.AddScopedSigner(a.rights(public["signing"]))
	system := jwt.NewAccountClaims(public["system"])
	s := Server{Operator: operator, Account: public["account"], System: public["system"], Accounts: map[string]string{}, AccountClaims: account}
	for _, claims := range []*jwt.AccountClaims{account, system} {
		token, err := claims.Encode(a.operator)
		if err != nil {
			return Server{}, err
		}
		s.Accounts[claims.Subject] = token
	}
	return s, nil
}

// Rights returns what every user may publish and subscribe to, in the form of
// a signing key's scope.
func Rights(site wire.Site) (publish, subscribe []string) {
	const me = "{{name()}}"
	for _, t := range wire.Topics {
		if t != wire.TopicCalls {
			publish = append(publish, site.Subject(t, me))
		}
	}
	return publish, []string{site.Subject(wire.TopicCalls, me), site.StateSubject(), "_INBOX." + me + ".>"}
}

// rights returns the scope of every user: to receive their own calls and the relays' state,
// to confirm those, and to send their own requests. {{name()}} becomes the name in their token.
func (a *Authority) rights(signing string) *jwt.UserScope {
	scope := jwt.NewUserScope()
	scope.Key, scope.Role = signing, "user"
	p := &scope.Template.Permissions
	publish, subscribe := Rights(a.Site)
	p.Pub.Allow.Add(publish...)
	p.Sub.Allow.Add(subscribe...)
	p.Resp = &jwt.ResponsePermission{MaxMsgs: 1, Expires: wire.ReceiptTime}
	scope.Template.Subs = 16
	scope.Template.Payload = 4 << 10
	return scope
}

// UserToken returns a token for a user's public key.
func (a *Authority) UserToken(u wire.User, publicKey string, until time.Time) (string, error) {
	if !nkeys.IsValidPublicUserKey(publicKey) {
		return "", errors.New("not the public key of a user")
	}
	account, err := a.account.PublicKey()
	if err != nil {
		return "", err
	}
	c := jwt.NewUserClaims(publicKey)
	c.Name, c.IssuerAccount, c.Expires = u.Token(), cmp.Or(a.externalAccount, account), until.Unix()
	c.SetScoped(true)
	return c.Encode(a.signing)
}

// maxReport is the largest message of a publisher, in bytes.
const maxReport = 64 << 10

// PublisherCreds returns the credentials of a program that reports calls over NATS, in the
// format of NATS' own tools, and its public key. Until the key is revoked, it may publish
// on Site.ReportSubject and do nothing else.
func (a *Authority) PublisherCreds(name string) (creds []byte, public string, err error) {
	c, pair, err := a.program(name)
	if err != nil {
		return nil, "", err
	}
	c.Pub.Allow.Add(a.Site.ReportSubject())
	c.Sub.Deny.Add(">")
	c.Limits.Payload = maxReport
	token, err := c.Encode(a.account)
	if err != nil {
		return nil, "", fmt.Errorf("a token for a publisher: %w", err)
	}
	seed, err := pair.Seed()
	if err != nil {
		return nil, "", err
	}
	creds, err = jwt.FormatUserConfig(token, seed)
	return creds, c.Subject, err
}

// RelayToken returns a token and its key pair for a relay itself, which may do everything within
// the site. They live as long as the process.
func (a *Authority) RelayToken(name string) (token string, pair nkeys.KeyPair, err error) {
	c, pair, err := a.program(name)
	if err != nil {
		return "", nil, err
	}
	if token, err = c.Encode(a.account); err != nil {
		return "", nil, fmt.Errorf("a token for the relay: %w", err)
	}
	return token, pair, nil
}

// program returns a new key pair for a program, and claims that allow it everything.
func (a *Authority) program(name string) (*jwt.UserClaims, nkeys.KeyPair, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, nil, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, nil, err
	}
	c := jwt.NewUserClaims(public)
	c.Name, c.IssuerAccount = name, a.externalAccount
	return c, pair, nil
}

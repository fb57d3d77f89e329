// Package credentials is who may say what at a site. A site has an operator, one
// account and one signing key, made once and kept by its relays; each user has a key
// pair that never leaves his computer, and a token (a JWT) that the signing key
// vouches for.
//
// What a user may do is written in the account, as a template with his name in it,
// and not in his token: whoever got hold of the signing key alone could make
// users, but none that may do more than users may.
//
// Values of this package are not changed once made.
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

// Lifetime of a user's token, which his computer renews in time.
const Lifetime = 90 * 24 * time.Hour

// Authority makes tokens for a site. It holds the site's secrets.
type Authority struct {
	Site                               wire.Site
	operator, account, signing, system nkeys.KeyPair
	// foreign is the public key of the account of a site that uses somebody else's NATS.
	// There account is a signing key of it, and there is no operator.
	foreign string
}

// Foreign is for a site in an account of somebody else's NATS: seeds of two signing keys
// of the account, of which the one for relays has no scope and the one for users the
// scope that Rights gives.
func Foreign(site wire.Site, account, relays, users string) (*Authority, error) {
	a := &Authority{Site: site, foreign: account}
	var err error
	if a.account, err = pair(relays, nkeys.PrefixByteAccount); err == nil {
		a.signing, err = pair(users, nkeys.PrefixByteAccount)
	}
	if err != nil || !nkeys.IsValidPublicAccountKey(account) {
		return nil, errKeys
	}
	return a, nil
}

// New makes the keys of a new site.
func New(site wire.Site) (*Authority, error) {
	a := &Authority{Site: site}
	for _, k := range a.keys() {
		pair, err := k.make()
		if err != nil {
			return nil, err
		}
		*k.pair = pair
	}
	return a, nil
}

// key is one of the keys: where it is, how it is made and what its seed begins with.
type key struct {
	name   string
	pair   *nkeys.KeyPair
	make   func() (nkeys.KeyPair, error)
	prefix nkeys.PrefixByte
}

func (a *Authority) keys() []key {
	return []key{
		{"operator", &a.operator, nkeys.CreateOperator, nkeys.PrefixByteOperator},
		{"account", &a.account, nkeys.CreateAccount, nkeys.PrefixByteAccount},
		{"signing", &a.signing, nkeys.CreateAccount, nkeys.PrefixByteAccount},
		{"system", &a.system, nkeys.CreateAccount, nkeys.PrefixByteAccount},
	}
}

// errKeys says nothing of what was in the file.
var errKeys = errors.New("not the keys of a site")

// Parse reads what Encode has written.
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
		return Foreign(site, account, stored["account"], stored["signing"])
	}
	a := &Authority{Site: site}
	for _, k := range a.keys() {
		if *k.pair, err = pair(stored[k.name], k.prefix); err != nil {
			return nil, errKeys
		}
	}
	return a, nil
}

// pair reads a seed of one kind.
func pair(seed string, kind nkeys.PrefixByte) (nkeys.KeyPair, error) {
	if is, _, err := nkeys.DecodeSeed([]byte(seed)); err != nil || is != kind {
		return nil, errKeys
	}
	return nkeys.FromSeed([]byte(seed))
}

// Encode gives the secrets, as they are kept in a file for the relay alone.
func (a *Authority) Encode() ([]byte, error) {
	stored := map[string]string{"site": string(a.Site)}
	if a.foreign != "" {
		stored["foreign"] = a.foreign
	}
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

// Server is what a NATS server must know to judge tokens.
type Server struct {
	Operator      *jwt.OperatorClaims
	Account       string            // its public key
	System        string            // that of the system account
	Accounts      map[string]string // tokens by public key, of both
	AccountClaims *jwt.AccountClaims
}

// Server gives what a NATS server must know, with the public keys of users that are
// revoked. The server compares that moment with the one when a token was given, which
// may be that of a clock ahead of ours; no key is used again, so that all of its tokens
// are meant.
func (a *Authority) Server(revoked map[string]time.Time) (Server, error) {
	public := make(map[string]string)
	for _, k := range a.keys() {
		p, err := (*k.pair).PublicKey()
		if err != nil {
			return Server{}, err
		}
		public[k.name] = p
	}
	operator := jwt.NewOperatorClaims(public["operator"])
	operator.Name, operator.SystemAccount = string(a.Site), public["system"]
	if _, err := operator.Encode(a.operator); err != nil {
		return Server{}, err
	}
	account := jwt.NewAccountClaims(public["account"])
	account.Name = string(a.Site)
	account.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	account.SigningKeys.AddScopedSigner(a.rights(public["signing"]))
	system := jwt.NewAccountClaims(public["system"])
	system.Name = "system"
	s := Server{Operator: operator, Account: public["account"], System: public["system"], Accounts: map[string]string{}, AccountClaims: account}
	for _, claims := range []*jwt.AccountClaims{account, system} {
		token, err := claims.Encode(a.operator)
		if err != nil {
			return Server{}, err
		}
		s.Accounts[claims.Subject] = token
	}
	for key, when := range revoked { // not in the token, which takes a megabyte at most
		account.RevokeAt(key, when.Add(Lifetime))
	}
	return s, nil
}

// Rights are what every user may publish and subscribe to, as the scope of a signing
// key has it.
func Rights(site wire.Site) (publish, subscribe []string) {
	const me = "{{name()}}"
	for _, t := range wire.Topics {
		if t != wire.Calls {
			publish = append(publish, site.Subject(t, me))
		}
	}
	return publish, []string{site.Subject(wire.Calls, me), site.Relays(), "_INBOX." + me + ".>"}
}

// rights are those of every user: to hear his own calls and how the relays are
// doing, and to ask what is his to ask. {{name()}} becomes the name in his token.
func (a *Authority) rights(signing string) *jwt.UserScope {
	scope := jwt.NewUserScope()
	scope.Key, scope.Role = signing, "user"
	p := &scope.Template.Permissions
	publish, subscribe := Rights(a.Site)
	p.Pub.Allow.Add(publish...)
	p.Sub.Allow.Add(subscribe...)
	scope.Template.Subs = 16
	scope.Template.Payload = 4 << 10
	return scope
}

// User gives a user's token for his public key.
func (a *Authority) User(u wire.User, publicKey string, until time.Time) (string, error) {
	if !nkeys.IsValidPublicUserKey(publicKey) {
		return "", errors.New("not the public key of a user")
	}
	account, err := a.account.PublicKey()
	if err != nil {
		return "", err
	}
	c := jwt.NewUserClaims(publicKey)
	c.Name, c.IssuerAccount, c.Expires = u.Token(), cmp.Or(a.foreign, account), until.Unix()
	c.SetScoped(true)
	return c.Encode(a.signing)
}

// maxReport is what a publisher may send at once, in bytes.
const maxReport = 64 << 10

// Publisher gives what a program needs that reports calls over NATS, in the form in
// which NATS' own tools read it, and its public key. It may publish on Site.Reports and
// do nothing else, for as long as its key is not revoked.
func (a *Authority) Publisher(name string) (creds []byte, public string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, "", err
	}
	if public, err = pair.PublicKey(); err != nil {
		return nil, "", err
	}
	c := jwt.NewUserClaims(public)
	c.Name = name
	c.Pub.Allow.Add(a.Site.Reports())
	c.Sub.Deny.Add(">")
	c.Limits.Payload, c.IssuerAccount = maxReport, a.foreign
	token, err := c.Encode(a.account)
	if err != nil {
		return nil, "", fmt.Errorf("a token for a publisher: %w", err)
	}
	seed, err := pair.Seed()
	if err != nil {
		return nil, "", err
	}
	creds, err = jwt.FormatUserConfig(token, seed)
	return creds, public, err
}

// Relay gives a token and the key pair that goes with it, for a relay itself: it may
// do everything within the site. They live as long as the process.
func (a *Authority) Relay(name string) (token string, pair nkeys.KeyPair, err error) {
	if pair, err = nkeys.CreateUser(); err != nil {
		return "", nil, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return "", nil, err
	}
	c := jwt.NewUserClaims(public)
	c.Name, c.IssuerAccount = name, a.foreign
	if token, err = c.Encode(a.account); err != nil {
		return "", nil, fmt.Errorf("a token for the relay: %w", err)
	}
	return token, pair, nil
}

// Package setup reads and writes the set-up file: one encrypted file with all
// that an office's computers have in common, so that one is set up and the
// others take it over. It holds addresses, client, scopes, the client's secret,
// our own numbers, who helps and the softphone links, and nothing that is one
// computer's or that could run a program.
//
// The file is an age file (age-encryption.org/v1) with a passphrase. Whatever is
// in one was written by somebody else until it has been shown and tested:
// opening it changes nothing.
package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"filippo.io/age"

	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
)

// Suffix is how the file's name ends.
const Suffix = ".wiebelt"

// MinPassphrase is the least number of characters of a passphrase: whoever gets
// hold of the file can try as many as he likes.
const MinPassphrase = 12

// Errors of this package. None of them tells what stands in the file.
var (
	ErrShort      = errors.New("the passphrase is too short")
	ErrPassphrase = errors.New("the passphrase does not fit this file")
	ErrDamaged    = errors.New("this is no whole set-up file")
)

// KeyError is a setting in the file that may not stand there, or is wrong.
type KeyError struct{ Problem string }

func (e *KeyError) Error() string { return "a setting that may not stand there: " + e.Problem }

// Bounds of the file. One try at a passphrase takes 64 MB and about a fifth of a
// second; a file that asks for more than four times that is not opened.
const (
	maxFile   = 1 << 20
	maxPlain  = 512 << 10
	maxWork   = 18
	maxPhrase = 1000
)

// work is how much a try costs, as a power of two; tests do without.
var work = 16

// keys are the settings that go into the file. phone.call_back, which can be a
// command, is not among them, nor is anything that belongs to one computer.
var keys = []string{
	"hub.base_url", "hub.hub_url", "hub.client_id", "hub.organisation_code", "hub.contact_scopes", "hub.delivery_scopes",
	"hub.basic_auth_encoding", "hub.scope_parameter", "hub.relation_number_field", "hub.intermediary", "hub.secret_expires",
	"support.contact", "phone.region", "phone.internal_digits", "phone.internal_prefixes", "phone.never_lookup", "line", "softphone",
}

// Keys lists the settings that a set-up file can hold.
func Keys() []string { return slices.Clone(keys) }

// Office is what a set-up file holds. Printing one shows nothing.
type Office struct {
	Settings *settings.Settings // as if they were all there is
	Secret   string             // of the hub's client
}

// String gives nothing away.
func (Office) String() string { return "set-up of an office" }

// GoString is String.
func (o Office) GoString() string { return o.String() }

// Changes are the settings to set, for settings.Set: what stands in the file. A
// key of the hub that does not stand there is taken out, so that no hub is mixed
// with another one.
func (o Office) Changes() map[string]any {
	all := map[string]any{}
	for _, k := range keys {
		switch {
		case o.Settings.Source(k) != settings.Default:
			all[k] = o.Settings.Get(k)
		case strings.HasPrefix(k, "hub."):
			all[k] = nil
		}
	}
	return all
}

// contents is what is encrypted.
type contents struct {
	Format   string `json:"format"`
	Version  int    `json:"version"`
	Settings string `json:"settings"` // as in a settings file
	Secret   string `json:"secret"`
}

const format = "wiebelt-setup"

// Write encrypts the effective settings that an office has in common, and its
// client's secret. Errors are ErrShort and those of w.
func Write(w io.Writer, passphrase string, s *settings.Settings, secret string) error {
	if n := utf8.RuneCountInString(passphrase); n < MinPassphrase || len(passphrase) > maxPhrase {
		return ErrShort
	}
	values := map[string]any{}
	for _, k := range keys {
		if s.Source(k) != settings.Default {
			values[k] = s.Get(k)
		}
	}
	text, err := settings.Compose(values)
	if err != nil {
		return err
	}
	b, err := json.Marshal(contents{format, 1, text, secret})
	if err != nil {
		return err
	}
	to, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return err
	}
	to.SetWorkFactor(work)
	sealed, err := age.Encrypt(w, to)
	if err != nil {
		return err
	}
	if _, err := sealed.Write(b); err != nil {
		return err
	}
	return sealed.Close()
}

// Read decrypts a file and checks every setting in it. It returns ErrPassphrase,
// ErrDamaged or a *KeyError for what cannot be taken over.
func Read(r io.Reader, passphrase string) (Office, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return Office{}, err
	}
	if len(b) > maxFile {
		return Office{}, ErrDamaged
	}
	if passphrase == "" || len(passphrase) > maxPhrase {
		return Office{}, ErrPassphrase
	}
	id, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return Office{}, ErrPassphrase
	}
	id.SetMaxWorkFactor(maxWork)
	open, err := age.Decrypt(bytes.NewReader(b), id)
	var nobody *age.NoIdentityMatchError
	if errors.As(err, &nobody) {
		return Office{}, ErrPassphrase
	}
	if err != nil {
		return Office{}, ErrDamaged
	}
	plain, err := io.ReadAll(io.LimitReader(open, maxPlain+1))
	if err != nil || len(plain) > maxPlain {
		return Office{}, ErrDamaged
	}
	var c contents
	if json.Unmarshal(plain, &c) != nil || c.Format != format || c.Version != 1 || c.Secret == "" || len(c.Secret) > secret.MaxLength {
		return Office{}, ErrDamaged
	}
	return office(c)
}

func office(c contents) (Office, error) {
	s, problems := settings.Parse(c.Settings)
	if len(problems) > 0 {
		return Office{}, &KeyError{problems[0].String()}
	}
	for _, e := range settings.Keys() {
		if s.Source(e.Key) != settings.Default && !slices.Contains(keys, e.Key) {
			return Office{}, &KeyError{e.Key}
		}
	}
	if missing := s.Hub.Missing(); len(missing) > 0 {
		return Office{}, &KeyError{fmt.Sprintf("%s is missing", missing[0])}
	}
	return Office{s, c.Secret}, nil
}

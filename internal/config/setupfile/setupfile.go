// Package setupfile reads and writes the set-up file: one encrypted file with everything
// that an office's computers have in common, so that one is set up and the others import
// it. It contains the hub with the client's secret, the office's numbers, the softphone
// links, the support contact, and what is shown, stored and audited; nothing specific to
// a computer or person, or that could run a program. In an office with a relay it can omit
// the hub and its secret, and include a code with which one computer joins.
//
// The file is an age file (age-encryption.org/v1) with a generated passphrase, since
// whoever gets hold of the file can try any number of them. Its content is untrusted until
// it has been shown and tested: opening it changes nothing.
package setupfile

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"filippo.io/age"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/private"
	"wiebelt/internal/softphone/registry"
)

// Suffix is the file name's suffix.
const Suffix = ".wiebelt"

// Errors of this package. None of them reveals the file's content.
var (
	ErrPassphrase = errors.New("the passphrase does not fit this file")
	ErrDamaged    = errors.New("this is no whole set-up file")
)

// KeyError reports a setting in the file that is not allowed there, or wrong.
type KeyError struct{ Problem string }

func (e *KeyError) Error() string { return "a setting that may not stand there: " + e.Problem }

// Limits of the file. Trying a passphrase takes 256 MB and about a second; a file that
// requires more is not opened.
const (
	maxFile       = 1 << 20
	maxPlain      = 512 << 10
	maxWorkFactor = 18
	maxPhrase     = 1000
	maxCode       = 100
)

// WorkFactor is the cost of a try, as a power of two. Only tests change it.
var WorkFactor = maxWorkFactor

// excludedKeys are the settings that are not part of the file: those of one computer or
// person, and phone.call_back, which can be a command.
var excludedKeys = []string{"hub.secret_store", "hub.open_at_start", "phone.call_back",
	"listener.enabled", "listener.port", "listener.allowed_origins", "listener.http", "card.corner", "card.monitor", "card.hotkey", "card.hotkey_open", "card.hotkey_hear", "card.hotkey_close", "card.speech", "card.sound", "calls.group", "ui.theme", "log.level"}

// connectionKeys are the hub settings that a computer keeps if the file does not have them:
// how the hub is reached from there.
var connectionKeys = []string{"hub.proxy", "hub.extra_ca_file", "hub.lookup_timeout"}

// Keys returns the settings that a set-up file can contain.
func Keys() (keys []string) {
	for _, e := range settings.Keys() {
		if !slices.Contains(excludedKeys, e.Key) {
			keys = append(keys, e.Key)
		}
	}
	return append(keys, "line", "softphone")
}

// OmittedKeys returns the settings that somebody has set but that are not part of the file.
func OmittedKeys(s *settings.Settings) (keys []string) {
	for _, k := range excludedKeys {
		if s.Source(k) != settings.Default {
			keys = append(keys, k)
		}
	}
	return keys
}

// Office is the content of a set-up file. Printing one shows nothing.
type Office struct {
	private.Data
	Settings *settings.Settings // as if they were the only ones
	Secret   string             // of the hub's client; "" only where the settings have a relay and no hub
	Code     string             // with which one computer joins the relay; "" for none
}

// Changes returns the file's settings, for settings.Set. Hub keys missing from the file are
// removed, except connectionKeys, so that two hubs are not mixed.
func (o Office) Changes() map[string]any {
	all := map[string]any{}
	for _, k := range Keys() {
		switch {
		case o.Settings.Source(k) != settings.Default:
			all[k] = o.Settings.Get(k)
		case strings.HasPrefix(k, "hub.") && !slices.Contains(connectionKeys, k):
			all[k] = nil
		}
	}
	return all
}

type contents struct {
	Format   string `json:"format"`
	Version  int    `json:"version"`
	Settings string `json:"settings"` // as in a settings file
	Secret   string `json:"secret"`
	Code     string `json:"code,omitempty"`
}

const format = "wiebelt-setup"

// Write encrypts the effective settings that an office has in common, and its secrets,
// and returns the generated passphrase: 100 random bits as five groups of letters and
// digits. Errors are those of w.
func Write(w io.Writer, o Office) (passphrase string, err error) {
	values := o.Changes()
	links, _ := values["softphone"].([]settings.Softphone) // one to a relay is made by joining
	values["softphone"] = slices.DeleteFunc(links, func(l settings.Softphone) bool { return l.Kind == registry.Relay })
	text, err := settings.Compose(values)
	if err != nil {
		return "", err
	}
	b, _ := json.Marshal(contents{format, 1, text, o.Secret, o.Code}) // texts and a number cannot fail
	passphrase = newPassphrase()
	to, _ := age.NewScryptRecipient(passphrase) // only an empty one is refused
	to.SetWorkFactor(WorkFactor)
	sealed, err := age.Encrypt(w, to)
	if err != nil {
		return "", err
	}
	if _, err := sealed.Write(b); err != nil {
		return "", err
	}
	return passphrase, sealed.Close()
}

func newPassphrase() string {
	random := strings.ToLower(rand.Text())
	var groups []string
	for i := range 5 {
		groups = append(groups, random[4*i:4*i+4])
	}
	return strings.Join(groups, "-")
}

// Read decrypts a file and checks every setting in it. It returns ErrPassphrase, ErrDamaged
// or a *KeyError if it cannot be used.
func Read(b []byte, passphrase string) (Office, error) {
	if len(b) > maxFile {
		return Office{}, ErrDamaged
	}
	if len(passphrase) > maxPhrase {
		return Office{}, ErrPassphrase
	}
	id, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return Office{}, ErrPassphrase
	}
	id.SetMaxWorkFactor(maxWorkFactor)
	open, err := age.Decrypt(bytes.NewReader(b), id)
	if _, nobody := errors.AsType[*age.NoIdentityMatchError](err); nobody {
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
	if json.Unmarshal(plain, &c) != nil || c.Format != format || c.Version != 1 || len(c.Secret) > secret.MaxLength || len(c.Code) > maxCode {
		return Office{}, ErrDamaged
	}
	return office(c)
}

func office(c contents) (Office, error) {
	s, problems := settings.Parse(c.Settings)
	wrong, missing := OmittedKeys(s), s.Hub.Missing()
	switch {
	case len(problems) > 0:
		return Office{}, &KeyError{problems[0].Error()}
	case len(wrong) > 0:
		return Office{}, &KeyError{wrong[0]}
	case c.Code != "" && s.Relay.URL == "":
		return Office{}, &KeyError{"relay.url is missing"}
	case c.Secret == "" && WithoutHub(s): // nothing is missing
	case len(missing) > 0:
		return Office{}, &KeyError{missing[0] + " is missing"}
	case c.Secret == "":
		return Office{}, ErrDamaged
	}
	return Office{Settings: s, Secret: c.Secret, Code: c.Code}, nil
}

// WithoutHub reports whether an office's relay queries the hub for everybody, so that a
// set-up file needs no hub secret: a secret belongs to an address and a client.
func WithoutHub(s *settings.Settings) bool {
	return s.Relay.URL != "" && (s.Hub.BaseURL == "" || s.Hub.ClientID == "")
}

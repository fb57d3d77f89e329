// Package setupfile reads and writes the set-up file: one encrypted file with all
// that an office's computers have in common, so that one is set up and the
// others take it over. It holds the hub with the client's secret, our own
// numbers, the softphone links, who helps, what is shown, kept and audited; and
// nothing that is one computer's or one person's, or that could run a program.
// In an office with a relay it can do without the hub and its secret, and have a
// code with which one computer joins.
//
// The file is an age file (age-encryption.org/v1) with a passphrase, which is
// made here: whoever gets hold of the file can try as many as he likes. Whatever
// is in one was written by somebody else until it has been shown and tested:
// opening it changes nothing.
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

// Suffix is how the file's name ends.
const Suffix = ".wiebelt"

// Errors of this package. None of them tells what stands in the file.
var (
	ErrPassphrase = errors.New("the passphrase does not fit this file")
	ErrDamaged    = errors.New("this is no whole set-up file")
)

// KeyError is a setting in the file that may not stand there, or is wrong.
type KeyError struct{ Problem string }

func (e *KeyError) Error() string { return "a setting that may not stand there: " + e.Problem }

// Bounds of the file. A try at a passphrase takes 256 MB and about a second; a
// file that asks for more is not opened.
const (
	maxFile   = 1 << 20
	maxPlain  = 512 << 10
	maxWork   = 18
	maxPhrase = 1000
	maxCode   = 100
)

// Work is how much a try costs, as a power of two. Only tests change it.
var Work = maxWork

// stays are the settings that do not travel: what is one computer's or one
// person's, and phone.call_back, which can be a command.
var stays = []string{"hub.secret_store", "hub.open_at_start", "phone.call_back",
	"listener.enabled", "listener.port", "listener.allowed_origins", "listener.http", "card.corner", "card.monitor", "card.hotkey", "card.hotkey_open", "card.hotkey_hear", "card.hotkey_close", "card.speech", "card.sound", "calls.group", "ui.theme", "log.level"}

// connectionKeys are the settings of the hub that a computer keeps where the file says
// nothing of them: how it is reached from there.
var connectionKeys = []string{"hub.proxy", "hub.extra_ca_file", "hub.lookup_timeout"}

// Keys lists the settings that a set-up file can hold.
func Keys() (keys []string) {
	for _, e := range settings.Keys() {
		if !slices.Contains(stays, e.Key) {
			keys = append(keys, e.Key)
		}
	}
	return append(keys, "line", "softphone")
}

// LeftOut lists the settings that somebody set and that do not travel.
func LeftOut(s *settings.Settings) (keys []string) {
	for _, k := range stays {
		if s.Source(k) != settings.Default {
			keys = append(keys, k)
		}
	}
	return keys
}

// Office is what a set-up file holds. Printing one shows nothing.
type Office struct {
	private.Data
	Settings *settings.Settings // as if they were all there is
	Secret   string             // of the hub's client; "" only where the settings have a relay and no hub
	Code     string             // with which one computer joins the relay; "" for none
}

// Changes are the settings to set, for settings.Set: what stands in the file. A
// key of the hub that does not stand there is taken out, so that no hub is mixed
// with another one.
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

// contents is what is encrypted.
type contents struct {
	Format   string `json:"format"`
	Version  int    `json:"version"`
	Settings string `json:"settings"` // as in a settings file
	Secret   string `json:"secret"`
	Code     string `json:"code,omitempty"`
}

const format = "wiebelt-setup"

// Write encrypts the effective settings that an office has in common, and its
// secrets, and gives the passphrase that it made: 100 random bits as five
// groups of letters and digits. Errors are those of w.
func Write(w io.Writer, o Office) (passphrase string, err error) {
	values := o.Changes()
	links, _ := values["softphone"].([]settings.Softphone) // one to a relay is made by joining
	values["softphone"] = slices.DeleteFunc(links, func(l settings.Softphone) bool { return l.Kind == registry.Relay })
	text, err := settings.Compose(values)
	if err != nil {
		return "", err
	}
	b, _ := json.Marshal(contents{format, 1, text, o.Secret, o.Code}) // texts and a number cannot fail
	passphrase = made()
	to, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return "", err
	}
	to.SetWorkFactor(Work)
	sealed, err := age.Encrypt(w, to)
	if err != nil {
		return "", err
	}
	if _, err := sealed.Write(b); err != nil {
		return "", err
	}
	return passphrase, sealed.Close()
}

// made is a passphrase.
func made() string {
	random := strings.ToLower(rand.Text())
	var groups []string
	for i := range 5 {
		groups = append(groups, random[4*i:4*i+4])
	}
	return strings.Join(groups, "-")
}

// Read decrypts a file and checks every setting in it. It returns ErrPassphrase,
// ErrDamaged or a *KeyError for what cannot be taken over.
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
	id.SetMaxWorkFactor(maxWork)
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
	wrong, missing := LeftOut(s), s.Hub.Missing()
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

// WithoutHub tells whether the relay of an office asks the hub for everybody, so that a
// set-up file needs none of the hub's secrets: one belongs to an address and a client.
func WithoutHub(s *settings.Settings) bool {
	return s.Relay.URL != "" && (s.Hub.BaseURL == "" || s.Hub.ClientID == "")
}

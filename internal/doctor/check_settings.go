package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/lazyregexp"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/health"
	"wiebelt/internal/hub"
	"wiebelt/internal/store/sqlitefile"
	"wiebelt/internal/text"
)

// maxLines is how many mistakes are listed individually.
const maxLines = 20

// keyLike matches what looks like a key. Anything else in its place, such as a secret
// pasted there by mistake, is reported by its line only.
var keyLike = lazyregexp.New(`^[a-z_]{1,30}(?:\[\d{1,3}\])?(?:\.[a-z_]{1,30}(?:\[\d{1,3}\])?)?$`)

// placeOf is where a mistake is: its key, and its line if known.
func placeOf(p settings.Problem) any {
	switch known := keyLike().MatchString(p.Key); {
	case !known && p.Line > 0:
		return text.Errorf(text.Doctor("settings.line"), p.Line)
	case !known:
		return "?"
	case p.Line == 0:
		return p.Key
	}
	return text.Errorf(text.Doctor("settings.key"), p.Key, p.Line)
}

func (e *exam) problems(of settings.Source) []settings.Problem {
	var all []settings.Problem
	for _, p := range e.Settings.Problems() {
		if p.Source == of {
			all = append(all, p)
		}
	}
	return all
}

// settings lists the mistakes in the user's file.
func (e *exam) settings(context.Context) []finding {
	if e.Late {
		return []finding{timedOut(loadTime)}
	}
	var all []finding
	wrong := e.problems(settings.User)
	for i, p := range wrong {
		if i == maxLines {
			return append(all, sayN(Warn, "settings.more", len(wrong)-maxLines)...)
		}
		all = append(all, ofSettings(p)...)
	}
	if len(all) == 0 {
		return say(OK, "settings.ok")
	}
	return all
}

func ofSettings(p settings.Problem) []finding {
	switch p.Kind {
	case settings.BadSyntax:
		return say(Fail, "settings.syntax", p.Line)
	case settings.UnknownKey:
		return say(Warn, "settings.unknown", placeOf(p))
	case settings.WrongType:
		return say(Fail, "settings.type", placeOf(p))
	case settings.NotAllowed:
		return say(Fail, "settings.value", placeOf(p))
	}
	return say(Fail, "settings.file")
}

// policy reports what an administrator has set, and which of it is not applied.
func (e *exam) policy(context.Context) []finding {
	keys := 0
	for _, k := range e.Settings.Values() {
		if k.Source == settings.Policy && k.Problem == "" {
			keys++
		}
	}
	var file, managed bool
	if keys > 0 {
		file, managed = e.sys.policy()
	}
	return ofPolicy(e.problems(settings.Policy), keys, file, managed)
}

func ofPolicy(wrong []settings.Problem, keys int, file, managed bool) []finding {
	var all []finding
	for i, p := range wrong {
		if i == maxLines {
			all = append(all, sayN(Warn, "settings.more", len(wrong)-maxLines)...)
			break
		}
		switch p.Kind {
		case settings.Untrusted:
			all = append(all, say(Fail, "policy.untrusted")...)
		case settings.Unreadable:
			all = append(all, say(Fail, "policy.unreadable")...)
		case settings.BadSyntax:
			all = append(all, say(Fail, "policy.syntax", p.Line)...)
		default:
			all = append(all, say(Fail, "policy.key", placeOf(p))...)
		}
	}
	if slices.ContainsFunc(wrong, func(p settings.Problem) bool { return p.Closed }) {
		all = append(all, say(Fail, "policy.closed")...)
	}
	switch {
	case keys == 0 && all == nil:
		return say(Off, "policy.none")
	case keys == 0:
		return all
	case file && managed:
		return append(all, sayN(OK, "policy.both", keys)...)
	case managed:
		return append(all, sayN(OK, "policy.managed", keys)...)
	}
	return append(all, sayN(OK, "policy.file", keys)...)
}

// setup checks whether everything that lookups need is set.
func (e *exam) setup(context.Context) []finding {
	missing := e.Settings.Hub.Missing()
	switch {
	case len(missing) > 0 && e.Settings.Relayed():
		return say(OK, "setup.relay")
	case len(missing) > 0 && e.Settings.Unjoined():
		return say(Fail, "setup.unjoined")
	case len(missing) > 0:
		return say(Fail, "setup.missing", strings.Join(missing, ", "))
	}
	if cfg, err := fromsettings.Hub(e.Dirs, e.Settings.Hub); err == nil {
		c, err := hub.New(cfg)
		if err != nil {
			return say(Fail, "setup.wrong", keyOf(err))
		}
		c.Close()
	}
	if e.Settings.Hub.HubURL == "" {
		return say(Warn, "setup.hub")
	}
	return say(OK, "setup.ok")
}

// keyOf returns the key that begins an error of the hub's client. The rest of
// it may contain a path.
func keyOf(err error) string {
	key, _, _ := strings.Cut(err.Error(), ":")
	if _, known := settings.Of(key); known {
		return key
	}
	return "hub"
}

// storedSecret is the answer of the secret's store.
type storedSecret struct {
	off   bool // there is no hub for it
	value string
	next  string // a new one that waits until it has worked, "" mostly
	err   error
}

// readSecret asks the store, once for all checks.
func (e *exam) readSecret(ctx context.Context) storedSecret {
	h := e.Settings.Hub
	if h.BaseURL == "" || h.ClientID == "" {
		return storedSecret{off: true}
	}
	ref, err := secret.Hub(h.BaseURL, h.ClientID)
	if err != nil {
		return storedSecret{err: err}
	}
	v, next, err := secret.Pair(ctx, e.sys.store(h.SecretStore, e.Dirs), ref)
	if v == "" {
		v, next = next, ""
	}
	return storedSecret{value: v, next: next, err: err}
}

// secret reports the state of the secret and its store.
func (e *exam) secret(ctx context.Context) []finding {
	kind := e.Settings.Hub.SecretStore
	k, in := e.fromStore.wait(ctx, secretIn)
	switch err := k.err; {
	case !in, errors.Is(err, secret.ErrUnanswered), errors.Is(err, context.DeadlineExceeded):
		return say(Fail, "secret.unanswered", kind)
	case k.off:
		return say(Off, "secret.off")
	case err == nil && k.next != "":
		return say(OK, "secret.two", kind)
	case err == nil:
		return say(OK, "secret.ok", kind)
	case errors.Is(err, secret.ErrNotSet):
		if kind == secret.KindFile && otherHub(e.Dirs) {
			return say(Fail, "secret.elsewhere")
		}
		return say(Fail, "secret.unset")
	case errors.Is(err, secret.ErrLocked):
		return say(Fail, "secret.locked", kind)
	case errors.Is(err, secret.ErrNoStore):
		return say(Fail, "secret.absent", kind)
	case errors.Is(err, secret.ErrFull), sqlitefile.Full(err):
		return say(Fail, "secret.full", kind)
	case errors.Is(err, secret.ErrExposed):
		return say(Fail, "secret.exposed")
	case errors.Is(err, secret.ErrNoRight):
		return say(Fail, "secret.no_right", cmp.Or(secret.MachineReaders(), secret.MachineGroup))
	case errors.Is(err, secret.ErrDamaged):
		return say(Fail, "secret.damaged")
	}
	return say(Fail, "secret.failed")
}

// otherHub reports whether a file holds the secret of any hub. Other stores cannot
// list what they contain.
func otherHub(dirs profile.Dirs) bool {
	files, _ := filepath.Glob(filepath.Join(dirs.State, "secrets", "*.json"))
	for _, f := range files[:min(len(files), 100)] {
		b, err := filetrust.ReadPlain(f, 16<<10)
		var k struct{ Kind string } // the secret itself is not decoded
		if err == nil && json.Unmarshal(b, &k) == nil && k.Kind == "hub" {
			return true
		}
	}
	return false
}

// expiry reports when the secret has to be renewed.
func (e *exam) expiry(context.Context) []finding {
	switch stage, days := health.Expiry(e.now, e.Settings.Hub.SecretExpires); stage {
	case health.ExpiryFar:
		return sayN(OK, "expiry.far", days)
	case health.ExpirySoon:
		return sayN(Warn, "expiry.soon", days)
	case health.ExpiryPast:
		return sayN(Fail, "expiry.past", -days)
	}
	return say(Off, "expiry.none")
}

// exists reports whether there is anything at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

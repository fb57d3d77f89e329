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

func (e *exam) settings(context.Context) []finding {
	if e.SettingsTimedOut {
		return []finding{timedOut(loadTimeout)}
	}
	if all := listed(e.problems(settings.User), settingsFindings); all != nil {
		return all
	}
	return oneFinding(OK, "settings.ok")
}

// listed lists mistakes, and counts those beyond maxLines.
func listed(wrong []settings.Problem, describe func(settings.Problem) []finding) (all []finding) {
	for i, p := range wrong {
		if i == maxLines {
			return append(all, countFinding(Warn, "settings.more", len(wrong)-maxLines)...)
		}
		all = append(all, describe(p)...)
	}
	return all
}

func settingsFindings(p settings.Problem) []finding {
	switch p.Kind {
	case settings.BadSyntax:
		return oneFinding(Fail, "settings.syntax", p.Line)
	case settings.UnknownKey:
		return oneFinding(Warn, "settings.unknown", placeOf(p))
	case settings.WrongType:
		return oneFinding(Fail, "settings.type", placeOf(p))
	case settings.NotAllowed:
		return oneFinding(Fail, "settings.value", placeOf(p))
	}
	return oneFinding(Fail, "settings.file")
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
	return policyFindings(e.problems(settings.Policy), keys, file, managed)
}

func policyFindings(wrong []settings.Problem, keys int, file, managed bool) []finding {
	all := listed(wrong, func(p settings.Problem) []finding {
		switch p.Kind {
		case settings.Untrusted:
			return oneFinding(Fail, "policy.untrusted")
		case settings.Unreadable:
			return oneFinding(Fail, "policy.unreadable")
		case settings.BadSyntax:
			return oneFinding(Fail, "policy.syntax", p.Line)
		}
		return oneFinding(Fail, "policy.key", placeOf(p))
	})
	if slices.ContainsFunc(wrong, func(p settings.Problem) bool { return p.StrictestApplies }) {
		all = append(all, oneFinding(Fail, "policy.closed")...)
	}
	switch {
	case keys == 0 && all == nil:
		return oneFinding(Off, "policy.none")
	case keys == 0:
		return all
	case file && managed:
		return append(all, countFinding(OK, "policy.both", keys)...)
	case managed:
		return append(all, countFinding(OK, "policy.managed", keys)...)
	}
	return append(all, countFinding(OK, "policy.file", keys)...)
}

func (e *exam) setup(context.Context) []finding {
	missing := e.Settings.Hub.Missing()
	switch {
	case len(missing) > 0 && e.Settings.HasRelayLink():
		return oneFinding(OK, "setup.relay")
	case len(missing) > 0 && e.Settings.NeedsJoin():
		return oneFinding(Fail, "setup.unjoined")
	case len(missing) > 0:
		return oneFinding(Fail, "setup.missing", strings.Join(missing, ", "))
	}
	if cfg, err := fromsettings.HubConfig(e.Dirs, e.Settings.Hub); err == nil {
		c, err := hub.New(cfg)
		if err != nil {
			return oneFinding(Fail, "setup.wrong", keyOf(err))
		}
		c.Close()
	}
	if e.Settings.Hub.HubURL == "" {
		return oneFinding(Warn, "setup.hub")
	}
	return oneFinding(OK, "setup.ok")
}

// keyOf returns the key that begins an error of the hub's client. The rest of
// it may contain a path.
func keyOf(err error) string {
	key, _, _ := strings.Cut(err.Error(), ":")
	if _, known := settings.EntryOf(key); known {
		return key
	}
	return "hub"
}

type storedSecret struct {
	notNeeded bool // there is no hub for it
	value     string
	next      string // a new one that waits until it has worked, "" mostly
	err       error
}

// readSecret asks the store, once for all checks.
func (e *exam) readSecret(ctx context.Context) storedSecret {
	h := e.Settings.Hub
	if h.BaseURL == "" || h.ClientID == "" {
		return storedSecret{notNeeded: true}
	}
	ref, err := secret.HubRef(h.BaseURL, h.ClientID)
	if err != nil {
		return storedSecret{err: err}
	}
	v, next, err := secret.Pair(ctx, e.sys.store(h.SecretStore, e.Dirs), ref)
	if v == "" {
		v, next = next, ""
	}
	return storedSecret{value: v, next: next, err: err}
}

func (e *exam) secret(ctx context.Context) []finding {
	kind := e.Settings.Hub.SecretStore
	k, in := e.fromStore.wait(ctx, secretTimeout)
	switch err := k.err; {
	case !in, errors.Is(err, secret.ErrUnanswered), errors.Is(err, context.DeadlineExceeded):
		return oneFinding(Fail, "secret.unanswered", kind)
	case k.notNeeded:
		return oneFinding(Off, "secret.off")
	case err == nil && k.next != "":
		return oneFinding(OK, "secret.two", kind)
	case err == nil:
		return oneFinding(OK, "secret.ok", kind)
	case errors.Is(err, secret.ErrNotSet):
		if kind == secret.KindFile && hasHubSecretFile(e.Dirs) {
			return oneFinding(Fail, "secret.elsewhere")
		}
		return oneFinding(Fail, "secret.unset")
	case errors.Is(err, secret.ErrLocked):
		return oneFinding(Fail, "secret.locked", kind)
	case errors.Is(err, secret.ErrNoStore):
		return oneFinding(Fail, "secret.absent", kind)
	case errors.Is(err, secret.ErrTooLong), sqlitefile.IsFull(err):
		return oneFinding(Fail, "secret.full", kind)
	case errors.Is(err, secret.ErrExposed):
		return oneFinding(Fail, "secret.exposed")
	case errors.Is(err, secret.ErrNoRight):
		return oneFinding(Fail, "secret.no_right", cmp.Or(secret.MachineReaders(), secret.MachineGroup))
	case errors.Is(err, secret.ErrDamaged):
		return oneFinding(Fail, "secret.damaged")
	}
	return oneFinding(Fail, "secret.failed")
}

// hasHubSecretFile reports whether a file holds the secret of any hub. Other stores cannot
// list what they contain.
func hasHubSecretFile(dirs profile.Dirs) bool {
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
		return countFinding(OK, "expiry.far", days)
	case health.ExpirySoon:
		return countFinding(Warn, "expiry.soon", days)
	case health.ExpiryPast:
		return countFinding(Fail, "expiry.past", -days)
	}
	return oneFinding(Off, "expiry.none")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

package text

import (
	"strings"

	"wiebelt/internal/core/lazyregexp"
)

// DoctorGroups lists the ids of the doctor's checks, in display order, under the window's
// headings. Monitoring relies on the ids: their meaning never changes. Command, window,
// help and guides follow this table.
var DoctorGroups = []struct {
	Group  string // an id for DoctorGroup
	Checks []string
}{
	{"settings", []string{"settings", "policy", "setup", "secret", "expiry"}},
	{"hub", []string{"hub.name", "hub.connection", "hub.certificate", "hub.clock", "hub.token", "hub.lookup"}},
	{"phones", []string{"resident", "version", "listener", "link", "scheme", "autostart", "microsip"}},
	{"desktop", []string{"screen", "tray", "cards", "lock", "browser"}},
	{"disk", []string{"disk", "folders", "program", "log", "crash", "history", "audit", "delivery"}},
}

// DoctorChecks lists the ids of all checks.
var DoctorChecks = func() (all []string) {
	for _, g := range DoctorGroups {
		all = append(all, g.Checks...)
	}
	return all
}()

// DoctorTroubles lists everything the doctor can find wrong, in the order of
// the guide, which has two sentences for each: what is wrong, and what to
// do. Those that begin with "failure." can go wrong on the way to the hub.
// Deliveries have their own heading there, and "late" applies to any check.
var DoctorTroubles = []struct {
	Group string // an id for DoctorGroup
	Found []string
}{
	{"settings", []string{"settings.file", "settings.syntax", "settings.unknown", "settings.type", "settings.value",
		"policy.untrusted", "policy.unreadable", "policy.syntax", "policy.key", "policy.closed", "setup.missing", "setup.unjoined", "setup.hub", "setup.wrong",
		"secret.unset", "secret.elsewhere", "secret.absent", "secret.locked", "secret.unanswered", "secret.full", "secret.exposed", "secret.no_right",
		"secret.damaged", "secret.failed", "expiry.soon", "expiry.past"}},
	{"hub", []string{"failure.no_network", "failure.name_not_resolved", "failure.connection_refused", "failure.proxy_login", "failure.proxy_failed",
		"failure.tls_failed", "failure.certificate_unknown", "failure.certificate_expired", "failure.certificate_name", "failure.clock_wrong",
		"failure.credentials_refused", "failure.scope_refused", "failure.hub_error", "failure.hub_slow", "failure.answer_not_understood",
		"hub.certificate.soon", "hub.clock.ahead", "hub.clock.behind"}},
	{"phones", []string{"resident.off", "resident.hangs", "resident.silent", "resident.setup", "resident.doubt",
		"listener.taken", "listener.tokens", "listener.silent", "listener.file",
		"link.down", "link.kicked", "link.refused", "link.incomplete", "link.behind", "link.unknown",
		"scheme.none", "scheme.other", "autostart.off", "microsip.off", "microsip.part", "microsip.gone", "microsip.unreadable"}},
	{"desktop", []string{"screen.layers", "screen.wayland", "screen.failed", "cards.notices", "cards.none", "cards.taken", "cards.unsupported", "cards.wrong", "cards.silent", "browser.none"}},
	{"disk", []string{"disk.low", "disk.full", "folders.write", "folders.owner", "folders.read", "folders.own", "folders.home", "program.write",
		"log.write", "crash.today", "history.newer", "history.damaged", "history.aside", "audit.none", "late"}},
	{"delivery", []string{"delivery.held", "delivery.uncertain", "delivery.refused", "delivery.idle", "delivery.late", "delivery.write", "delivery.spool",
		"delivery.aside", "delivery.newer", "delivery.damaged"}},
}

// Trouble returns the sentence for something that the doctor finds wrong, with … in place
// of what depends on the computer, and what to do about it.
func (l Language) Trouble(found string) (message, do string) {
	keys := [2]Key{Doctor(found), DoctorDo(found)}
	if f, ok := strings.CutPrefix(found, "failure."); ok {
		keys = [2]Key{Failure(f), FailureDo(f)}
	}
	return verbs().ReplaceAllString(l.T(keys[0]), "…"), l.T(keys[1])
}

var verbs = lazyregexp.New(`%[a-z]`)

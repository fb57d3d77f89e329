package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/assets"
	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/registrations"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/hub"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/logfile"
	"wiebelt/internal/native/register"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// row is one fault, or none, of one check.
type row struct {
	id   string
	toml string
	set  func(*testing.T, *exam)
	want []finding
}

// at is a place in a file.
func at(key string, line int) any { return placeOf(settings.Problem{Key: key, Line: line}) }

// is joins lines.
func is(lines ...[]finding) []finding { return slices.Concat(lines...) }

func ok(found string, args ...any) []finding { return oneFinding(OK, found, args...) }

func warn(found string, args ...any) []finding { return oneFinding(Warn, found, args...) }

func fail(found string, args ...any) []finding { return oneFinding(Fail, found, args...) }

func off(found string, args ...any) []finding { return oneFinding(Off, found, args...) }

func unreached(f contact.Failure, detail string) []finding {
	return failureFinding(Fail, "hub.failed", failing(f, detail))
}

func lateSettings(_ *testing.T, e *exam) { e.SettingsTimedOut = true }

func rows(t *testing.T) []row {
	none, running := residentState{}, hub.ProbeResult{Resolved: true}
	busy := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = busy.Close() })
	port := busy.Addr().(*net.TCPAddr).Port
	return []row{
		{"settings", setUp, nil, ok("settings.ok")},
		{"settings", "\xff\xfe", nil, fail("settings.file")},
		{"settings", setUp + "what is this\n", nil, fail("settings.syntax", 6)},
		{"settings", setUp + "base_ulr = \"x\"\n", nil, warn("settings.unknown", at("hub.base_ulr", 6))},
		{"settings", setUp + "hunter2-Canary = 1\n", nil, warn("settings.unknown", at("", 6))},
		{"settings", "[listener]\nport = \"x\"\n", nil, fail("settings.type", at("listener.port", 2))},
		{"settings", "[listener]\nport = 1\n", nil, fail("settings.value", at("listener.port", 2))},
		{"settings", "", lateSettings, []finding{timedOut(loadTimeout)}},
		{"policy", "", lateSettings, off("settings.unread")},
		{"policy", "", nil, off("policy.none")},
		{"policy", "", underPolicy("[hub]\nproxy = \"ftp://x\"\n[history]\nkeep = \"nummers\"\n[card]\ncorner = \"top-left\"\n"),
			is(fail("policy.key", at("hub.proxy", 2)), fail("policy.key", at("history.keep", 4)),
				fail("policy.closed"), countFinding(OK, "policy.file", 1))},
		{"setup", "", lateSettings, off("settings.unread")},
		{"secret", "", lateSettings, off("settings.unread")},
		{"expiry", "", lateSettings, off("settings.unread")},
		{"hub.token", "", lateSettings, off("settings.unread")},
		{"link", "", lateSettings, off("settings.unread")},
		{"audit", "", lateSettings, off("settings.unread")},

		{"setup", setUp, nil, ok("setup.ok")},
		{"setup", "", nil, fail("setup.missing", "hub.base_url, hub.client_id, hub.organisation_code")},
		{"setup", strings.Replace(setUp, "client_id", "#", 1) + "[[softphone]]\nkind = \"relay\"\naddress = \"https://relay.example\"\n", nil, ok("setup.relay")},
		{"setup", "[relay]\nurl = \"https://relay.example\"\n", nil, fail("setup.unjoined")},
		{"setup", strings.Replace(setUp, "hub_url", "#", 1), nil, warn("setup.hub")},
		{"setup", setUp + "extra_ca_file = \"/home/jansen/none.pem\"\n", nil, fail("setup.wrong", "hub.extra_ca_file")},

		{"secret", setUp, nil, ok("secret.ok", "os")},
		{"secret", setUp, func(_ *testing.T, e *exam) { e.fromStore = given(storedSecret{value: "a", next: "b"}) }, ok("secret.two", "os")},
		{"secret", "", func(_ *testing.T, e *exam) { e.fromStore = given(storedSecret{notNeeded: true}) }, off("secret.off")},
		{"secret", setUp, withSecret(secret.ErrNotSet), fail("secret.unset")},
		{"secret", setUp + "secret_store = \"file\"\n", both(withSecret(secret.ErrNotSet), func(t *testing.T, e *exam) {
			keepSecret(t, e.Dirs, "https://old.example", "canary")
		}), fail("secret.elsewhere")},
		{"secret", setUp + "secret_store = \"file\"\n", withSecret(secret.ErrNotSet), fail("secret.unset")},
		{"secret", setUp, withSecret(fmt.Errorf("%w: no bus", secret.ErrNoStore)), fail("secret.absent", "os")},
		{"secret", setUp, withSecret(fmt.Errorf("%w: waits", secret.ErrLocked)), fail("secret.locked", "os")},
		{"secret", setUp, withSecret(fmt.Errorf("%w: 2 s", secret.ErrUnanswered)), fail("secret.unanswered", "os")},
		{"secret", setUp, withSecret(context.DeadlineExceeded), fail("secret.unanswered", "os")},
		{"secret", setUp, withSecret(secret.ErrTooLong), fail("secret.full", "os")},
		{"secret", setUp, withSecret(&fs.PathError{Err: syscall.ENOSPC}), fail("secret.full", "os")},
		{"secret", setUp, withSecret(secret.ErrExposed), fail("secret.exposed")},
		{"secret", setUp, withSecret(secret.ErrNoRight), fail("secret.no_right", secret.MachineGroup)},
		{"secret", setUp, withSecret(secret.ErrDamaged), fail("secret.damaged")},
		{"secret", setUp, withSecret(errors.New("canary")), fail("secret.failed")},

		{"expiry", setUp, nil, off("expiry.none")},
		{"expiry", setUp + "secret_expires = \"2026-12-31\"\n", nil, countFinding(OK, "expiry.far", 91)},
		{"expiry", setUp + "secret_expires = \"2026-10-31\"\n", nil, countFinding(Warn, "expiry.soon", 30)},
		{"expiry", setUp + "secret_expires = \"2026-10-02\"\n", nil, countFinding(Warn, "expiry.soon", 1)},
		{"expiry", setUp + "secret_expires = \"2026-09-30\"\n", nil, countFinding(Fail, "expiry.past", 1)},

		{"hub.name", "", withHub(func(j *hubState) { j.notSetUp = true }), off("hub.off")},
		{"hub.name", setUp, nil, ok("hub.name.ok")},
		{"hub.name", setUp, withHub(func(j *hubState) { j.reached.TestHub = true }), ok("hub.name.test")},
		{"hub.name", setUp, withHub(func(j *hubState) { j.reached.Proxy = true }), ok("hub.name.proxy")},
		{"hub.name", setUp, stops(contact.ProxyFailed, "", hub.ProbeResult{Proxy: true}), off("hub.name.behind")},
		{"hub.name", setUp, stops(contact.NameNotResolved, "", hub.ProbeResult{}), unreached(contact.NameNotResolved, "")},
		{"hub.name", setUp, stops(contact.NoNetwork, "", hub.ProbeResult{}), unreached(contact.NoNetwork, "")},
		{"hub.name", setUp, stops(contact.HubSlow, "name", hub.ProbeResult{}), unreached(contact.HubSlow, "name")},
		{"hub.name", setUp, stops(contact.ConnectionRefused, "refused", hub.ProbeResult{Resolved: true}), ok("hub.name.ok")},
		{"hub.connection", setUp, nil, ok("hub.connection.ok")},
		{"hub.connection", setUp, withHub(func(j *hubState) { j.reached.Proxy = true }), ok("hub.connection.proxy")},
		{"hub.connection", setUp, stops(contact.NameNotResolved, "", hub.ProbeResult{}), off("hub.before")},
		{"hub.connection", setUp, stops(contact.ProxyLogin, "status 407", hub.ProbeResult{Proxy: true}), unreached(contact.ProxyLogin, "status 407")},
		{"hub.connection", setUp, stops(contact.ProxyFailed, "", hub.ProbeResult{Proxy: true}), unreached(contact.ProxyFailed, "")},
		{"hub.connection", setUp, stops(contact.ConnectionRefused, "", running), unreached(contact.ConnectionRefused, "")},
		{"hub.connection", setUp, stops(contact.HubSlow, "", running), unreached(contact.HubSlow, "")},
		{"hub.connection", setUp, stops(contact.HubError, "", running), unreached(contact.HubError, "")},
		{"hub.connection", setUp, stops(contact.NotUnderstood, "", running), unreached(contact.NotUnderstood, "")},
		{"hub.connection", setUp, stops(contact.CertificateExpired, "", running), ok("hub.connection.ok")},
		{"hub.certificate", setUp, nil, countFinding(OK, "hub.certificate.ok", 365)},
		{"hub.certificate", setUp, withHub(func(j *hubState) { j.reached.Expires = time.Date(2026, 10, 2, 11, 0, 0, 0, time.Local) }), countFinding(Warn, "hub.certificate.soon", 1)},
		{"hub.certificate", setUp, withHub(func(j *hubState) { j.reached.TestHub = true }), ok("hub.certificate.test")},
		{"hub.certificate", setUp, stops(contact.CertificateExpired, "", running), unreached(contact.CertificateExpired, "")},
		{"hub.certificate", setUp, stops(contact.CertificateUnknown, "self", running), unreached(contact.CertificateUnknown, "self")},
		{"hub.certificate", setUp, stops(contact.CertificateMismatch, "", running), unreached(contact.CertificateMismatch, "")},
		{"hub.certificate", setUp, stops(contact.TLSFailed, "", running), unreached(contact.TLSFailed, "")},
		{"hub.certificate", setUp, stops(contact.ClockWrong, "", running), off("hub.before")},
		{"hub.clock", setUp, stops(contact.ClockWrong, "", running), unreached(contact.ClockWrong, "")},
		{"hub.clock", setUp, nil, ok("hub.clock.ok")},
		{"hub.clock", setUp, withHub(func(j *hubState) { j.reached.ClockAhead = 90 * time.Second }), warn("hub.clock.ahead", 90)},
		{"hub.clock", setUp, withHub(func(j *hubState) { j.reached.ClockAhead = time.Hour }), fail("hub.clock.ahead", 3600)},
		{"hub.clock", setUp, withHub(func(j *hubState) { j.reached.ClockAhead = -90 * time.Second }), warn("hub.clock.behind", 90)},
		{"hub.clock", setUp, withHub(func(j *hubState) { j.reached.HasDate = false }), off("hub.clock.untold")},
		{"hub.token", setUp, nil, ok("hub.token.ok", 60)},
		{"hub.token", setUp, withHub(func(j *hubState) { j.noSecret = true }), off("hub.token.secret")},
		{"hub.token", setUp, rotating(nil, nil), is(ok("hub.token.ok", 60), ok("hub.token.both"))},
		{"hub.token", setUp, rotating(failing(contact.CredentialsRefused, ""), nil), is(ok("hub.token.ok", 60), ok("hub.token.next"))},
		{"hub.token", setUp + "secret_store = \"machine\"\n", rotating(nil, nil), is(ok("hub.token.ok", 60), ok("hub.token.machine"))},
		{"hub.token", setUp, rotating(nil, failing(contact.CredentialsRefused, "")), is(ok("hub.token.ok", 60), ok("hub.token.old"))},
		{"hub.token", setUp, rotating(nil, failing(contact.HubSlow, "")), is(ok("hub.token.ok", 60), failureFinding(Warn, "hub.token.next.failed", failing(contact.HubSlow, "")))},
		{"hub.token", setUp, rotating(failing(contact.CredentialsRefused, ""), failing(contact.ScopeRefused, "")),
			is(failureFinding(Fail, "hub.token.failed", failing(contact.CredentialsRefused, "")), failureFinding(Fail, "hub.token.next.failed", failing(contact.ScopeRefused, "")))},
		{"hub.token", setUp, withHub(func(j *hubState) { j.tokenErr = failing(contact.CredentialsRefused, "token: invalid_client") }),
			failureFinding(Fail, "hub.token.failed", failing(contact.CredentialsRefused, "token: invalid_client"))},
		{"hub.token", setUp, withHub(func(j *hubState) { j.tokenErr = failing(contact.ScopeRefused, "") }), failureFinding(Fail, "hub.token.failed", failing(contact.ScopeRefused, ""))},
		{"hub.token", setUp, withHub(func(j *hubState) { j.deliveryErr = failing(contact.ScopeRefused, "") }),
			is(ok("hub.token.ok", 60), failureFinding(Fail, "hub.token.delivery", failing(contact.ScopeRefused, "")))},
		{"hub.token", setUp, stops(contact.HubSlow, "", running), off("hub.before")},
		{"hub.lookup", setUp, nil, off("hub.lookup.off")},
		{"hub.lookup", setUp, both(number, withHub(func(j *hubState) { j.lookedUp, j.contactCount, j.lookupTime = true, 2, 7*time.Millisecond })), ok("hub.lookup.ok", 2, 7)},
		{"hub.lookup", setUp, both(number, withHub(func(j *hubState) { j.lookedUp, j.lookupErr = true, failing(contact.ScopeRefused, "") })),
			failureFinding(Fail, "hub.lookup.failed", failing(contact.ScopeRefused, ""))},
		{"hub.lookup", setUp, both(number, withHub(func(j *hubState) { j.lookedUp, j.lookupErr = true, hubtrial.ErrNumber })), fail("hub.lookup.bad")},
		{"hub.lookup", setUp, both(number, withHub(func(j *hubState) { j.tokenErr = failing(contact.HubError, "") })), off("hub.before")},

		{"resident", setUp, nil, ok("resident.ok")},
		{"resident", setUp, tells(func(v *residentState) { *v = none }), warn("resident.off")},
		{"resident", setUp, both(noDesktop, tells(func(v *residentState) { *v = none })), warn("resident.off")},
		// asked from elsewhere
		{"resident", setUp, both(func(_ *testing.T, e *exam) { e.sys = server() }, tells(func(v *residentState) { *v = none })), off("resident.server")},
		{"resident", setUp, tells(func(v *residentState) { v.presence = residentHangs }), fail("resident.hangs")},
		{"resident", setUp, tells(func(v *residentState) { v.presence = residentSilent }), warn("resident.silent")},
		{"resident", setUp, tells(func(v *residentState) { v.facts.SetUp = false }), fail("resident.setup")},
		{"resident", setUp, tells(func(v *residentState) { v.facts.Paused, v.facts.TooQuiet = true, true }), is(off("resident.paused"), warn("resident.doubt"))},
		{"resident", setUp, tells(func(v *residentState) { v.facts.Failure = "credentials_refused" }), failureFinding(Fail, "resident.lookup", failing(contact.CredentialsRefused, ""))},
		{"resident", setUp, tells(func(v *residentState) { v.facts.Failure = "no_network" }), failureFinding(Warn, "resident.lookup", failing(contact.NoNetwork, ""))},
		{"resident", setUp, tells(func(v *residentState) { v.facts.Failure = "canary 0612345678" }), failureFinding(Warn, "resident.lookup", failing(contact.HubError, ""))},
		{"version", setUp, nil, ok("version.ok", "1.2.0")},
		{"version", setUp, tells(func(v *residentState) { *v = none }), off("version.off", "1.2.0")},
		{"version", setUp, tells(func(v *residentState) { *v = residentState{presence: residentHangs} }), off("resident.untold")},
		{"version", setUp, tells(func(v *residentState) { v.hello.Version = "1.1.0" }), ok("version.differs", "1.1.0", "1.2.0")},
		{"version", setUp, tells(func(v *residentState) { v.hello.Build = "0123456789" }), ok("version.differs", "1.2.0 (01234567)", "1.2.0 (abc)")},
		{"version", setUp, tells(func(v *residentState) { v.hello.Build = "\x1b[2J" }), ok("version.differs", "1.2.0 (?)", "1.2.0 (abc)")},
		{"version", setUp, tells(func(v *residentState) { v.hello.Version = "canary\n\x1b[2J" }), ok("version.differs", "?", "1.2.0")},
		{"listener", setUp, announces(`{"version":1,"port":27471,"token":"x"}`, 0o600), ok("listener.ok", 27471)},
		{"listener", setUp, announces(`{"version":1,"port":27471,"token":"x"}`, 0o644), warn("listener.file")},
		{"listener", setUp, announces(`{"version":1,"port":27472,"token":"x"}`, 0o600), warn("listener.file")},
		{"listener", setUp, nil, warn("listener.file")},
		{"listener", "[listener]\nenabled = false\n", nil, off("listener.off")},
		{"listener", setUp, tells(func(v *residentState) { v.facts.Port, v.facts.PortTaken = 0, true }), fail("listener.taken", 27471)},
		{"listener", setUp, tells(func(v *residentState) { v.facts.Port = 0 }), fail("listener.silent")},
		{"listener", setUp, tells(func(v *residentState) { v.presence = residentSilent }), off("resident.untold")},
		{"listener", setUp, tells(func(v *residentState) { *v = none }), off("listener.idle", 27471)},
		{"listener", fmt.Sprintf("[listener]\nport = %d\n", port), tells(func(v *residentState) { *v = none }), fail("listener.taken", port)},
		{"listener", setUp, tokens(0o644), fail("listener.tokens")},
		{"listener", setUp, both(tokens(0o600), announces(`{"version":1,"port":27471}`, 0o600)), ok("listener.ok", 27471)},

		{"link", setUp, nil, off("link.none")},
		{"link", twoLinks, links(windowapi.LinkUp), is(ok("link.up", 1, "baresip"), ok("link.up", 2, "ari"))},
		{"link", twoLinks, links(windowapi.LinkDown), is(warn("link.down", 1, "baresip"), fail("link.down", 2, "ari"))},
		{"link", twoLinks, links(windowapi.LinkKicked), is(warn("link.kicked", 1, "baresip"), warn("link.kicked", 2, "ari"))},
		{"link", twoLinks, links(windowapi.LinkRefused), is(fail("link.refused", 1, "baresip"), fail("link.refused", 2, "ari"))},
		{"link", twoLinks, links(windowapi.LinkIncomplete), is(fail("link.incomplete", 1, "baresip"), fail("link.incomplete", 2, "ari"))},
		{"link", twoLinks, because(windowapi.LinkDown, "secret.none"), is(warn("link.down", 1, "baresip"), also(fail("link.down", 2, "ari"), "secret.none"))},
		{"link", twoLinks, because(windowapi.LinkBackendFault, "relay.exchange"), is(fail("link.behind", 1, "baresip"), also(fail("link.behind", 2, "ari"), "relay.exchange"))},
		{"link", twoLinks, because(windowapi.LinkIncomplete, "needs.extension"), is(fail("link.incomplete", 1, "baresip"), also(fail("link.incomplete", 2, "ari"), "needs.extension"))},
		{"link", twoLinks, because(windowapi.LinkUp, "denied"), is(ok("link.up", 1, "baresip"), ok("link.up", 2, "ari"))},
		{"link", twoLinks, because(windowapi.LinkDown, "a secret"), is(warn("link.down", 1, "baresip"), fail("link.down", 2, "ari"))},
		{"link", twoLinks, links("dancing"), is(warn("link.unknown", 1, "baresip"), warn("link.unknown", 2, "ari"))},
		{"link", twoLinks, nil, is(warn("link.unknown", 1, "baresip"), warn("link.unknown", 2, "ari"))},
		{"link", twoLinks, tells(func(v *residentState) { *v = none }), is(off("link.idle", 1, "baresip"), off("link.idle", 2, "ari"))},
		{"link", twoLinks, tells(func(v *residentState) { v.presence = residentHangs }), off("resident.untold")},

		{"scheme", setUp, nil, ok("scheme.ok")},
		{"scheme", setUp, registered(register.Status{}, nil), off("scheme.none")},
		{"scheme", setUp, registered(register.Status{Scheme: "/home/jansen/x"}, nil), warn("scheme.other")},
		{"scheme", setUp, registered(register.Status{}, errors.New("no home")), off("scheme.failed")},
		{"scheme", setUp, both(registered(register.Status{}, nil), wasRegistered), warn("scheme.none")},
		{"autostart", setUp, nil, ok("autostart.ok")},
		{"autostart", setUp, registered(register.Status{}, nil), off("autostart.off")},
		{"autostart", setUp, both(registered(register.Status{}, nil), wasRegistered), warn("autostart.off")},
		{"autostart", setUp, both(registered(register.Status{SwitchedOff: true}, nil), wasRegistered), off("autostart.off")},
		{"autostart", setUp, registered(register.Status{}, errors.New("no home")), off("autostart.unknown")},
		{"microsip", setUp, nil, off("microsip.none")},
		{"microsip", setUp, sip(`cmdCallRing="EXE" ring --state ringing --`, `cmdCallAnswer="EXE" ring --state answered --`,
			`cmdCallEnd="EXE" ring --state ended --`, `cmdCallBusy="EXE" ring --state ended --`), ok("microsip.ok")},
		{"microsip", setUp, sip(`cmdCallRing="EXE" ring --state ringing --`, "cmdCallEnd="), warn("microsip.part")},
		{"microsip", setUp, sip(`cmdCallRing=C:\popup.exe`), off("microsip.off")},
		{"microsip", setUp, both(sip(`cmdCallRing=C:\popup.exe`), wasRegistered), warn("microsip.off")},
		{"microsip", setUp, sip(`cmdCallRing=/none/wiebelt.exe ring --`), fail("microsip.gone")},
		{"microsip", setUp, func(t *testing.T, e *exam) {
			p := filepath.Join(t.TempDir(), "microsip.ini")
			write(t, p, "cmd\x00Call")
			e.sys.microSIP = func() string { return p }
		}, warn("microsip.unreadable")},
		{"tray", setUp, nil, ok("tray.ok")},
		{"tray", setUp, func(_ *testing.T, e *exam) { e.sys.trayHost = func(context.Context) bool { return false } }, off("tray.none")},
		{"tray", setUp, noDesktop, off("desktop.none")},
		{"screen", setUp, nil, ok("screen.x11")},
		{"screen", setUp, screenIs("windows"), ok("screen.windows")},
		{"screen", setUp, screenIs("xwayland"), ok("screen.xwayland")},
		{"screen", setUp, screenIs("panels"), ok("screen.panels")},
		{"screen", setUp, screenIs("layers"), warn("screen.layers")},
		{"screen", setUp, screenIs(screenWayland), warn("screen.wayland")},
		{"screen", setUp, screenIs(screenFailed), fail("screen.failed")},
		{"screen", setUp, noDesktop, off("desktop.none")},
		{"cards", setUp, nil, ok("cards.ok")},
		{"cards", setUp, tells(func(t *residentState) { t.presence = residentAbsent }), off("cards.off")},
		{"cards", setUp, tells(func(t *residentState) { t.presence = residentSilent }), off("resident.untold")},
		{"cards", setUp, tells(func(t *residentState) { t.facts.Cards = "notices" }), warn("cards.notices")},
		{"cards", setUp, tells(func(t *residentState) { t.facts.Cards = "none" }), warn("cards.none")},
		{"cards", setUp, tells(func(t *residentState) { t.facts.Cards = "a newer way" }), warn("cards.none")},
		{"cards", setUp, hotkey("card.hotkey_open", "taken"), warn("cards.taken", "card.hotkey_open")},
		{"cards", setUp, hotkey("card.hotkey_open", "unsupported"), warn("cards.unsupported", "card.hotkey_open")},
		{"cards", setUp, hotkey("card.hotkey_open", "wrong"), warn("cards.wrong", "card.hotkey_open")},
		{"cards", setUp, both(hotkey("card.hotkey_open", "taken"), hotkey("card.hotkey", "wrong")),
			is(warn("cards.wrong", "card.hotkey"), warn("cards.taken", "card.hotkey_open"))},
		{"cards", setUp + "[card]\nsound = \"on\"\n", nil, ok("cards.ok")},
		{"cards", setUp + "[card]\nsound = \"on\"\n", both(hotkey("card.hotkey", "taken"), func(_ *testing.T, e *exam) { e.sys.player = func() string { return "" } }),
			is(warn("cards.taken", "card.hotkey"), warn("cards.silent"))},
		{"lock", setUp, nil, ok("lock.ok", "logind")},
		{"lock", setUp, func(_ *testing.T, e *exam) { e.sys.lockSources = func(context.Context) []string { return nil } },
			off("lock.none")},
		{"lock", setUp, noDesktop, off("desktop.none")},
		{"browser", setUp, nil, ok("browser.ok")},
		{"browser", setUp, noDesktop, off("desktop.none")},
		{"browser", setUp, func(_ *testing.T, e *exam) { e.sys.browser = func(context.Context) bool { return false } }, warn("browser.none")},

		{"disk", setUp, nil, ok("disk.ok", 5000)},
		{"disk", setUp, room(499<<20, nil), warn("disk.low", 499)},
		{"disk", setUp, room(49<<20, nil), fail("disk.full", 49)},
		{"disk", setUp, room(0, errors.New("gone")), off("disk.unknown")},
		{"folders", setUp, nil, ok("folders.ok")},
		{"folders", setUp, func(_ *testing.T, e *exam) {
			e.Dirs = profile.Dirs{Config: "/none/c", State: "/none/s", Run: "/none/r"}
		}, off("folders.none")},
		{"folders", setUp, func(_ *testing.T, e *exam) {
			e.Dirs.Run = "/none/r"
			e.sys.writable = func(path string) bool { return path != "/" }
		}, fail("folders.home", "run")},
		{"folders", setUp, folderIs(&filetrust.Error{Fault: filetrust.FaultWrite}), fail("folders.write", "run")},
		{"folders", setUp, func(_ *testing.T, e *exam) { // one folder for both
			e.sys.folder = func(path string) error {
				if path == e.Dirs.State && path == e.Dirs.Config {
					return &filetrust.Error{Fault: filetrust.FaultWrite}
				}
				return nil
			}
		}, fail("folders.write", "config")},
		{"folders", setUp, folderIs(&filetrust.Error{Fault: filetrust.FaultOwner}), fail("folders.owner", "run")},
		{"folders", setUp, folderIs(&filetrust.Error{Fault: filetrust.FaultRead}), warn("folders.read", "run")},
		{"folders", setUp, folderIs(fs.ErrPermission), fail("folders.own", "run")},
		{"program", setUp, nil, ok("program.ok")},
		{"program", setUp, func(_ *testing.T, e *exam) {
			e.sys.installed = func(string) error { return &filetrust.Error{Fault: filetrust.FaultWrite} }
		}, fail("program.write")},
		{"program", setUp, func(_ *testing.T, e *exam) {
			e.sys.installed = func(string) error { return errors.New("no") }
		}, off("program.unknown")},
		{"log", setUp, nil, off("log.none")},
		{"log", setUp, func(t *testing.T, e *exam) { write(t, filepath.Join(e.Dirs.Log(), logfile.Name), "{}\n") }, ok("log.ok")},
		{"log", setUp, func(t *testing.T, e *exam) {
			line := func(at time.Time, level string) string {
				return fmt.Sprintf("{\"time\":%q,\"level\":%q,\"msg\":\"m\"}\n", at.Format(time.RFC3339Nano), level)
			}
			write(t, filepath.Join(e.Dirs.Log(), logfile.Name), line(e.now.Add(-25*time.Hour), "ERROR")+
				line(e.now.Add(-23*time.Hour), "ERROR")+line(e.now.Add(-time.Hour), "ERROR")+line(e.now, "WARN"))
		}, countFinding(OK, "log.errors", 2)},
		{"log", setUp, func(t *testing.T, e *exam) {
			must.Do(t, os.MkdirAll(filepath.Join(e.Dirs.Log(), logfile.Name), 0o700))
		}, fail("log.write")},
		{"crash", setUp, nil, ok("crash.none")},
		{"crash", setUp, aged(0), fail("crash.today")},
		{"crash", setUp, aged(3), countFinding(OK, "crash.old", 3)},
		{"history", setUp, nil, off("history.none")},
		{"history", "[history]\nkeep = \"off\"\n", nil, off("history.off")},
		{"history", setUp, calls(nil), ok("history.ok")},
		{"history", setUp, calls(func(p string) { write(t, p+".damaged", "x") }), warn("history.aside")},
		{"history", setUp, calls(func(p string) { write(t, p, strings.Repeat("not a database ", 999)) }), fail("history.damaged")},
		{"history", setUp, calls(func(p string) { schema(t, p, 99) }), fail("history.newer")},

		{"audit", setUp, nil, off("audit.off")},
		{"audit", "audit = \"eventlog\"\n" + setUp, nil, ok("audit.ok")},
		{"audit", "audit = \"eventlog\"\n" + setUp, func(_ *testing.T, e *exam) { e.sys.audit = func() error { return errors.New("none") } }, fail("audit.none")},

		{"delivery", setUp, nil, off("delivery.none")},
		{"delivery", setUp, box(nil), ok("delivery.ok")},
		{"delivery", setUp, box(func(t *testing.T, dir string, b *outbox.Outbox) { put(t, b, 2) }), countFinding(Fail,
			"delivery.idle", 2, since)},
		{"delivery", setUp, box(func(t *testing.T, dir string, b *outbox.Outbox) { put(t, b, 3); worker(t, dir) }), countFinding(Warn, "delivery.late", 3, since)},
		{"delivery", setUp, both(box(func(t *testing.T, dir string, b *outbox.Outbox) { put(t, b, 3); worker(t, dir) }), func(_ *testing.T, e *exam) {
			e.now = added().Add(waitsLong)
		}), countFinding(OK, "delivery.waiting", 3, since)},
		{"delivery", setUp, box(sent(hub.Receipt{Status: 422})), countFinding(Warn, "delivery.refused", 1)},
		{"delivery", setUp, box(sent(hub.Receipt{Status: 409})), countFinding(Fail, "delivery.uncertain", 1)},
		{"delivery", setUp, box(sent(hub.Receipt{Status: 401})),
			is(fail("delivery.held", text.DeliveryReason("credentials"), 1, since), countFinding(Fail, "delivery.idle", 1, since))},
		{"delivery", setUp, both(box(nil), spoolIs(fs.ErrPermission)), fail("delivery.write")},
		{"delivery", setUp, box(func(t *testing.T, dir string, b *outbox.Outbox) {
			put(t, b, 1)
			must.Do(t, os.RemoveAll(filepath.Join(dir, "spool")))
		}), is(countFinding(Fail, "delivery.spool", 1), countFinding(Fail, "delivery.idle", 1, since))},
		{"delivery", setUp, box(func(t *testing.T, dir string, _ *outbox.Outbox) {
			write(t, filepath.Join(dir, outbox.DatabaseName+".damaged"), "x")
		}), warn("delivery.aside")},
		{"delivery", setUp, func(t *testing.T, e *exam) {
			write(t, filepath.Join(fromsettings.OutboxFolder(e.Dirs), outbox.DatabaseName), strings.Repeat("not a database ", 999))
		}, fail("delivery.damaged")},
		{"delivery", setUp, both(box(nil), func(t *testing.T, e *exam) {
			schema(t, filepath.Join(fromsettings.OutboxFolder(e.Dirs), outbox.DatabaseName), 99)
		}), fail("delivery.newer")},
	}
}

// policies are the lines of the policy check for other problems.
var policies = []struct {
	wrong         []settings.Problem
	keys          int
	file, managed bool
	want          []finding
}{
	{nil, 1, true, false, countFinding(OK, "policy.file", 1)},
	{nil, 7, false, true, countFinding(OK, "policy.managed", 7)},
	{nil, 7, true, true, countFinding(OK, "policy.both", 7)},
	{[]settings.Problem{{Kind: settings.Untrusted}}, 0, true, false, fail("policy.untrusted")},
	{[]settings.Problem{{Kind: settings.Untrusted}}, 2, false, true, is(fail("policy.untrusted"), countFinding(OK, "policy.managed", 2))},
	{[]settings.Problem{{Kind: settings.Unreadable}}, 0, true, false, fail("policy.unreadable")},
	{[]settings.Problem{{Kind: settings.BadSyntax, Line: 3}}, 1, true, false, is(fail("policy.syntax", 3),
		countFinding(OK, "policy.file", 1))},
	{[]settings.Problem{{Kind: settings.UnknownKey, Key: "Canary9"}}, 0, true, false, fail("policy.key", at("?", 0))},
	{slices.Repeat([]settings.Problem{{Kind: settings.Unreadable}}, maxLines+2), 0, true, false,
		is(slices.Repeat(fail("policy.unreadable"), maxLines), countFinding(Warn, "settings.more", 2))},
}

// texts returns the catalogue keys that a check can use.
func texts(t *testing.T) map[text.Key]bool {
	t.Helper()
	b := must.Get(assets.Text.ReadFile("text/doctor.json"))(t)
	var all map[text.Key]json.RawMessage
	must.Do(t, json.Unmarshal(b, &all))
	found := map[text.Key]bool{}
	for k := range all {
		s, of := strings.CutPrefix(string(k), "doctor.found.")
		if of && !strings.HasSuffix(s, ".do") && s != "settings.key" && s != "settings.line" {
			found[k] = true
		}
	}
	return found
}

// wasRegistered: everything was registered for the profile on purpose.
func wasRegistered(t *testing.T, e *exam) {
	must.Do(t, registrations.Remember(e.Dirs, registrations.Registered{Scheme: true, Autostart: true, MicroSIP: "microsip.ini"}))
}

// TestEveryFault checks that each check reports each fault with its state and
// sentence, in both languages; everything that can be reported is tested here,
// and so is every trouble the guide lists.
func TestEveryFault(t *testing.T) {
	unsaid, listed := texts(t), map[string]bool{}
	for _, g := range text.DoctorTroubles {
		for _, found := range g.Found {
			listed[found] = true
		}
	}
	judge := func(t *testing.T, id string, got, want []finding) {
		for _, l := range []text.Language{text.Dutch, text.English} {
			say, should := in(id, l, got), in(id, l, want)
			if !slices.Equal(say, should) {
				t.Errorf("%s:\n  %+v, want\n  %+v", l, say, should)
			}
			for _, c := range say {
				complete(t, c)
			}
		}
		for i, l := range got {
			delete(unsaid, l.msg.Key)
			if l.state == Warn || l.state == Fail {
				found := trouble(l)
				if found == "" {
					t.Errorf("the guide does not list %s", l.msg.Key)
				}
				delete(listed, found)
			}
			if a, b := in(id, text.Dutch, got)[i].Message, in(id, text.English, got)[i].Message; a == b {
				t.Errorf("one sentence for two languages: %q", a)
			}
		}
	}
	for i, r := range rows(t) {
		t.Run(fmt.Sprintf("%s/%d", r.id, i), func(t *testing.T) {
			e := examined(t, r.toml)
			if r.set != nil {
				r.set(t, e)
			}
			judge(t, r.id, checks[r.id].run(e, t.Context()), r.want)
		})
	}
	for i, p := range policies {
		t.Run(fmt.Sprintf("policy/%d", i), func(t *testing.T) { judge(t, "policy", policyFindings(p.wrong, p.keys, p.file, p.managed), p.want) })
	}
	for k := range unsaid {
		t.Errorf("no row says %s", k)
	}
	for found := range listed {
		t.Errorf("no row provokes %s, which the guide lists", found)
	}
}

// trouble returns the guide's entry for the trouble that a line reports, "" for none.
func trouble(s finding) string {
	for _, g := range text.DoctorTroubles {
		for _, found := range g.Found {
			f, ofHub := strings.CutPrefix(found, "failure.")
			if s.msg.Key == text.Doctor(found) || ofHub && s.hint == text.FailureDo(f) {
				return found
			}
		}
	}
	if s.msg.Key == text.Doctor("settings.more") || s.msg.Key == text.Doctor("hub.lookup.bad") {
		return "more of the same, or asked for wrongly"
	}
	return ""
}

func in(id string, l text.Language, lines []finding) []Check {
	var all []Check
	for _, s := range lines {
		all = append(all, s.translate(id, l))
	}
	return all
}

package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/lazyregexp"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/listener"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/text"
)

type presence uint8

const (
	residentAbsent  presence = iota
	residentHangs            // something accepted the connection and does not answer
	residentSilent           // greeted, but does not answer this request: another version
	residentPresent          // answered
)

type residentState struct {
	presence presence
	hello    instance.Hello
	facts    windowapi.DoctorFacts
}

func (e *exam) askResident(ctx context.Context) residentState {
	c, hello, err := instance.Connect(ctx, instance.Config{RunDir: e.Dirs.Run, Version: e.Version, Build: e.Commit}, instance.RoleCommand)
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return residentState{presence: residentHangs}
	case err != nil:
		return residentState{}
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if err := c.Send(windowapi.KindFacts, nil); err != nil {
		return residentState{presence: residentSilent, hello: hello}
	}
	kind, raw, err := c.Receive()
	t := residentState{presence: residentSilent, hello: hello}
	if ctx.Err() != nil && hello.Build == e.Commit {
		t.presence = residentHangs // this version would have answered
	}
	if err == nil && kind == windowapi.KindFacts && json.Unmarshal(raw, &t.facts) == nil {
		t.presence = residentPresent
	}
	return t
}

func (e *exam) queryResident(ctx context.Context) residentState {
	t, in := e.fromResident.wait(ctx, residentTimeout+grace)
	if !in {
		return residentState{presence: residentHangs}
	}
	return t
}

// resident reports whether Wiebelt is running, and its own view of its state.
func (e *exam) resident(ctx context.Context) []finding {
	t := e.queryResident(ctx)
	switch t.presence {
	case residentAbsent:
		if !e.sys.loggedOn(ctx) {
			return oneFinding(Off, "resident.server")
		}
		return oneFinding(Warn, "resident.off")
	case residentHangs:
		return oneFinding(Fail, "resident.hangs")
	case residentSilent:
		return oneFinding(Warn, "resident.silent")
	}
	var all []finding
	if !t.facts.SetUp {
		all = append(all, oneFinding(Fail, "resident.setup")...)
	}
	if f := knownFailure(t.facts.Failure); f != "" {
		state := Warn
		if f.NeedsAdmin() {
			state = Fail
		}
		all = append(all, failureFinding(state, "resident.lookup", &contact.LookupError{Failure: f})...)
	}
	if t.facts.Paused {
		all = append(all, oneFinding(Off, "resident.paused")...)
	}
	if t.facts.TooQuiet {
		all = append(all, oneFinding(Warn, "resident.doubt")...)
	}
	if all == nil {
		return oneFinding(OK, "resident.ok")
	}
	return all
}

// knownFailure returns a failure named by another program; HubError if it is not one of ours.
func knownFailure(f string) contact.Failure {
	if key := text.FailureDo(f); f != "" && text.English.T(key) == string(key) {
		return contact.HubError
	}
	return contact.Failure(f)
}

// versionLike matches what a version from another program may look like.
var versionLike = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.+_-]{0,39}$`)

func versionOf(s string) string {
	if !versionLike().MatchString(s) {
		return "?"
	}
	return s
}

// version compares what is running with what is on disk, which is this program.
func (e *exam) version(ctx context.Context) []finding {
	t := e.queryResident(ctx)
	ours := versionOf(e.Version)
	switch {
	case t.presence == residentAbsent:
		return oneFinding(Off, "version.off", ours)
	case t.hello.Version == "": // it did not greet
		return oneFinding(Off, "resident.untold")
	case t.hello.Version == e.Version && t.hello.Build == e.Commit:
		return oneFinding(OK, "version.ok", ours)
	}
	theirs := versionOf(t.hello.Version)
	if theirs == ours { // the same name for two builds
		theirs, ours = theirs+" ("+shortBuild(t.hello.Build)+")", ours+" ("+shortBuild(e.Commit)+")"
	}
	return oneFinding(OK, "version.differs", theirs, ours)
}

func shortBuild(s string) string {
	s = versionOf(s)
	return s[:min(len(s), 8)]
}

func (e *exam) listener(ctx context.Context) []finding {
	l := e.Settings.Listener
	if !l.Enabled {
		return oneFinding(Off, "listener.off")
	}
	if exists(filepath.Join(e.Dirs.State, "tokens.json")) {
		if _, err := secret.EnsureTokens(e.Dirs); err != nil {
			return oneFinding(Fail, "listener.tokens")
		}
	}
	t := e.queryResident(ctx)
	switch f := t.facts; {
	case t.presence == residentPresent && f.Port > 0:
		if !e.isAnnounced(f.Port) {
			return oneFinding(Warn, "listener.file")
		}
		return oneFinding(OK, "listener.ok", f.Port)
	case t.presence == residentPresent && f.PortTaken:
		return oneFinding(Fail, "listener.taken", l.Port)
	case t.presence == residentPresent:
		return oneFinding(Fail, "listener.silent")
	case t.presence != residentAbsent:
		return oneFinding(Off, "resident.untold")
	case e.Settings.Source("listener.port") != settings.Default && portTaken(ctx, l.Port):
		return oneFinding(Fail, "listener.taken", l.Port)
	}
	return oneFinding(Off, "listener.idle", l.Port)
}

// portTaken reports whether a program on this computer uses a loopback port.
func portTaken(ctx context.Context, port int) bool {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err == nil {
		_ = l.Close()
	}
	return listener.IsPortTaken(err)
}

// isAnnounced reports whether listener.json belongs to us alone and contains the port.
func (e *exam) isAnnounced(port int) bool {
	f, err := filetrust.OpenFile(filepath.Join(e.Dirs.Run, listener.AnnouncementName), os.O_RDONLY, filetrust.Private)
	if err != nil {
		return false
	}
	_ = f.Close()
	a, err := listener.ReadAnnouncement(e.Dirs.Run)
	return err == nil && a.Version == 1 && a.Port == port
}

// link reports the state of each link according to the resident. Links are identified by
// their position in the settings: their names may be people's.
func (e *exam) link(ctx context.Context) []finding {
	if len(e.Settings.Softphones) == 0 {
		return oneFinding(Off, "link.none")
	}
	t := e.queryResident(ctx)
	if t.presence == residentHangs || t.presence == residentSilent {
		return oneFinding(Off, "resident.untold")
	}
	var all []finding
	for i, p := range e.Settings.Softphones {
		all = append(all, linkFindings(i+1, p, t)...)
	}
	return all
}

func linkFindings(n int, p settings.Softphone, t residentState) []finding {
	if t.presence != residentPresent {
		return oneFinding(Off, "link.idle", n, p.Kind)
	}
	phase, why := windowapi.LinkUnknown, ""
	for _, l := range t.facts.Links {
		if l.Kind == p.Kind && l.Name == cmp.Or(p.Name, p.Address) {
			phase, why = l.Phase, l.Why
		}
	}
	state, known := linkStates[phase]
	switch {
	case !known:
		phase, state = "unknown", Warn
	case phase == windowapi.LinkDown && registry.Of(p.Kind).Reach == registry.ByPhone: // somebody has not started it
		state = Warn
	}
	lines := oneFinding(state, "link."+phase, n, p.Kind)
	if slices.Contains(link.Causes(), link.Cause(why)) && phase != windowapi.LinkUp {
		lines[0].extra, lines[0].hint = text.LinkWhy(why), text.LinkDo(why)
	}
	return lines
}

var linkStates = map[string]State{windowapi.LinkUp: OK, windowapi.LinkDown: Fail, windowapi.LinkKicked: Warn, windowapi.LinkRefused: Fail,
	windowapi.LinkIncomplete: Fail, windowapi.LinkBackendFault: Fail}

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

// presence says whether a resident is there.
type presence uint8

const (
	absent  presence = iota
	hangs            // something accepted the connection and does not answer
	silent           // greeted, but does not answer this request: another version
	present          // answered
)

// residentState is the answer of the running resident.
type residentState struct {
	presence presence
	hello    instance.Hello
	facts    windowapi.DoctorFacts
}

// askResident asks the resident of this user and profile.
func (e *exam) askResident(ctx context.Context) residentState {
	c, hello, err := instance.Connect(ctx, instance.Config{RunDir: e.Dirs.Run, Version: e.Version, Build: e.Commit}, instance.RoleCommand)
	var timeout net.Error
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return residentState{presence: hangs}
	case err != nil:
		return residentState{}
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if err := c.Send(windowapi.KindFacts, nil); err != nil {
		return residentState{presence: silent, hello: hello}
	}
	kind, raw, err := c.Receive()
	t := residentState{presence: silent, hello: hello}
	if ctx.Err() != nil && hello.Build == e.Commit {
		t.presence = hangs // this version would have answered
	}
	if err == nil && kind == windowapi.KindFacts && json.Unmarshal(raw, &t.facts) == nil {
		t.presence = present
	}
	return t
}

func (e *exam) queryResident(ctx context.Context) residentState {
	t, in := e.fromResident.wait(ctx, residentIn+grace)
	if !in {
		return residentState{presence: hangs}
	}
	return t
}

// resident reports whether Wiebelt is running, and its own view of its state.
func (e *exam) resident(ctx context.Context) []finding {
	t := e.queryResident(ctx)
	switch t.presence {
	case absent:
		if !e.sys.loggedOn(ctx) {
			return say(Off, "resident.server")
		}
		return say(Warn, "resident.off")
	case hangs:
		return say(Fail, "resident.hangs")
	case silent:
		return say(Warn, "resident.silent")
	}
	var all []finding
	if !t.facts.SetUp {
		all = append(all, say(Fail, "resident.setup")...)
	}
	if f := knownFailure(t.facts.Failure); f != "" {
		state := Warn
		if f.NeedsAdmin() {
			state = Fail
		}
		all = append(all, sayWhy(state, "resident.lookup", &contact.LookupError{Failure: f})...)
	}
	if t.facts.Paused {
		all = append(all, say(Off, "resident.paused")...)
	}
	if t.facts.Doubt {
		all = append(all, say(Warn, "resident.doubt")...)
	}
	if all == nil {
		return say(OK, "resident.ok")
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
	case t.presence < silent:
		return say(Off, "version.off", ours)
	case t.hello.Version == e.Version && t.hello.Build == e.Commit:
		return say(OK, "version.ok", ours)
	}
	theirs := versionOf(t.hello.Version)
	if theirs == ours { // the same name for two builds
		theirs, ours = theirs+" ("+build(t.hello.Build)+")", ours+" ("+build(e.Commit)+")"
	}
	return say(OK, "version.differs", theirs, ours)
}

func build(s string) string {
	s = versionOf(s)
	return s[:min(len(s), 8)]
}

// listener checks the port, the tokens and the file that announces both.
func (e *exam) listener(ctx context.Context) []finding {
	l := e.Settings.Listener
	if !l.Enabled {
		return say(Off, "listener.off")
	}
	if exists(filepath.Join(e.Dirs.State, "tokens.json")) {
		if _, err := secret.Token(e.Dirs); err != nil {
			return say(Fail, "listener.tokens")
		}
	}
	t := e.queryResident(ctx)
	switch f := t.facts; {
	case t.presence == present && f.Port > 0:
		if !e.announced(f.Port) {
			return say(Warn, "listener.file")
		}
		return say(OK, "listener.ok", f.Port)
	case t.presence == present && f.PortTaken:
		return say(Fail, "listener.taken", l.Port)
	case t.presence == present:
		return say(Fail, "listener.silent")
	case t.presence != absent:
		return say(Off, "listener.unknown")
	case e.Settings.Source("listener.port") != settings.Default && portTaken(ctx, l.Port):
		return say(Fail, "listener.taken", l.Port)
	}
	return say(Off, "listener.idle", l.Port)
}

// portTaken reports whether a program on this computer uses a loopback port.
func portTaken(ctx context.Context, port int) bool {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err == nil {
		_ = l.Close()
	}
	return listener.Taken(err)
}

// announced reports whether listener.json belongs to us alone and contains the port.
func (e *exam) announced(port int) bool {
	f, err := filetrust.OpenFile(filepath.Join(e.Dirs.Run, listener.AnnouncementName), os.O_RDONLY, filetrust.Alone)
	if err != nil {
		return false
	}
	_ = f.Close()
	a, err := listener.Announced(e.Dirs.Run)
	return err == nil && a.Version == 1 && a.Port == port
}

// link reports the state of each link according to the resident. Links are identified by
// their position in the settings: their names may be people's.
func (e *exam) link(ctx context.Context) []finding {
	if len(e.Settings.Softphones) == 0 {
		return say(Off, "link.none")
	}
	t := e.queryResident(ctx)
	var all []finding
	for i, p := range e.Settings.Softphones {
		all = append(all, linkOf(i+1, p, t)...)
	}
	return all
}

func linkOf(n int, p settings.Softphone, t residentState) []finding {
	if t.presence != present {
		return say(Off, "link.idle", n, p.Kind)
	}
	phase, why := windowapi.LinkUnknown, ""
	for _, l := range t.facts.Links {
		if l.Kind == p.Kind && l.Name == cmp.Or(p.Name, p.Address) {
			phase, why = l.Phase, l.Why
		}
	}
	state, known := phases[phase]
	switch {
	case !known:
		phase, state = "unknown", Warn
	case phase == windowapi.LinkDown && registry.Of(p.Kind).Reach == registry.ByPhone: // somebody has not started it
		state = Warn
	}
	lines := say(state, "link."+phase, n, p.Kind)
	if slices.Contains(link.Causes(), link.Cause(why)) && phase != windowapi.LinkUp {
		lines[0].also, lines[0].hint = text.LinkWhy(why), text.LinkDo(why)
	}
	return lines
}

// phases maps the phases of a link to states.
var phases = map[string]State{windowapi.LinkUp: OK, windowapi.LinkDown: Fail, windowapi.LinkKicked: Warn, windowapi.LinkRefused: Fail,
	windowapi.LinkIncomplete: Fail, windowapi.LinkBehind: Fail}

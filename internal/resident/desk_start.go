package resident

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"wiebelt/internal/configure"
	"wiebelt/internal/deskapi"
	"wiebelt/internal/health"
	"wiebelt/internal/profile"
	"wiebelt/internal/registrations"
	"wiebelt/internal/resident/ask"
	"wiebelt/internal/resident/watch"
	"wiebelt/internal/settings"
	"wiebelt/internal/softphone/detect"
	"wiebelt/internal/text"
)

// askedFile is the name of the file in the state folder that says that the first
// start's window was shown.
const askedFile = "start-asked"

// firstStart reports whether the first start's window should come by itself: at
// the very first start of a profile, where neither settings nor policy have
// answered any of its questions.
func (r *Resident) firstStart() bool {
	if r.o.Demo != nil || r.o.Hub != nil {
		return false
	}
	for _, used := range []string{filepath.Join(r.o.Dirs.State, askedFile), configure.HistoryFile(r.o.Dirs)} {
		if _, err := os.Lstat(used); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return unanswered(r.o.Settings)
}

// unanswered reports whether nobody has answered any of the questions.
func unanswered(s *settings.Settings) bool {
	return !slices.ContainsFunc([]string{"card.corner", "ui.language", "softphone"}, func(key string) bool { return s.Source(key) != settings.Default }) &&
		len(s.Softphones) == 0
}

// showStart shows the first start's window and notes that it was shown. When a
// call has come already nobody is asked anything: the next start is.
func (r *Resident) showStart(ctx context.Context) bool {
	if ctx.Err() != nil || !r.o.ShowCalls && r.engine.Snapshot().Last != nil {
		return false
	}
	if err := profile.WriteFile(filepath.Join(r.o.Dirs.State, askedFile), []byte("1\n"), 0o600); err != nil {
		r.o.Log.Warn("the first start's window is not shown", "why", err)
		return false // or it would come every time
	}
	r.desks.Show(deskapi.WindowStart)
	return true
}

// watchStart starts what keeps registrations and the usual number of calls in
// view. The goroutines end with ctx.
func (r *Resident) watchStart(ctx context.Context, work *sync.WaitGroup) {
	again := func() {
		select {
		case r.retell <- struct{}{}:
		default: // it is about to look anyway
		}
	}
	told := func(lost []health.Registration) {
		r.facts.loses(lost)
		again()
	}
	if w, err := registrations.New(r.o.Dirs, r.o.ProfileDir, r.set, told, r.o.Log); err != nil {
		r.o.Log.Warn("registrations are not read", "why", err)
	} else {
		r.registers = w
		work.Go(func() { w.Run(ctx) })
	}
	work.Go(func() { r.readHeard(ctx) })
	work.Go(func() { r.readRecent(ctx) })
	if r.store != nil {
		r.usual = watch.NewUsual(r.store.Incoming, again, r.o.Log)
		r.facts.counts(r.usual)
		work.Go(func() { r.usual.Run(ctx) })
	}
}

// repair puts a lost registration back and says so if that does not work.
func (r *Resident) repair(what health.Registration) {
	if r.registers == nil {
		return
	}
	r.registers.Repair(what, func(err error) {
		switch {
		case errors.Is(err, registrations.ErrPhoneRuns):
			r.desks.Tell(text.StartRepairRuns)
		case err != nil:
			r.desks.Tell(text.StartRepairFailed)
		}
	})
}

// answerStart does what the first start's window and that of a test call ask.
func answerStart(r *Resident, q ask.Request) {
	if r.o.Demo != nil {
		return
	}
	_, verb, _ := strings.Cut(q.Kind, ".")
	switch {
	case verb == deskapi.VerbBegin:
		r.testCall(q)
	case verb == deskapi.VerbStop:
		r.testCalls.Stop()
	case q.Kind == deskapi.KindStartAsk:
		r.tellStart(q, "")
	case q.Kind == deskapi.KindStartCorner:
		var m deskapi.StartCorner
		if q.Decode(&m) && r.answer(q, "card.corner", m.Corner) {
			r.exhibit.show(q.Ctx, r.testCard(r.lang()))
		}
	case q.Kind == deskapi.KindStartLanguage:
		var m deskapi.StartLanguage
		if q.Decode(&m) {
			r.answer(q, "ui.language", m.Language)
		}
	case q.Kind == deskapi.KindStartConnect:
		var m deskapi.StartConnect
		if q.Decode(&m) {
			r.tellStart(q, r.connect(q.Ctx, m.ID))
		}
	}
}

// answer keeps an answer and tells how things are now.
func (r *Resident) answer(q ask.Request, key, value string) bool {
	failed := ""
	if err := r.keep(map[string]any{key: value}); err != nil {
		failed = r.lang().T(text.StartFailed, r.support())
	}
	r.tellStart(q, failed)
	return failed == ""
}

// keep writes settings and has them looked at.
func (r *Resident) keep(changes map[string]any) error {
	err := settings.Set(r.o.Dirs, changes)
	if err != nil {
		r.o.Log.Warn("an answer was not kept", "why", err)
		return err
	}
	select {
	case r.reread <- struct{}{}:
	default: // it is about to look anyway
	}
	return nil
}

// tellStart tells how things are now. One at a time: what was seen later must not
// be overtaken by what was seen before.
func (r *Resident) tellStart(q ask.Request, failed string) {
	r.starting.Lock()
	defer r.starting.Unlock()
	q.Reply(deskapi.KindStartState, r.startState(q.Ctx, failed))
}

func (r *Resident) startState(ctx context.Context, failed string) deskapi.StartState {
	now, _ := settings.Load(r.o.Dirs) // what was just kept may not hold yet
	s := deskapi.StartState{Corner: now.Card.Corner, CornerLocked: now.Locked("card.corner"),
		Language: string(configure.Language(now)), LanguageLocked: now.Locked("ui.language"),
		Phones: []deskapi.StartPhone{}, SetUp: r.current().client != nil, Support: r.support(), Failed: failed}
	l := r.lang()
	for _, p := range now.Softphones {
		phase, _ := r.linkPhase(linkName(p))
		s.Phones = append(s.Phones, deskapi.StartPhone{ID: "link " + linkName(p), Name: phoneName(l, p), OK: phase == health.Up,
			Sentence: l.T(text.StartLink(phaseWord(phase)))})
	}
	found := r.found(ctx)
	for _, p := range found {
		if linked(p, now.Softphones) {
			continue
		}
		name := l.T(text.StartPhone(p.Kind))
		if which := cmp.Or(p.Address, filepath.Base(p.File)); which != "." && several(found, p.Kind) {
			name += " (" + which + ")"
		}
		f := deskapi.StartPhone{ID: p.ID(), Name: name, OK: p.Ours, Recipe: p.Kind,
			Can: !p.Ours && p.Obstacle == detect.Free, Sentence: l.T(text.StartFound(string(p.Obstacle)))}
		switch {
		case p.Ours:
			f.Sentence = l.T(text.StartOurs)
		case f.Can && p.File == "" && now.Locked("softphone"):
			f.Can, f.Sentence = false, l.T(text.StartLocked)
		}
		s.Phones = append(s.Phones, f)
	}
	return s
}

// several reports whether more than one phone of a kind was found.
func several(found []detect.Phone, kind string) bool {
	n := 0
	for _, p := range found {
		if p.Kind == kind {
			n++
		}
	}
	return n > 1
}

// found looks for softphones on this computer.
func (r *Resident) found(ctx context.Context) []detect.Phone {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return detect.Find(ctx, detect.This())
}

func (r *Resident) linked(p detect.Phone) bool { return linked(p, r.set().Softphones) }

// linked reports whether a phone that was found is one of the links.
func linked(p detect.Phone, links []settings.Softphone) bool {
	return slices.ContainsFunc(links, func(s settings.Softphone) bool {
		switch {
		case s.Kind != p.Kind:
			return false
		case p.Kind == detect.Bria, p.Obstacle != detect.Free: // there is one of it, or none could be told apart
			return true
		case p.Kind == detect.Linphone:
			return filepath.Base(s.Address) == p.Address
		}
		return s.Address == p.Address
	})
}

// connect connects a phone that was found, and gives what did not work as a
// sentence. The phone is looked for anew: no address comes from a window.
func (r *Resident) connect(ctx context.Context, id string) (failed string) {
	found := r.found(ctx)
	i := slices.IndexFunc(found, func(p detect.Phone) bool { return p.ID() == id })
	l := r.lang()
	if i < 0 {
		return l.T(text.StartGone)
	}
	p := found[i]
	now, _ := settings.Load(r.o.Dirs)
	var err error
	switch {
	case p.Obstacle != detect.Free:
		return l.T(text.StartFound(string(p.Obstacle)))
	case p.Ours, linked(p, now.Softphones):
		return ""
	case p.File != "":
		err = registrations.ConnectFile(r.o.Dirs, now, r.o.ProfileDir, p, detect.This().Processes())
		if err == nil && p.Kind == detect.MicroSIP && r.registers != nil {
			r.registers.Reread() // and remembered from now on
		}
	case now.Locked("softphone"):
		return l.T(text.StartLocked)
	default:
		links := append(slices.Clone(now.Softphones), settings.Softphone{Kind: p.Kind, Address: p.Address})
		err = r.keep(map[string]any{"softphone": links})
	}
	switch {
	case errors.Is(err, registrations.ErrPhoneRuns):
		return l.T(text.StartFound(string(detect.Running)))
	case err != nil:
		r.o.Log.Warn("a phone was not connected", "kind", p.Kind, "why", err)
		return l.T(text.StartFailed, r.support())
	}
	return ""
}

package resident

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/registrations"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/health"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/resident/hubwatch"
	"wiebelt/internal/resident/request"
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
	for _, used := range []string{filepath.Join(r.o.Dirs.State, askedFile), fromsettings.HistoryFile(r.o.Dirs)} {
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
	r.desks.Show(windowapi.WindowStart)
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
		r.usual = hubwatch.NewUsual(r.store.Incoming, again, r.o.Log)
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

// answerTest does what the windows ask about test calls, on the goroutine of the
// request, which ends with its window.
func (r *Resident) answerTest(q request.Request) {
	var m windowapi.Test
	if r.o.Demo != nil || !q.Decode(&m) {
		return
	}
	switch m.Do {
	case windowapi.TestStop:
		r.testCalls.Stop()
	case windowapi.TestCard:
		r.exhibit.show(q.Ctx, r.testCard(r.lang()))
	case windowapi.TestBegin:
		ctx, over := r.testCalls.Begin(q.Ctx)
		defer over()
		tell := func(seen *windowapi.TestSeen) {
			q.Reply(windowapi.KindTest, windowapi.Test{Window: m.Window, Seq: m.Seq, Seen: seen})
		}
		r.heard.Wait(ctx, func(s windowapi.TestSeen) { tell(&s) }, func() { tell(nil) })
	}
}

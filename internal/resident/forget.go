package resident

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"wiebelt/internal/call"
	"wiebelt/internal/choices"
	"wiebelt/internal/companion"
	"wiebelt/internal/configure"
	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
	"wiebelt/internal/instance"
	"wiebelt/internal/phone"
	"wiebelt/internal/profile"
	"wiebelt/internal/resident/ask"
	"wiebelt/internal/settings"
	"wiebelt/internal/text"
)

// forget deletes what is stored about callers, in the history and among the
// remembered choices.
func (r *Resident) forget(ctx context.Context, raw json.RawMessage) deskapi.Forgotten {
	var m deskapi.Forget
	if json.Unmarshal(raw, &m) != nil || (m.All && m.Number != "") || ((m.All || m.Number != "") == (m.Days != nil)) || m.Days != nil && *m.Days < 0 {
		return deskapi.Forgotten{Error: "not understood"}
	}
	return r.forgetWhat(ctx, m)
}

func (r *Resident) forgetWhat(ctx context.Context, m deskapi.Forget) deskapi.Forgotten {
	r.removed.drop() // what is forgotten does not come back
	rules := r.rules(r.set())
	r.forgetRecent(forgotten(m, rules.Parse(m.Number, "").Key(), time.Now()))
	done, err := forget(ctx, r.store, r.chosenBefore, rules, m)
	r.historyChanged()
	if err != nil {
		done.Error = err.Error() // holds no number and no name
	}
	return done
}

// wipe deletes all that is stored about callers, as the user asked in a window.
func (r *Resident) wipe(q ask.Request) {
	if done := r.forgetWhat(q.Ctx, deskapi.Forget{All: true}); done.Error != "" {
		r.o.Log.Warn("not everything about callers was deleted", "why", done.Error)
		q.Reply(deskapi.KindCallsFailed, deskapi.CallsFailed{Sentence: r.lang().T(text.CallsWipeFailed, r.support())})
	}
}

// forget deletes what can be deleted, whatever else fails. calls is nil where
// none are kept.
func forget(ctx context.Context, calls *history.Store, chosen *choices.Store, rules *phone.Rules, m deskapi.Forget) (done deskapi.Forgotten, err error) {
	var fromCalls, fromChoices error
	key, before := rules.Parse(m.Number, "").Key(), time.Time{}
	if m.Days != nil {
		before = time.Now().AddDate(0, 0, -*m.Days)
	}
	if calls != nil {
		switch {
		case m.All:
			fromCalls = calls.DeleteAll(ctx)
		case m.Days != nil:
			done.Calls, fromCalls = calls.DeleteOlder(ctx, before)
		default:
			done.Calls, fromCalls = calls.DeleteNumber(ctx, key)
		}
	}
	switch {
	case m.All:
		fromChoices = chosen.ForgetAll(ctx)
	case m.Days != nil:
		done.Choices, fromChoices = chosen.ForgetOlder(ctx, before)
	default:
		done.Choices, fromChoices = chosen.Forget(ctx, key)
	}
	return done, errors.Join(fromCalls, fromChoices)
}

// ForgetFiles deletes what is stored about callers while no resident runs, which
// would own the files.
func ForgetFiles(ctx context.Context, dirs profile.Dirs, s *settings.Settings, m deskapi.Forget) error {
	rules, err := configure.Rules(s)
	if err != nil {
		return err
	}
	gone := forgotten(m, rules.Parse(m.Number, "").Key(), time.Now())
	_, waiting := instance.ForgetCalls(instance.Config{RunDir: dirs.Run}, func(e call.Event) bool {
		return gone(companion.LastCall{At: e.At, Number: rules.Parse(e.Number, e.Name)})
	})
	calls, err := history.Open(historyPath(dirs), history.Keep(s.History.Keep), s.History.Days, time.Now)
	if err != nil {
		return err
	}
	defer calls.Close()
	chosen := choices.New(choiceParams(dirs, s))
	var running sync.WaitGroup
	run, end := context.WithCancel(ctx)
	running.Go(func() { chosen.Run(run) })
	_, err = forget(ctx, calls, chosen, rules, m)
	end()
	running.Wait()
	return errors.Join(err, waiting)
}

// Forget has the running resident delete what is stored about callers.
// instance.ErrNotRunning comes back where none runs; the caller may then do it.
func Forget(ctx context.Context, cfg instance.Config, what deskapi.Forget) (deskapi.Forgotten, error) {
	var done deskapi.Forgotten
	c, _, err := instance.Connect(ctx, cfg, instance.RoleCommand)
	if err != nil {
		return done, err
	}
	defer c.Close()
	if err := c.Send(deskapi.KindForget, what); err != nil {
		return done, err
	}
	kind, raw, err := c.Receive()
	if err != nil {
		return done, err
	}
	if kind != deskapi.KindForget || json.Unmarshal(raw, &done) != nil {
		return done, errors.New("forget: the running Wiebelt did not understand")
	}
	if done.Error != "" {
		return done, errors.New("forget: " + done.Error)
	}
	return done, nil
}

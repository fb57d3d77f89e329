package callactions

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/call"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/chosencontacts"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
)

// Wipe deletes everything stored about callers, like Forget.
func (c *Calls) Wipe(ctx context.Context) error {
	s := c.Settings()
	if err := Forget(context.WithoutCancel(ctx), c.Instance, c.Dirs, s, windowapi.Forget{All: true}); err != nil {
		c.Log.Warn("not everything about callers was deleted", "why", err)
		var tell any = text.CardAdmin
		if s.Support.Contact != "" {
			tell = s.Support.Contact
		}
		return text.Errorf(text.CallsWipeFailed, tell)
	}
	return nil
}

// Forget deletes what is stored about callers. The running resident does so, since
// it has some of that in memory; without a resident it is done here, in the files.
func Forget(ctx context.Context, cfg instance.Config, dirs profile.Dirs, s *settings.Settings, what windowapi.Forget) error {
	err := askResident(ctx, cfg, what)
	if errors.Is(err, instance.ErrNotRunning) {
		return forgetInFiles(ctx, dirs, s, what)
	}
	return err
}

// askResident has the running resident do it, or returns instance.ErrNotRunning.
func askResident(ctx context.Context, cfg instance.Config, what windowapi.Forget) error {
	kind, raw, err := instance.Ask(ctx, cfg, windowapi.KindForget, what)
	if err != nil {
		return err
	}
	var done windowapi.ForgetResult
	if kind != windowapi.KindForget || json.Unmarshal(raw, &done) != nil {
		return errors.New("forget: the running Wiebelt did not understand")
	}
	if done.Error != "" {
		return errors.New("forget: " + done.Error)
	}
	return nil
}

// forgetInFiles deletes from the files while no resident is running, which would own them.
func forgetInFiles(ctx context.Context, dirs profile.Dirs, s *settings.Settings, m windowapi.Forget) error {
	rules, err := fromsettings.NumberRules(s)
	if err != nil {
		return err
	}
	gone := ForgetFilter(rules, m, time.Now())
	_, waiting := instance.ForgetCalls(instance.Config{RunDir: dirs.Run}, func(e call.Event) bool {
		return gone(engine.LastCall{At: e.At, Number: rules.Parse(e.Number, e.Name)})
	})
	keep, days := fromsettings.HistoryKeep(s)
	calls := history.New(fromsettings.HistoryFile(dirs), keep, days, time.Now)
	opened := calls.Begin(ctx)
	defer calls.Close()
	chosen := chosencontacts.New(ChoiceParams(dirs, s))
	var running sync.WaitGroup
	run, end := context.WithCancel(ctx)
	running.Go(func() { chosen.Run(run) })
	err = Delete(ctx, calls, chosen, rules, m)
	end()
	running.Wait()
	return errors.Join(opened, err, waiting)
}

// Delete deletes everything it can, whatever fails.
func Delete(ctx context.Context, calls *history.Store, chosen *chosencontacts.Store, rules *phone.Rules, m windowapi.Forget) error {
	key, before := rules.Parse(m.Number, "").Key(), time.Time{}
	if m.Days != nil {
		before = time.Now().AddDate(0, 0, -*m.Days)
	}
	switch {
	case m.All:
		return errors.Join(calls.DeleteAll(ctx), chosen.ForgetAll(ctx))
	case m.Days != nil:
		return errors.Join(calls.DeleteOlder(ctx, before), chosen.ForgetOlder(ctx, before))
	}
	return errors.Join(calls.DeleteNumber(ctx, key), chosen.Forget(ctx, key))
}

// ForgetFilter returns which calls a deletion covers.
func ForgetFilter(rules *phone.Rules, m windowapi.Forget, now time.Time) func(engine.LastCall) bool {
	key := rules.Parse(m.Number, "").Key()
	return func(c engine.LastCall) bool {
		switch {
		case m.All:
			return true
		case m.Days != nil:
			return c.At.Before(now.AddDate(0, 0, -*m.Days))
		}
		return c.Number.Key() == key
	}
}

// ChoiceParams returns where choices are kept. The key of their hashes is in the secret
// store; without a store, they last until the program ends.
func ChoiceParams(dirs profile.Dirs, s *settings.Settings) chosencontacts.Params {
	secrets := func() secret.Store { return secret.Open(s.Hub.SecretStore, dirs) }
	return chosencontacts.Params{Path: filepath.Join(dirs.State, chosencontacts.FileName), Secrets: secrets,
		Keep: s.History.Choices, Paused: fromsettings.ChoicesPaused(s), Log: slog.New(slog.DiscardHandler)}
}

package cli

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/hub"
	"wiebelt/internal/native/eventlog"
	"wiebelt/internal/text"
)

func (e *env) lookUp(a *lookupAnswer, d profile.Dirs, s *settings.Settings, n phone.Number) {
	fail := func(f contact.Failure, message string) {
		a.Outcome = "failed"
		if f == contact.NotSetUp {
			a.Outcome = string(f)
		}
		a.Error = &lookupFault{string(f), message}
	}
	if missing := s.Hub.Missing(); len(missing) > 0 {
		says := e.T(text.AdminIncomplete, missing[0])
		if s.HasRelayLink() { // do not tell anyone to configure a hub on this computer
			says = e.T(text.AdminRelayed)
		}
		fail(contact.NotSetUp, says)
		return
	}
	cfg, err := fromsettings.HubConfig(d, s.Hub)
	if err != nil {
		fail(contact.NotSetUp, e.errorText(err))
		return
	}
	client, err := hub.New(cfg)
	if err != nil {
		fail(contact.NotSetUp, e.errorText(err))
		return
	}
	defer client.Close()
	links := fromsettings.Links(s.Hub.HubURL)
	found, err := client.Lookup(e.ctx, n.Query())
	if err != nil {
		f := contact.FailureOf(err)
		e.audit(s, string(f))
		if _, ok := errors.AsType[*contact.LookupError](err); !ok {
			err = &contact.LookupError{Failure: f}
		}
		fail(f, e.T(text.OutputLookupFailed, err, text.FailureDo(string(f))))
		return
	}
	a.Outcome = "none"
	for _, k := range found {
		a.Outcome = "found"
		a.Contacts = append(a.Contacts, contactJSON(k, links))
	}
	e.audit(s, a.Outcome)
}

// audit records a lookup if so configured, and reports a failure to do so.
func (e *env) audit(s *settings.Settings, outcome string) {
	if s.Audit != "eventlog" {
		return
	}
	if err := eventlog.Write(eventlog.Lookup(outcome)); err != nil {
		e.printNotice(text.OutputAudit, err)
	}
}

// lookupDetail is what a failed lookup reports beyond its kind.
func lookupDetail(err error) string {
	if l, ok := errors.AsType[*contact.LookupError](err); ok {
		return l.Detail
	}
	return ""
}

type versionCmd struct{}

func (versionCmd) Run(e *env) error {
	fyne := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "fyne.io/fyne/v2" {
				fyne = m.Version
			}
		}
	}
	fmt.Fprintf(e.out, "wiebelt %s\ncommit %s\n%s %s/%s\nfyne %s\n", e.build.Version, e.build.Commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, fyne)
	return nil
}

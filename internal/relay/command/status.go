package command

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/relay/server"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/text"
)

type statusCmd struct {
	JSON bool `name:"json"`
}

// Run prints the relay's status.
func (c *statusCmd) Run(e *env) error {
	f, err := e.folder()
	if err != nil {
		return err
	}
	s, err := e.status(f)
	switch {
	case err != nil:
		return err
	case c.JSON:
		if err := e.print(s); err != nil || s.Fault == "" {
			return err
		}
		return &failure{exitFailed, nil}
	}
	e.printText(text.RelayStatus, s.Site, s.Relay, s.StartedAt.Local().Format(time.DateTime), s.Users, s.Computers, s.Connected, s.Reports, s.Unmatched, s.Dropped, hubState(s.Hub))
	for _, l := range s.Links {
		e.printText(text.RelayExchange, l.Name, text.LinkKind(l.Kind), e.linkText(l))
	}
	if len(s.UnknownExtensions) > 0 {
		e.printText(text.RelayStrange, strings.Join(s.UnknownExtensions, ", "))
	}
	if len(s.InvalidSettings) > 0 {
		e.printText(text.RelayWrong, strings.Join(s.InvalidSettings, ", "))
	}
	if s.Fault != "" {
		return fail(exitFailed, text.RelayFault(s.Fault))
	}
	return nil
}

// status asks the relay running here.
func (e *env) status(f *setup.Folder) (s server.Status, err error) {
	if f.Settings.Admin == "" {
		return s, fail(exitFailed, text.RelayNoAdmin)
	}
	client := http.Client{Timeout: requestTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := http.NewRequestWithContext(e.ctx, http.MethodGet, "http://"+f.Settings.Admin+"/status", nil)
	if err != nil {
		return s, err
	}
	a, err := client.Do(r)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return s, fail(exitNotRunning, text.RelayNotRunning)
	case err != nil:
		return s, err
	}
	defer a.Body.Close()
	b, err := io.ReadAll(io.LimitReader(a.Body, 64<<10))
	if err != nil {
		return s, err
	}
	if a.StatusCode != http.StatusOK || json.Unmarshal(b, &s) != nil || s.Site != string(f.Keys.Site) {
		return s, fail(exitFailed, text.RelayOther, f.Settings.Admin)
	}
	return s, nil
}

// linkText describes the state of a link to an exchange, and what to do about it.
func (e *env) linkText(l wire.LinkState) string {
	at := func(t time.Time) any {
		if t.IsZero() {
			return text.RelayExchangeNever
		}
		return t.Local().Format(time.DateTime)
	}
	key := text.RelayExchangeState(l.State)
	says := e.lang().T(key)
	if strings.Contains(says, "%s") {
		says = e.lang().Error(text.Errorf(key, at(l.Since), at(l.LastCallAt)))
	}
	if trouble := text.LinkTrouble(e.lang(), l.Cause); trouble != "" {
		says += " " + trouble
	}
	return says
}

func hubState(s string) any {
	switch s {
	case "off":
		return text.RelayHubOff
	case "untried":
		return text.RelayHubUntried
	case "ok":
		return text.RelayHubOK
	}
	return &contact.LookupError{Failure: contact.Failure(s)}
}

package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/hub"
	"wiebelt/internal/relay/server"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/text"
)

type doctorCmd struct {
	JSON bool `name:"json"`
}

type check struct {
	ID      string `json:"id"`
	State   string `json:"state"` // ok, warn, fail
	Message string `json:"says"`
}

// renewIn is how long before its expiry the office must renew its own certificate.
const renewIn = 30 * 24 * time.Hour

// certificateState reports whether a certificate is valid for long enough. The relay
// itself renews one of the site's own authority.
func certificateState(ofOffice bool, left time.Duration) (state string, says text.Key) {
	if ofOffice && left < renewIn {
		return "warn", text.RelayDoctorRenew
	}
	return "ok", text.RelayDoctorCertificate
}

// Run checks everything a relay needs and prints the results.
func (c *doctorCmd) Run(e *env) error {
	var all []check
	wrong := false
	add := func(id, state string, says text.Key, args ...any) {
		all = append(all, check{id, state, e.lang().Error(text.Errorf(says, args...))})
		wrong = wrong || state == "fail"
	}
	f, err := e.folder()
	if err != nil {
		add("folder", "fail", text.RelayDoctorWrong, err)
	} else {
		add("folder", "ok", text.RelayDoctorFolder, e.data)
		e.addRunning(f, add)
	}
	if c.JSON {
		if err := e.print(map[string]any{"checks": all}); err != nil {
			return err
		}
	} else {
		for _, k := range all {
			fmt.Fprintf(e.out, "%-5s %-12s %s\n", k.State, k.ID, k.Message)
		}
	}
	if wrong {
		return &failure{exitFailed, nil}
	}
	return nil
}

// addRunning checks a relay that should be running.
func (e *env) addRunning(f *setup.Folder, add func(id, state string, says text.Key, args ...any)) {
	s, err := e.status(f)
	switch {
	case err != nil:
		add("relay", "fail", text.RelayDoctorWrong, err)
	case s.Fault != "":
		add("relay", "fail", text.RelayFault(s.Fault))
	default:
		add("relay", "ok", text.RelayDoctorRuns, s.StartedAt.Local().Format(time.DateTime))
		e.addCounts(s, add)
	}
	until, err := e.certificate(f)
	if err != nil {
		add("certificate", "fail", text.RelayDoctorWrong, err)
		return
	}
	state, says := certificateState(f.Settings.TLS.HasCertificate(), time.Until(until))
	add("certificate", state, says, until.Local().Format(time.DateOnly))
}

func (e *env) addCounts(s server.Status, add func(id, state string, says text.Key, args ...any)) {
	if s.Users == 0 {
		add("users", "warn", text.RelayDoctorNobody)
	} else {
		add("users", "ok", text.RelayDoctorUsers, s.Users, s.Computers, s.Connected)
	}
	if s.Hub != "off" { // the newest lookup may be long ago
		s.Hub = e.tryHub()
	}
	if s.Hub == "off" || s.Hub == "ok" {
		add("hub", "ok", text.RelayDoctorWrong, hubState(s.Hub))
	} else {
		add("hub", "fail", text.RelayDoctorWrong, hubState(s.Hub))
	}
	for _, l := range s.Links {
		state := "fail"
		switch {
		case l.State == link.Connecting.String():
			state = "warn"
		case l.Cause != "":
		case slices.Contains([]string{link.Connected.String(), wire.LinkOtherRelay, wire.LinkWebhook}, l.State):
			state = "ok"
		}
		add("exchange", state, text.RelayExchange, l.Name, text.LinkKind(l.Kind), e.linkText(l))
	}
	if len(s.UnknownExtensions) > 0 {
		add("extensions", "warn", text.RelayStrange, strings.Join(s.UnknownExtensions, ", "))
	}
	if len(s.InvalidSettings) > 0 {
		add("settings", "fail", text.RelayWrong, strings.Join(s.InvalidSettings, ", "))
	}
	switch {
	case s.Dropped > 0:
		add("reports", "warn", text.RelayDoctorDropped, s.Dropped)
	case s.Late > 0:
		add("reports", "warn", text.RelayDoctorLate, s.Late)
	case s.Unmatched > s.Reports:
		add("reports", "warn", text.RelayDoctorMissed, s.Unmatched)
	default:
		add("reports", "ok", text.RelayDoctorReports, s.Reports)
	}
}

// tryHub asks the hub for a token, as the relay does, and changes nothing.
func (e *env) tryHub() string {
	client, err := e.hubClient()
	if err != nil {
		return string(contact.NotSetUp)
	}
	defer client.Close()
	err = e.inTime(func(ctx context.Context) error {
		_, err := client.Check(ctx)
		return err
	})
	if err != nil {
		return string(contact.FailureOf(err))
	}
	return "ok"
}

func (e *env) hubClient() (*hub.Client, error) {
	dirs, s, err := e.settings()
	if err != nil {
		return nil, err
	}
	cfg, err := fromsettings.HubConfig(dirs, s.Hub)
	if err != nil {
		return nil, err
	}
	cfg.OnSecretResult = nil
	return hub.New(cfg)
}

// certificate returns the expiry of the relay's certificate, verified for the name
// by which others reach it.
func (e *env) certificate(f *setup.Folder) (time.Time, error) {
	var roots *x509.CertPool // the system's
	if !f.Settings.TLS.HasCertificate() {
		roots = f.Authority.Roots()
	}
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: requestTimeout}, Config: &tls.Config{RootCAs: roots, ServerName: f.Settings.PublicHosts[0], MinVersion: tls.VersionTLS13}}
	c, err := d.DialContext(e.ctx, "tcp", f.Settings.Local(f.Settings.WebPort))
	if err != nil {
		return time.Time{}, err
	}
	defer c.Close()
	return c.(*tls.Conn).ConnectionState().PeerCertificates[0].NotAfter, nil
}

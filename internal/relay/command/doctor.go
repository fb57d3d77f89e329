package command

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/relay/server"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/text"
)

type doctorCmd struct {
	JSON bool `name:"json"`
}

// check is one thing that must be right.
type check struct {
	ID    string `json:"id"`
	State string `json:"state"` // ok, warn, fail
	Says  string `json:"says"`
}

// Run looks at everything that a relay needs, and says what is wrong.
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
		e.running(f, add)
	}
	if c.JSON {
		if err := e.print(map[string]any{"checks": all}); err != nil {
			return err
		}
	} else {
		for _, k := range all {
			fmt.Fprintf(e.out, "%-5s %-12s %s\n", k.State, k.ID, k.Says)
		}
	}
	if wrong {
		return &failure{exitFailed, nil}
	}
	return nil
}

// running are the checks of a relay that should run.
func (e *env) running(f *setup.Folder, add func(id, state string, says text.Key, args ...any)) {
	s, err := e.status(f)
	switch {
	case err != nil:
		add("relay", "fail", text.RelayDoctorWrong, err)
	case s.Fault != "":
		add("relay", "fail", text.RelayFault(s.Fault))
	default:
		add("relay", "ok", text.RelayDoctorRuns, s.Since.Local().Format(time.DateTime))
		e.counted(s, add)
	}
	until, err := e.certificate(f)
	if err != nil {
		add("certificate", "fail", text.RelayDoctorWrong, err)
	} else {
		add("certificate", "ok", text.RelayDoctorCertificate, until.Local().Format(time.DateOnly))
	}
}

func (e *env) counted(s server.Status, add func(id, state string, says text.Key, args ...any)) {
	if s.Users == 0 {
		add("users", "warn", text.RelayDoctorNobody)
	} else {
		add("users", "ok", text.RelayDoctorUsers, s.Users, s.Computers, s.Connected)
	}
	switch s.Hub {
	case "off", "untried", "ok":
		add("hub", "ok", text.RelayDoctorWrong, hubState(s.Hub))
	default:
		add("hub", "fail", text.RelayDoctorWrong, hubState(s.Hub))
	}
	for _, l := range s.Links {
		state := "fail"
		switch {
		case l.State == link.Connecting.String():
			state = "warn"
		case l.Cause != "":
		case slices.Contains([]string{link.Connected.String(), wire.LinkElsewhere, wire.LinkReports}, l.State):
			state = "ok"
		}
		add("exchange", state, text.RelayExchange, l.Name, text.LinkKind(l.Kind), e.exchange(l))
	}
	if len(s.Strange) > 0 {
		add("extensions", "warn", text.RelayStrange, strings.Join(s.Strange, ", "))
	}
	if len(s.Wrong) > 0 {
		add("settings", "fail", text.RelayWrong, strings.Join(s.Wrong, ", "))
	}
	switch {
	case s.Dropped > 0:
		add("reports", "warn", text.RelayDoctorDropped, s.Dropped)
	case s.Late > 0:
		add("reports", "warn", text.RelayDoctorLate, s.Late)
	case s.Nobody > s.Reports:
		add("reports", "warn", text.RelayDoctorMissed, s.Nobody)
	default:
		add("reports", "ok", text.RelayDoctorReports, s.Reports)
	}
}

// certificate tells until when that lasts with which the relay answers, for the name
// by which others reach it.
func (e *env) certificate(f *setup.Folder) (time.Time, error) {
	var roots *x509.CertPool // those of the system
	if !f.Settings.TLS.Own() {
		roots = f.Authority.Roots()
	}
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: callTime}, Config: &tls.Config{RootCAs: roots, ServerName: f.Settings.Reached[0], MinVersion: tls.VersionTLS13}}
	c, err := d.DialContext(e.ctx, "tcp", f.Settings.Local(f.Settings.WebPort))
	if err != nil {
		return time.Time{}, err
	}
	defer c.Close()
	return c.(*tls.Conn).ConnectionState().PeerCertificates[0].NotAfter, nil
}

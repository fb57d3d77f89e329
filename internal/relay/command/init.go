package command

import (
	"errors"
	"io/fs"
	"net"
	"strconv"
	"time"

	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/text"
)

type initCmd struct {
	Site     string   `arg:""`
	Reached  []string `required:"" placeholder:"NAME"`
	Name     string   `default:"r1" placeholder:"NAME"`
	Host     string   `placeholder:"ADDRESS"`
	NATSPort int      `name:"nats-port" default:"4222" placeholder:"N"`
	WebPort  int      `name:"web-port" default:"8443" placeholder:"N"`
	Admin    string   `default:"127.0.0.1:8222" placeholder:"ADDRESS"`
}

// Run makes a relay.
func (c *initCmd) Run(e *env) error {
	site, err := wire.ParseSite(c.Site)
	if err != nil {
		return fail(exitUsage, text.RelaySite)
	}
	s := setup.Defaults()
	s.Name, s.Host, s.NATSPort, s.WebPort, s.Admin, s.Reached = c.Name, c.Host, c.NATSPort, c.WebPort, c.Admin, c.Reached
	if err := s.Check(); err != nil {
		return &failure{exitUsage, err}
	}
	switch err := setup.Create(e.data, site, s, time.Now()); {
	case errors.Is(err, fs.ErrExist):
		return fail(exitFailed, text.RelayMade, e.data)
	case err != nil:
		return err
	}
	f, err := e.folder()
	if err != nil {
		return err
	}
	e.say(text.RelayInit, e.data, f.Authority.Fingerprint())
	return nil
}

// address is where computers join.
func address(s setup.Settings) string {
	if s.WebPort == 443 {
		return "https://" + s.Reached[0]
	}
	return "https://" + net.JoinHostPort(s.Reached[0], strconv.Itoa(s.WebPort))
}

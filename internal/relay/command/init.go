package command

import (
	"errors"
	"io/fs"
	"net"
	"strconv"
	"strings"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/relay/credentials"
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
	NATSURL  []string `name:"nats-url" placeholder:"URL"`
	NATSCA   string   `name:"nats-ca" placeholder:"FILE"`
	NATSKeys string   `name:"nats-keys" placeholder:"FILE"`
}

// keys returns the site's keys: new ones, or those of an account on somebody else's NATS,
// from a file with its public key and two seeds.
func (c *initCmd) keys(site wire.Site) (*credentials.Authority, error) {
	if len(c.NATSURL) == 0 && c.NATSKeys == "" {
		return credentials.New(site)
	}
	if len(c.NATSURL) == 0 || c.NATSKeys == "" {
		return nil, fail(exitUsage, text.RelayNATSKeys)
	}
	b, err := filetrust.ReadFile(c.NATSKeys, 4<<10, filetrust.Private)
	if err != nil {
		return nil, err
	}
	given := strings.Fields(string(b))
	if len(given) != 3 {
		return nil, fail(exitUsage, text.RelayNATSKeys)
	}
	a, err := credentials.NewExternal(site, given[0], given[1], given[2])
	if err != nil {
		return nil, fail(exitUsage, text.RelayNATSKeys)
	}
	return a, nil
}

// Run creates a relay.
func (c *initCmd) Run(e *env) error {
	site, err := wire.ParseSite(c.Site)
	if err != nil {
		return &failure{exitUsage, err}
	}
	s := setup.Defaults()
	s.Name, s.Host, s.NATSPort, s.WebPort, s.Admin, s.PublicHosts = c.Name, c.Host, c.NATSPort, c.WebPort, c.Admin, c.Reached
	s.NATS.URLs, s.NATS.CA = c.NATSURL, c.NATSCA
	if err := s.Check(); err != nil {
		return &failure{exitUsage, err}
	}
	keys, err := c.keys(site)
	if err != nil {
		return err
	}
	switch err := setup.Create(e.data, keys, s); {
	case errors.Is(err, fs.ErrExist):
		return fail(exitFailed, text.RelayMade, e.data)
	case err != nil:
		return err
	}
	f, err := e.folder()
	if err != nil {
		return err
	}
	e.printText(text.RelayInit, e.data, f.Authority.Fingerprint())
	return nil
}

// address returns where computers join.
func address(s setup.Settings) string {
	if s.WebPort == 443 {
		return "https://" + s.PublicHosts[0]
	}
	return "https://" + net.JoinHostPort(s.PublicHosts[0], strconv.Itoa(s.WebPort))
}

// clusterCmd turns one relay into three.
type clusterCmd struct {
	Make clusterMakeCmd `cmd:""`
	Join clusterJoinCmd `cmd:""`
}

type clusterMakeCmd struct {
	To     string            `arg:""`
	Relays map[string]string `arg:""`
	Port   int               `default:"6222" placeholder:"N"`
}

// Run makes this computer's relay the first of three and writes the file from which
// the others are created.
func (c *clusterMakeCmd) Run(e *env) error {
	f, err := e.folder()
	if err != nil {
		return err
	}
	s := f.Settings
	s.Cluster, s.ClusterPort = c.Relays, c.Port
	if err := s.Check(); err != nil {
		return &failure{exitUsage, err}
	}
	site, err := f.ExportSite(s)
	if err != nil {
		return err
	}
	if err := profile.CreateFile(c.To, site, 0o600); err != nil {
		return err
	}
	if err := f.WriteSettings(s); err != nil {
		return err
	}
	e.printText(text.RelayClusterMade, c.To)
	return nil
}

type clusterJoinCmd struct {
	From  string `arg:""`
	Name  string `required:"" placeholder:"NAME"`
	Host  string `placeholder:"ADDRESS"`
	Admin string `default:"127.0.0.1:8222" placeholder:"ADDRESS"`
}

// Run creates another relay of a site.
func (c *clusterJoinCmd) Run(e *env) error {
	b, err := filetrust.ReadFile(c.From, setup.MaxSite, filetrust.Private)
	if err != nil {
		return err
	}
	site, err := setup.ParseSite(b)
	if err != nil {
		return text.Errorf(text.RelayFile, c.From, err)
	}
	s := site.Settings
	s.Name, s.Host, s.Admin, s.PublicHosts = c.Name, c.Host, c.Admin, []string{s.Cluster[c.Name]}
	switch err := site.Create(e.data, s); {
	case errors.Is(err, fs.ErrExist):
		return fail(exitFailed, text.RelayMade, e.data)
	case err != nil:
		return err
	}
	e.printText(text.RelayClusterJoined, e.data)
	return nil
}

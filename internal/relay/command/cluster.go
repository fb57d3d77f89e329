package command

import (
	"errors"
	"io/fs"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/text"
)

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
	site, err := f.Site(s)
	if err != nil {
		return err
	}
	if err := profile.CreateFile(c.To, site, 0o600); err != nil {
		return err
	}
	if err := f.Set(s); err != nil {
		return err
	}
	e.say(text.RelayClusterMade, c.To)
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
	b, err := filetrust.ReadFile(c.From, setup.MaxSite, filetrust.Alone)
	if err != nil {
		return err
	}
	site, err := setup.ParseSite(b)
	if err != nil {
		return text.Errorf(text.RelayFile, c.From, err)
	}
	s := site.Settings
	s.Name, s.Host, s.Admin, s.Reached = c.Name, c.Host, c.Admin, []string{s.Cluster[c.Name]}
	switch err := site.Create(e.data, s); {
	case errors.Is(err, fs.ErrExist):
		return fail(exitFailed, text.RelayMade, e.data)
	case err != nil:
		return err
	}
	e.say(text.RelayClusterJoined, e.data)
	return nil
}

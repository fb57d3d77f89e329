package command

import (
	"context"
	"crypto/sha256"
	"sync"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/relay/server"
	"wiebelt/internal/text"
)

type runCmd struct{}

// readiness is the line that reports where the relay can be reached.
type readiness struct {
	Is bool `json:"ready"`
	server.Ready
}

// Run serves until the program is ended or the service manager stops the service.
func (c *runCmd) Run(e *env) error { return asService(e, c.serve) }

func (*runCmd) serve(ctx context.Context, e *env) error {
	f, err := e.folder()
	if err != nil {
		return err
	}
	release, err := f.Lock()
	if err != nil {
		return err
	}
	defer release()
	dirs, err := profile.Find(e.data)
	if err != nil {
		return err
	}
	rules, err := e.rules() // problems in the settings are reported below
	if err != nil {
		return err
	}
	o := &follower{env: e, dirs: dirs, site: string(f.Keys.Site), secrets: map[string][sha256.Size]byte{}}
	defer func() {
		if o.client != nil {
			o.client.Close()
		}
	}()
	o.seen = o.stamp(ctx)
	first, _ := o.read(ctx)
	changes := make(chan server.Office)
	following, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { o.follow(following, changes) })
	err = server.Run(ctx, server.Config{Folder: f, Rules: rules, Office: first, Changes: changes, Log: e.log}, func(at server.Ready) {
		_ = e.print(readiness{true, at})
	})
	stop()
	work.Wait()
	if err != nil {
		return text.Errorf(text.RelayEnded, err)
	}
	return nil
}

package command

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/hub"
	"wiebelt/internal/relay/links"
	"wiebelt/internal/relay/server"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/text"
)

type runCmd struct{}

// readiness is the line that reports where the relay can be reached.
type readiness struct {
	IsReady bool `json:"ready"`
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
	dirs, s, err := e.settings() // the follower reports problems in them
	if err != nil {
		return err
	}
	rules, err := fromsettings.NumberRules(s)
	if err != nil {
		return err
	}
	o := &follower{env: e, dirs: dirs, site: string(f.Keys.Site), secrets: map[string][sha256.Size]byte{}}
	defer func() {
		if o.client != nil {
			o.client.Close()
		}
	}()
	o.lastStamp = o.stamp(ctx)
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

// allExtensions is the extension of a link that reports on all extensions.
const allExtensions = "*"

// followEvery is how often the settings are checked for changes.
const followEvery = 2 * time.Second

// follower turns the settings into what the relay works with. It belongs to one goroutine.
type follower struct {
	env       *env
	dirs      profile.Dirs
	site      string
	lastStamp string // the stamp of the settings last read

	clientIdentity string // identifies what client was made from
	client         *hub.Client

	secrets map[string][sha256.Size]byte // by link, "" for the hub, as they could be read last
}

// stamp returns a value that changes whenever the settings or a secret do.
func (o *follower) stamp(ctx context.Context) string {
	s, _ := settings.Load(o.dirs)
	files := mappingFiles(o.env.data)
	stamp := fmt.Sprint(settings.Fingerprint(o.dirs, files...), files, o.hubIdentity(ctx, s))
	for _, l := range o.links(ctx, s) {
		stamp += fmt.Sprint(l.Identity)
	}
	return stamp
}

// read returns the office as configured, and the client that is no longer needed, if any.
func (o *follower) read(ctx context.Context) (now server.Office, old *hub.Client) {
	s, problems := settings.Load(o.dirs)
	for _, p := range problems {
		o.env.log.Warn("a setting is wrong", "key", p.Key, "line", p.Line)
		now.InvalidKeys = append(now.InvalidKeys, p.Key)
	}
	now.Links = o.links(ctx, s)
	var wrong map[string]error
	now.Webhooks, wrong = mappings(o.env.data)
	for _, file := range slices.Sorted(maps.Keys(wrong)) {
		o.env.log.Warn("a mapping of a webhook is wrong", "file", file, "why", wrong[file])
		now.InvalidKeys = append(now.InvalidKeys, file)
	}
	// While anything is wrong, the relay keeps what it had, including the client.
	if is := o.hubIdentity(ctx, s); is != o.clientIdentity && (len(now.InvalidKeys) == 0 || o.clientIdentity == "") {
		client, err := o.newClient(s)
		if err != nil {
			o.env.log.Warn("the hub's settings cannot be used", "why", err)
			now.InvalidKeys = append(now.InvalidKeys, "hub")
		} else {
			old, o.clientIdentity, o.client = o.client, is, client
		}
	}
	if o.client != nil {
		now.Hub = o.client
	}
	return now, old
}

// hubIdentity returns a value that changes whenever a new client is needed. A client that the hub
// has refused keeps failing for a while, which would hide that its secret was corrected.
func (o *follower) hubIdentity(ctx context.Context, s *settings.Settings) string {
	if cfg, err := fromsettings.HubConfig(o.dirs, s.Hub); err == nil {
		o.note(ctx, "", cfg.Secret)
	}
	return fmt.Sprintf("%+v %x %s", s.Hub, o.secrets[""], fileStamp(s.Hub.ExtraCAFile))
}

// note records a secret's hash if the store returns the secret: a store that fails for a
// moment changes nothing, and whoever needs a missing secret reports it.
func (o *follower) note(ctx context.Context, of string, read func(context.Context) (string, error)) {
	if value, err := read(ctx); err == nil {
		o.secrets[of] = sha256.Sum256([]byte(value))
	}
}

// newClient returns a hub client that fetches its token ahead of the first call;
// nil if no hub is set.
func (o *follower) newClient(s *settings.Settings) (*hub.Client, error) {
	if s.Hub.BaseURL == "" {
		return nil, nil
	}
	cfg, err := fromsettings.HubConfig(o.dirs, s.Hub)
	if err != nil {
		return nil, err
	}
	client, err := hub.New(cfg)
	if err != nil {
		return nil, err
	}
	client.Warm()
	return client, nil
}

// follow sends changed settings until ctx ends.
func (o *follower) follow(ctx context.Context, to chan<- server.Office) {
	for wake.Pause(ctx, followEvery) == nil {
		stamp := o.stamp(ctx)
		if stamp == o.lastStamp || ctx.Err() != nil {
			continue
		}
		o.lastStamp = stamp
		now, old := o.read(ctx)
		select {
		case <-ctx.Done():
		case to <- now:
		}
		if old != nil {
			old.Close()
		}
	}
}

// linkIdentity is equal for unchanged links.
type linkIdentity struct {
	settings.Softphone
	store  string
	secret [sha256.Size]byte
}

// links returns the links to exchanges.
func (o *follower) links(ctx context.Context, s *settings.Settings) (all []links.Link) {
	for _, p := range s.Softphones {
		a, wrong := fromsettings.Account(o.dirs, s.Hub.SecretStore, p)
		is := linkIdentity{Softphone: p, store: s.Hub.SecretStore}
		if wrong == nil && a.Secret != nil {
			o.note(ctx, p.Name, a.Secret)
			is.secret = o.secrets[p.Name]
		}
		l := links.Link{Name: p.Name, Kind: p.Kind, Extension: p.Extension, Identity: is}
		if p.Extension == allExtensions {
			l.Extension = ""
		}
		a.Client = o.site + "/" + p.Name
		l.Open = func(hears func(string) bool) (link.Phone, error) {
			if wrong != nil {
				return nil, wrong
			}
			return openPhone(p, a, hears)
		}
		all = append(all, l)
	}
	return append(all, registration{o.env.data}.link(o.dirs)...)
}

// openPhone creates the phone of a link to an exchange.
func openPhone(p settings.Softphone, a exchangelink.Account, hears func(string) bool) (link.Phone, error) {
	switch missing := p.Missing(); {
	case !isExchange(p.Kind):
		return nil, &link.Refusal{Why: string(link.CauseSettings), Cause: link.CauseSettings}
	case missing != "":
		return nil, &link.Refusal{Why: missing, Cause: link.CauseNeeds(missing)}
	}
	if p.Extension == allExtensions {
		a.Extension, a.HasExtension = "", hears
	}
	return fromsettings.Link(p.Kind, a)
}

// isExchange reports whether kind is an exchange that a relay can link to,
// with a user of its own.
func isExchange(kind string) bool { return registry.Of(kind).Requires(registry.NeedsUser) }

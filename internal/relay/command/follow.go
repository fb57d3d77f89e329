package command

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
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
)

// everybody is the extension of a link that tells of all of them.
const everybody = "*"

// followEvery is how often the settings are looked at.
const followEvery = 2 * time.Second

// follower makes of the settings what the relay works with. It belongs to one goroutine.
type follower struct {
	env  *env
	dirs profile.Dirs
	site string
	seen string // what the settings were when they were read

	hub    string // what client was made of
	client *hub.Client

	secrets map[string][sha256.Size]byte // by link, "" for the hub, as they could be read last
}

// stamp is another one when the settings are, or a secret.
func (o *follower) stamp(ctx context.Context) string {
	s, _ := settings.Load(o.dirs)
	stamp := settings.Fingerprint(o.dirs) + mappingsStamp(o.env.data) + o.hubOf(ctx, s)
	for _, l := range o.links(ctx, s) {
		stamp += fmt.Sprint(l.Same)
	}
	return stamp
}

// read gives the office as it is set, and the client that it has no use for any more.
func (o *follower) read(ctx context.Context) (now server.Office, old *hub.Client) {
	s, problems := settings.Load(o.dirs)
	for _, p := range problems {
		o.env.log.Warn("a setting is wrong", "key", p.Key, "line", p.Line)
		now.Wrong = append(now.Wrong, p.Key)
	}
	now.Links = o.links(ctx, s)
	var wrong map[string]error
	now.Webhooks, wrong = mappings(o.env.data)
	for _, file := range slices.Sorted(maps.Keys(wrong)) {
		o.env.log.Warn("a mapping of a webhook is wrong", "file", file, "why", wrong[file])
		now.Wrong = append(now.Wrong, file)
	}
	// While something is wrong the relay goes on with what it had, the client included.
	if is := o.hubOf(ctx, s); is != o.hub && (len(now.Wrong) == 0 || o.hub == "") {
		client, err := o.newClient(s)
		if err != nil {
			o.env.log.Warn("the hub's settings cannot be used", "why", err)
			now.Wrong = append(now.Wrong, "hub")
		} else {
			old, o.hub, o.client = o.client, is, client
		}
	}
	if o.client != nil {
		now.Hub = o.client
	}
	return now, old
}

// hubOf is another one when a client has to be made anew: one that the hub has refused
// would go on refusing for a while, and nobody would hear that it is mended.
func (o *follower) hubOf(ctx context.Context, s *settings.Settings) string {
	if cfg, err := fromsettings.Hub(o.dirs, s.Hub); err == nil {
		o.note(ctx, "", cfg.Secret)
	}
	return fmt.Sprintf("%+v %x %s", s.Hub, o.secrets[""], fileStamp(s.Hub.ExtraCAFile))
}

// note keeps what a secret is, as long as its store gives it: one that fails for a moment
// changes nothing, and that there is none is said by who needs it.
func (o *follower) note(ctx context.Context, of string, read func(context.Context) (string, error)) {
	if value, err := read(ctx); err == nil {
		o.secrets[of] = sha256.Sum256([]byte(value))
	}
}

// newClient makes the client of a hub, with a token before the first call needs one;
// nil if none is set.
func (o *follower) newClient(s *settings.Settings) (*hub.Client, error) {
	if s.Hub.BaseURL == "" {
		return nil, nil
	}
	cfg, err := fromsettings.Hub(o.dirs, s.Hub)
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

// follow tells what is set otherwise, until ctx ends.
func (o *follower) follow(ctx context.Context, to chan<- server.Office) {
	for wake.Pause(ctx, followEvery) == nil {
		stamp := o.stamp(ctx)
		if stamp == o.seen || ctx.Err() != nil {
			continue
		}
		o.seen = stamp
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

// same is what makes two links one.
type same struct {
	settings.Softphone
	store  string
	secret [sha256.Size]byte
}

// links are the links to exchanges.
func (o *follower) links(ctx context.Context, s *settings.Settings) (all []links.Link) {
	for _, p := range s.Softphones {
		a, wrong := fromsettings.Account(o.dirs, s.Hub.SecretStore, p)
		is := same{Softphone: p, store: s.Hub.SecretStore}
		if wrong == nil && a.Secret != nil {
			o.note(ctx, p.Name, a.Secret)
			is.secret = o.secrets[p.Name]
		}
		l := links.Link{Name: p.Name, Kind: p.Kind, Extension: p.Extension, Same: is}
		if p.Extension == everybody {
			l.Extension = ""
		}
		a.Client = o.site + "/" + p.Name
		l.Open = func(hears func(string) bool) (link.Phone, error) {
			if wrong != nil {
				return nil, wrong
			}
			return open(p, a, hears)
		}
		all = append(all, l)
	}
	return append(all, registration{o.env.data}.link()...)
}

// open makes the phone of a link to an exchange.
func open(p settings.Softphone, a exchangelink.Account, hears func(string) bool) (link.Phone, error) {
	switch missing := p.Missing(); {
	case !isExchange(p.Kind):
		return nil, &link.Refusal{Why: string(link.CauseSettings), Cause: link.CauseSettings}
	case missing != "":
		return nil, &link.Refusal{Why: missing, Cause: link.CauseNeeds(missing)}
	}
	if p.Extension == everybody {
		a.Extension, a.Hears = "", hears
	}
	return fromsettings.Link(p.Kind, a)
}

// isExchange tells whether a kind is that of an exchange with a user of its own, to
// which a relay can have a link.
func isExchange(kind string) bool { return registry.Of(kind).Requires(registry.NeedsUser) }

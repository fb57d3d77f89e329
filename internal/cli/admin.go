package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"wiebelt/internal/contact"
	"wiebelt/internal/history"
	"wiebelt/internal/hub"
	"wiebelt/internal/phone"
	"wiebelt/internal/profile"
	"wiebelt/internal/resident"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
	"wiebelt/internal/text"
)

// ask does the one lookup of "wiebelt lookup".
func (e *env) ask(a *lookupAnswer, d profile.Dirs, s *settings.Settings, n phone.Number) {
	fail := func(f contact.Failure, message string) {
		a.Outcome = "failed"
		if f == contact.NotSetUp {
			a.Outcome = string(f)
		}
		a.Error = &lookupFault{string(f), message}
	}
	cfg, hubURL, err := resident.HubConfig(d, s.Hub, slog.New(slog.DiscardHandler))
	if err != nil {
		fail(contact.NotSetUp, err.Error())
		return
	}
	client, err := hub.New(cfg)
	if err != nil {
		fail(contact.NotSetUp, err.Error())
		return
	}
	defer client.Close()
	links, err := hub.NewLinks(hubURL)
	if err != nil {
		links, _ = hub.NewLinks("")
	}
	found, err := client.Lookup(e.ctx, n.Query())
	if err != nil {
		f := contact.FailureOf(err)
		why := strings.TrimSuffix(text.English.T(text.Failure(string(f))), ".")
		fail(f, "lookup failed: "+why+detail(err)+". "+text.English.T(text.FailureDo(string(f))))
		return
	}
	a.Outcome = "none"
	for _, k := range found {
		a.Outcome = "found"
		a.Contacts = append(a.Contacts, contactJSON(k, links))
	}
}

func detail(err error) string {
	var l *contact.LookupError
	if errors.As(err, &l) && l.Detail != "" {
		return " (" + l.Detail + ")"
	}
	return ""
}

type provisionCmd struct {
	BaseURL          string `name:"base-url" help:"Address of the hub's interfaces." placeholder:"URL"`
	HubURL           string `name:"hub-url" help:"Address of the practice hub, for customer files." placeholder:"URL"`
	ClientID         string `name:"client-id" help:"The OAuth client." placeholder:"ID"`
	OrganisationCode string `name:"organisation-code" help:"Goes into the scope orgCode." placeholder:"CODE"`
	SecretStore      string `name:"secret-store" help:"os (default) or file." enum:"os,file," default:""`
	Softphone        string `help:"The secret is that of this softphone link in the settings, not the hub's." placeholder:"NAME"`
	SecretStdin      bool   `name:"secret-stdin" help:"Read the client's secret from standard input; it is never an argument."`
}

func (c *provisionCmd) Run(e *env) error {
	d, err := e.dirs()
	if err != nil {
		return err
	}
	before := e.load(d)
	if c.Softphone != "" {
		return c.softphone(e, d, before)
	}
	changes := map[string]any{}
	for key, v := range map[string]string{"hub.base_url": c.BaseURL, "hub.hub_url": c.HubURL, "hub.client_id": c.ClientID,
		"hub.organisation_code": c.OrganisationCode, "hub.secret_store": c.SecretStore} {
		if v != "" {
			changes[key] = v
		}
	}
	if len(changes) == 0 && !c.SecretStdin {
		return &exitError{exitUsage, "nothing to set; see wiebelt provision --help"}
	}
	if err := d.Make(); err != nil {
		return err
	}
	// The secret first: an address without its secret would be a set-up that
	// fails, the other way round nothing has changed.
	if c.SecretStdin {
		base, id, kind := cmp.Or(c.BaseURL, before.Hub.BaseURL), cmp.Or(c.ClientID, before.Hub.ClientID), cmp.Or(c.SecretStore, before.Hub.SecretStore)
		if err := e.keepSecret(d, base, id, kind); err != nil {
			return err
		}
	}
	if len(changes) > 0 {
		if err := settings.Set(d, changes); err != nil {
			return err
		}
	}
	fmt.Fprintln(e.out, "Set. Try it with: wiebelt lookup NUMBER")
	return nil
}

// softphone keeps the secret of a link that stands in the settings.
func (c *provisionCmd) softphone(e *env, d profile.Dirs, s *settings.Settings) error {
	if !c.SecretStdin || c.BaseURL+c.HubURL+c.ClientID+c.OrganisationCode != "" {
		return &exitError{exitUsage, "--softphone goes with --secret-stdin and nothing about the hub"}
	}
	for _, l := range s.Softphones {
		if l.Name != c.Softphone {
			continue
		}
		ref, err := secret.Softphone(l.Name, l.Address)
		if err != nil {
			return err
		}
		value, err := secret.ReadSecret(e.in)
		if err != nil {
			return err
		}
		if err := e.store(d, s.Hub.SecretStore, ref, value); err != nil {
			return err
		}
		fmt.Fprintln(e.out, "Set. It is used from the next start of Wiebelt on.")
		return nil
	}
	return &exitError{exitUsage, "no [[softphone]] of that name stands in the settings"}
}

func (e *env) keepSecret(d profile.Dirs, base, id, kind string) error {
	base, ok := settings.CheckHubURL(base)
	if !ok || id == "" {
		return &exitError{exitUsage, "the secret belongs to an address and a client: give --base-url (https, or http to 127.0.0.1) and --client-id"}
	}
	value, err := secret.ReadSecret(e.in)
	if err != nil {
		return err
	}
	ref, err := secret.Hub(base, id)
	if err != nil {
		return err
	}
	return e.store(d, kind, ref, value)
}

func (e *env) store(d profile.Dirs, kind string, ref secret.Ref, value string) error {
	store, err := secret.Open(kind, d)
	if err != nil {
		return fmt.Errorf("secret store %q: %w", kind, err)
	}
	if err := d.Make(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(e.ctx, 10*time.Second)
	defer cancel()
	if err := store.Set(ctx, ref, value); err != nil {
		return fmt.Errorf("keep the secret: %w (without a system store, choose --secret-store file)", err)
	}
	return nil
}

type settingsCmd struct {
	Ways bool `name:"ways-in" help:"Show how a phone on this computer reaches Wiebelt, tokens included."`
}

// waysIn prints what goes into a phone's settings.
func (e *env) waysIn(d profile.Dirs, s *settings.Settings) error {
	t, err := secret.Token(d)
	if err != nil {
		return fmt.Errorf("the listener's tokens: %w", err)
	}
	fmt.Fprintf(e.out, "a phone that runs a program   wiebelt ring --state ringing -- NUMBER\n")
	if s.Listener.Enabled && s.Listener.HTTP {
		fmt.Fprintf(e.out, "a phone that opens addresses  http://127.0.0.1:%d/v1/call/%s?number=NUMBER\n", s.Listener.Port, t.Path)
	}
	fmt.Fprintf(e.out, "a phone that opens links      wiebelt:call?number=NUMBER\n")
	if s.Listener.Enabled {
		fmt.Fprintf(e.out, "a phone that speaks WebSocket ws://127.0.0.1:%d/v1/events, subprotocols wiebelt.v1 and token.%s\n", s.Listener.Port, t.Socket)
	}
	return nil
}

func (c *settingsCmd) Run(e *env) error {
	d, err := e.dirs()
	if err != nil {
		return err
	}
	s := e.load(d)
	if c.Ways {
		return e.waysIn(d, s)
	}
	w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
	for _, v := range s.Values() {
		fmt.Fprintf(w, "%s\t%s\t%s\n", v.Key, oneLine(v.Value), v.Source)
	}
	state := "not set"
	if ref, err := secret.Hub(s.Hub.BaseURL, s.Hub.ClientID); err == nil {
		if store, err := secret.Open(s.Hub.SecretStore, d); err == nil {
			ctx, cancel := context.WithTimeout(e.ctx, 3*time.Second)
			defer cancel()
			if _, err := store.Get(ctx, ref); err == nil {
				state = "set"
			} else if !errors.Is(err, secret.ErrNotSet) {
				state = "cannot be read: " + err.Error()
			}
		}
	}
	fmt.Fprintf(w, "secret\t%s\t%s\n", oneLine(state), s.Hub.SecretStore)
	if err := w.Flush(); err != nil {
		return err
	}
	if len(s.Problems()) > 0 {
		return &exitError{exitFailed, ""}
	}
	return nil
}

type forgetCmd struct {
	All       bool   `help:"Everything about callers." xor:"what" required:""`
	Number    string `help:"Everything about one number." xor:"what" required:"" placeholder:"N"`
	OlderThan string `name:"older-than" help:"What is older, such as 30d." xor:"what" required:"" placeholder:"30d"`
}

func (c *forgetCmd) Run(e *env) error {
	d, err := e.dirs()
	if err != nil {
		return err
	}
	s := e.load(d)
	days := s.History.Days
	if c.OlderThan != "" {
		n, err := strconv.Atoi(strings.TrimSuffix(c.OlderThan, "d"))
		if err != nil || n < 0 || !strings.HasSuffix(c.OlderThan, "d") {
			return &exitError{exitUsage, "--older-than: a number of days such as 30d"}
		}
		days = n
	}
	store, err := history.Open(filepath.Join(d.State, "history.db"), history.Keep(s.History.Keep), days, time.Now)
	if err != nil {
		return err
	}
	defer store.Close()
	switch {
	case c.All:
		err = store.DeleteAll(e.ctx)
	case c.Number != "":
		var rules *phone.Rules
		if rules, err = resident.Rules(s); err == nil {
			_, err = store.DeleteNumber(e.ctx, rules.Parse(c.Number, "").Key())
		}
	default:
		err = store.Purge(e.ctx)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(e.out, "Forgotten.")
	return nil
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

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/config/templates"
	"wiebelt/internal/health"
	"wiebelt/internal/text"
)

type settingsCmd struct {
	Show  settingsShowCmd  `cmd:"" default:"withargs"`
	Set   settingsSetCmd   `cmd:""`
	Unset settingsUnsetCmd `cmd:""`
	Check settingsCheckCmd `cmd:""`
}

type settingsShowCmd struct {
	Key       string `arg:"" optional:""`
	JSON      bool
	HelpKeys  bool   `name:"help-keys"`
	Templates string `placeholder:"DIR"`
	Sources   bool   `name:"ways-in"`
	Renew     bool   `name:"renew-tokens"`
}

type settingsSetCmd struct {
	Key   string `arg:""`
	Value string `arg:""`
}

func (c *settingsSetCmd) Run(e *env, d profile.Dirs) error { return e.setSetting(d, c.Key, &c.Value) }

type settingsUnsetCmd struct {
	Key string `arg:""`
}

func (c *settingsUnsetCmd) Run(e *env, d profile.Dirs) error { return e.setSetting(d, c.Key, nil) }

// setSetting writes one key of the user's file, or removes it.
func (e *env) setSetting(d profile.Dirs, key string, value *string) (err error) {
	before := e.load(d)
	var v any
	switch {
	case settings.Fields(strings.SplitN(key, ".", 2)[0]) != nil:
		return usageError(text.AdminList, settings.Path(d))
	case value != nil:
		v, err = settings.ParseText(key, *value)
	default:
		_, err = before.With(map[string]any{key: nil})
	}
	if _, bad := errors.AsType[settings.Problem](err); bad {
		return &failure{exitUsage, err}
	}
	if err != nil {
		return err
	}
	if by := before.LockedBy(key); by != "" {
		return exitError(exitFailed, text.AdminLocked, key, by)
	}
	if err := d.Make(); err != nil {
		return err
	}
	if err := settings.Set(d, map[string]any{key: v}); err != nil {
		return err
	}
	after, _ := settings.Load(d)
	for _, one := range after.Values() {
		if one.Key == key {
			e.printText(text.AdminKeySet, key, cmp.Or(one.Value, e.T(text.SettingNone)), text.SettingFrom(one.Source.String()))
		}
	}
	moved := key == "hub.secret_store" // the secrets stay where they are
	if (key == "hub.base_url" || key == "hub.client_id" || moved && len(after.Hub.Missing()) == 0) && e.lacksSecret(d) {
		e.printText(text.AdminSetNoSecret)
	}
	if moved {
		e.printMissingSecrets(d)
	}
	return nil
}

// lacksSecret reports whether the store is known to hold no secret for the configured hub.
// With a relay instead, none is needed.
func (e *env) lacksSecret(d profile.Dirs) bool {
	s, _ := settings.Load(d) // its problems were reported before
	if s.HasRelayLink() && len(s.Hub.Missing()) > 0 {
		return false
	}
	return e.secrets(d, s)[0].State == string(secret.NotSet)
}

type settingsCheckCmd struct {
	File string `arg:""`
}

// Run checks a policy before it is rolled out.
func (c *settingsCheckCmd) Run(e *env) error {
	if _, err := os.Stat(c.File); err != nil { // else it would be an empty one
		return err
	}
	s, problems := settings.CheckPolicy(c.File)
	for _, p := range problems {
		fmt.Fprintln(e.out, e.errorText(p))
	}
	if len(problems) > 0 {
		return exitError(exitFailed, text.AdminPolicyWrong, len(problems))
	}
	n := 0
	for _, v := range s.Values() {
		if v.Source == settings.Policy {
			n++
			fmt.Fprintf(e.out, "%s = %s\n", v.Key, oneLine(v.Value))
		}
	}
	if s.Locked("hub.base_url") {
		e.printText(text.AdminPolicyHub)
	}
	missing := s.Hub.Missing()
	if s.Hub.HubURL == "" { // no customer's file could be opened
		missing = append(missing, "hub.hub_url")
	}
	if s.Locked("hub.base_url") && len(missing) > 0 {
		return exitError(exitFailed, text.AdminPolicyLacks, strings.Join(missing, ", "))
	}
	e.printText(text.AdminPolicyGood, n)
	return nil
}

// settingsJSON is the output of "settings --json". Names and values must not change.
type settingsJSON struct {
	Settings []settingJSON `json:"settings"`
	Secrets  []secretJSON  `json:"secrets"`
	Problems []problemJSON `json:"problems"`
}

type settingJSON struct {
	Key     string `json:"key"`
	Type    string `json:"type"`
	Value   string `json:"value"`
	Default string `json:"default"`
	Source  string `json:"source"` // default, user, policy
	SetBy   string `json:"set_by"` // user, admin
	Locked  bool   `json:"locked"` // by the policy
	Problem string `json:"problem,omitempty"`
}

type secretJSON struct {
	Name  string `json:"name"`  // hub, or softphone and the link's name
	Store string `json:"store"` // os, file, machine
	State string `json:"state"` // of secret.State
}

type problemJSON struct {
	Kind    string `json:"kind"`
	Source  string `json:"source"`
	Key     string `json:"key"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

func (c *settingsShowCmd) Run(e *env) error {
	if c.Templates != "" {
		return templates.Write(c.Templates)
	}
	d, err := e.dirs()
	if err != nil {
		return err
	}
	if c.JSON {
		return c.printJSON(e, d)
	}
	s := e.load(d)
	l := e.lang()
	if c.Renew {
		if _, err := secret.RenewTokens(d); err != nil {
			return err
		}
	}
	switch {
	case c.Sources, c.Renew:
		return e.printSourceValues(d, s)
	case c.HelpKeys || c.Key != "":
		return explain(e.out, l, s, c.Key)
	}
	w := e.table()
	for _, v := range s.Values() {
		fmt.Fprintf(w, "%s\t%s\t%s\n", v.Key, oneLine(v.Value), l.T(text.SettingFrom(v.Source.String())))
	}
	for _, k := range e.secrets(d, s) {
		name := "secret"
		if k.Name != "hub" {
			name += " " + k.Name
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", oneLine(name), secret.State(k.State).In(l), k.Store)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	switch stage, days := health.Expiry(time.Now(), s.Hub.SecretExpires); stage {
	case health.ExpirySoon:
		fmt.Fprintln(e.err, "wiebelt:", l.N(text.SecretExpires, days))
	case health.ExpiryPast:
		e.printNotice(text.SecretExpired)
	}
	if len(s.Problems()) > 0 {
		return &failure{code: exitFailed}
	}
	return nil
}

func (c *settingsShowCmd) printJSON(e *env, d profile.Dirs) error {
	s, problems := settings.Load(d)
	o := settingsJSON{Settings: []settingJSON{}, Secrets: e.secrets(d, s), Problems: []problemJSON{}}
	for _, v := range s.Values() {
		k, known := settings.EntryOf(v.Key)
		if !known || c.Key != "" && k.Key != c.Key {
			continue // an unknown key: it is among the problems
		}
		o.Settings = append(o.Settings, settingJSON{v.Key, string(k.Type), v.Value, k.Default(), v.Source.String(), string(k.Audience),
			s.Locked(strings.SplitN(v.Key, "[", 2)[0]), v.Problem})
	}
	if c.Key != "" {
		if k, known := settings.EntryOf(c.Key); !known || k.Key != c.Key {
			return usageError(text.AdminNoKey)
		}
		o.Secrets = []secretJSON{}
		problems = slices.DeleteFunc(problems, func(p settings.Problem) bool { return p.Key != c.Key })
	}
	for _, p := range problems {
		o.Problems = append(o.Problems, problemJSON{string(p.Kind), p.Source.String(), p.Key, p.Line, p.Error()})
	}
	if err := e.printJSON(o); err != nil {
		return err
	}
	if len(problems) > 0 {
		return &failure{code: exitFailed}
	}
	return nil
}

// secrets returns, for every secret that is needed, how it is kept.
func (e *env) secrets(d profile.Dirs, s *settings.Settings) []secretJSON {
	ctx, cancel := context.WithTimeout(e.ctx, 3*time.Second)
	defer cancel()
	hub, links := hubtrial.SecretStates(ctx, d, s)
	all := []secretJSON{{"hub", s.Hub.SecretStore, string(hub)}}
	for _, p := range s.Softphones {
		if state, ok := links[p.Name]; ok {
			all = append(all, secretJSON{"softphone " + p.Name, s.Hub.SecretStore, string(state)})
		}
	}
	return all
}

// explain prints the documentation of one key, or of all.
func explain(w io.Writer, l text.Language, s *settings.Settings, key string) error {
	values := map[string]settings.Value{}
	for _, v := range s.Values() {
		values[v.Key] = v
	}
	line := func(name text.Key, v string) {
		fmt.Fprintf(w, "  %s: %s\n", l.T(name), cmp.Or(oneLine(v), l.T(text.SettingNone)))
	}
	found := false
	for _, k := range settings.AllEntries() {
		if key != "" && k.Key != key {
			continue
		}
		if found {
			fmt.Fprintln(w)
		}
		found = true
		fmt.Fprintf(w, "%s: %s\n  %s\n", k.Key, l.T(text.SettingTitle(k.Key)), l.T(text.SettingHelp(k.Key)))
		line(text.SettingAllowed, templates.Allowed(l, k))
		line(text.SettingDefault, k.Default())
		line(text.SettingSetBy, l.T(text.SettingWho(string(k.Audience))))
		if v, ok := values[k.Key]; ok {
			line(text.SettingValue, v.Value)
			line(text.SettingSource, l.T(text.SettingFrom(v.Source.String())))
		}
	}
	if !found {
		return usageError(text.AdminNoKey)
	}
	return nil
}

func (e *env) printSourceValues(d profile.Dirs, s *settings.Settings) error {
	t, err := secret.EnsureTokens(d)
	if err != nil {
		return tokensError(err)
	}
	number := e.T(text.CommandPlace("NUMBER"))
	w := e.table()
	line := func(key text.Key, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\n", e.T(key), fmt.Sprintf(format, args...))
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	program := `"` + fromsettings.RingProgram(exe) + `"`
	if e.profileDir != "" {
		program += ` --profile "` + e.profileDir + `"`
	}
	line(text.AdminSourceProgram, "%s --state %s -- %s", program, "ringing", number)
	if s.Listener.Enabled && s.Listener.HTTP {
		line(text.AdminSourceAddress, "http://127.0.0.1:%d/v1/call/%s?number=%s", fromsettings.ListenerPort(d, s), t.Path, number)
	}
	line(text.AdminSourceLink, "wiebelt:call?number=%s", number)
	if s.Listener.Enabled {
		line(text.AdminSourceSocket, "ws://127.0.0.1:%d/v1/events, wiebelt.v1, token.%s", fromsettings.ListenerPort(d, s), t.Socket)
	}
	return w.Flush()
}

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/config/templates"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/text"
)

type exchangeCmd struct {
	Add    exchangeAddCmd    `cmd:""`
	List   exchangeListCmd   `cmd:""`
	Remove exchangeRemoveCmd `cmd:""`
	Try    exchangeTryCmd    `cmd:""`

	Register   exchangeRegisterCmd   `cmd:""`
	Unregister exchangeUnregisterCmd `cmd:""`
}

type exchangeAddCmd struct {
	Kind      string `arg:""`
	Name      string `placeholder:"NAME"`
	Address   string `required:"" placeholder:"URL"`
	User      string `required:"" placeholder:"USER"`
	Extension string `default:"*" placeholder:"N"`
}

// Run adds a link to an exchange, or changes the one of that name, with its secret,
// read from standard input.
func (c *exchangeAddCmd) Run(e *env) error {
	if !isExchange(c.Kind) {
		return fail(exitUsage, text.RelayExchangeKind, strings.Join(slices.DeleteFunc(registry.Links(), func(k string) bool { return !isExchange(k) }), ", "))
	}
	if c.Extension == allExtensions && !registry.Of(c.Kind).AllExtensions {
		return fail(exitUsage, text.RelayExchangeOne)
	}
	if c.Name == "" {
		c.Name = c.Kind
	}
	return e.changeSettings(func(dirs profile.Dirs, now *settings.Settings) error {
		value, err := e.secret(text.RelayExchangeSecret)
		if err != nil {
			return err
		}
		changes := changesTo(now, "")
		changes["softphone"] = func(links []settings.Softphone) []settings.Softphone {
			return append(without(links, c.Name),
				settings.Softphone{Kind: c.Kind, Name: c.Name, Address: c.Address, User: c.User, Extension: c.Extension})
		}
		if err := e.saveSettings(dirs, now, hubtrial.SaveRequest{Changes: changes, LinkSecrets: map[string]string{c.Name: value}}); err != nil {
			return err
		}
		e.printText(text.RelayExchangeSet, c.Name)
		return nil
	})
}

// changeSettings runs do with the current settings.
func (e *env) changeSettings(do func(profile.Dirs, *settings.Settings) error) error {
	if _, err := e.folder(); err != nil {
		return err
	}
	dirs, now, err := e.settings()
	if err != nil {
		return err
	}
	return do(dirs, now)
}

func without(links []settings.Softphone, name string) []settings.Softphone {
	return slices.DeleteFunc(links, func(p settings.Softphone) bool { return p.Name == name })
}

// saveSettings writes settings and secrets, and returns what is wrong with them.
func (e *env) saveSettings(dirs profile.Dirs, now *settings.Settings, w hubtrial.SaveRequest) error {
	ctx, cancel := context.WithTimeout(e.ctx, requestTimeout)
	defer cancel()
	_, err := hubtrial.Save(ctx, dirs, now, w)
	if bad, ok := errors.AsType[settings.Problem](err); ok {
		return &failure{exitUsage, errors.New(templates.DescribeProblem(e.lang(), bad))}
	}
	return err
}

type exchangeRemoveCmd struct {
	Name string `arg:""`
}

// Run removes a link to an exchange and its secret.
func (c *exchangeRemoveCmd) Run(e *env) error {
	return e.changeSettings(func(dirs profile.Dirs, now *settings.Settings) error {
		i := slices.IndexFunc(now.Softphones, func(p settings.Softphone) bool { return p.Name == c.Name })
		if i < 0 {
			return fail(exitNotFound, text.RelayExchangeNone, c.Name)
		}
		remove := func(links []settings.Softphone) []settings.Softphone { return without(links, c.Name) }
		if err := e.saveSettings(dirs, now, hubtrial.SaveRequest{Changes: map[string]any{"softphone": remove}}); err != nil {
			return err
		}
		store := secret.Open(now.Hub.SecretStore, dirs)
		p := now.Softphones[i]
		if ref, err := secret.SoftphoneRef(p.Kind, p.Name, p.Address); err == nil { // otherwise it never had one
			if err := store.Delete(e.ctx, ref); err != nil && !errors.Is(err, secret.ErrNotSet) {
				return secret.Explain(err)
			}
		}
		e.printText(text.RelayExchangeRemoved, c.Name)
		return nil
	})
}

type exchangeListCmd struct {
	JSON bool `name:"json"`
}

// Run lists the configured links to exchanges; status reports their state.
func (c *exchangeListCmd) Run(e *env) error {
	type row struct {
		Name      string `json:"name"`
		Kind      string `json:"kind"`
		Address   string `json:"address"`
		User      string `json:"user"`
		Extension string `json:"extension"`
	}
	return e.changeSettings(func(_ profile.Dirs, now *settings.Settings) error {
		rows := []row{}
		for _, p := range now.Softphones {
			rows = append(rows, row{p.Name, p.Kind, p.Address, p.User, p.Extension})
		}
		if c.JSON {
			return e.print(rows)
		}
		for _, r := range rows {
			fmt.Fprintf(e.out, "%-20s %-6s %-40s %-20s %s\n", r.Name, r.Kind, r.Address, r.User, r.Extension)
		}
		return nil
	})
}

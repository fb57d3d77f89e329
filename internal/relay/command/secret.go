package command

import (
	"wiebelt/internal/commandline"
	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/text"
)

type secretCmd struct {
	Hub     secretHubCmd     `cmd:""`
	Reports secretReportsCmd `cmd:""`
}

type secretHubCmd struct {
	BaseURL          string `name:"base-url" required:"" placeholder:"URL"`
	ClientID         string `name:"client-id" required:"" placeholder:"ID"`
	OrganisationCode string `name:"organisation-code" placeholder:"CODE"`
	SecretStore      string `name:"secret-store" enum:"file,machine," default:"" placeholder:"file|machine"`
}

// Run sets the hub that the relay asks, and its client secret, read from standard input.
func (c *secretHubCmd) Run(e *env) error {
	return e.changeSettings(func(dirs profile.Dirs, now *settings.Settings) error {
		value, err := e.secret(text.RelayHubSecret)
		if err != nil {
			return err
		}
		changes := changesTo(now, c.SecretStore)
		changes["hub.base_url"], changes["hub.client_id"], changes["hub.organisation_code"] = c.BaseURL, c.ClientID, c.OrganisationCode
		if err := e.saveSettings(dirs, now, hubtrial.SaveRequest{Secret: value, Changes: changes}); err != nil {
			return err
		}
		e.printText(text.RelayHubSet)
		return nil
	})
}

// changesTo returns the change of where secrets are kept, for further ones: to store, or by
// default to the data folder. Without either, those of all links would no longer be found.
func changesTo(now *settings.Settings, store string) map[string]any {
	if store == "" && now.Source("hub.secret_store") == settings.Default {
		store = "file"
	}
	if store == "" {
		return map[string]any{}
	}
	return map[string]any{"hub.secret_store": store}
}

// secret reads a secret: one line without echo from a terminal, or else all of the input.
func (e *env) secret(asks text.Key) (string, error) {
	in, err := commandline.HiddenInput(e.ctx, e.in, e.err, e.lang().T(asks)+" ")
	if err != nil {
		return "", err
	}
	return secret.ReadSecret(in)
}

type secretReportsCmd struct {
	Renew bool
}

// Run prints the secret address to which exchanges report.
func (c *secretReportsCmd) Run(e *env) error {
	f, err := e.folder()
	if err != nil {
		return err
	}
	if c.Renew {
		if err := setup.RenewWebhookSecret(f.Dir); err != nil {
			return err
		}
		if len(f.Settings.Cluster) > 0 {
			e.printNotice(text.RelayReportsCopy, setup.WebhookSecretsFile(f.Dir))
		}
	}
	secrets, err := setup.LoadWebhookSecrets(f.Dir)
	if err != nil {
		return err
	}
	e.printText(text.RelayReports, address(f.Settings)+"/in/"+secrets.Current)
	return nil
}

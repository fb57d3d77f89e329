package cli

import (
	"encoding/json"
	"fmt"

	"wiebelt/internal/localhub"
)

// hubServeCmd is "wiebelt hub" without a word behind it.
type hubServeCmd struct {
	Listen    string `help:"Loopback address and port." default:"127.0.0.1:0"`
	Data      string `help:"Keep the database in DIR; without it everything is gone at the end." placeholder:"DIR"`
	Synthetic int    `help:"Number of invented contacts in a database that has none." placeholder:"N"`
	Client    string `help:"Make this OAuth client and show its secret once, on standard error." placeholder:"ID"`
	Code      string `name:"organisation-code" help:"Organisation code of that client." default:"0000"`
}

func (c *hubServeCmd) Run(e *env) error {
	h, err := localhub.Start(e.ctx, localhub.Config{Dir: c.Data, Listen: c.Listen, Synthetic: c.Synthetic, Demo: c.Synthetic > 0, Log: e.logger("warn")})
	if err != nil {
		return err
	}
	defer h.Close()
	if c.Client != "" {
		value, err := h.AddClient(e.ctx, c.Client, c.Code)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.err, "client %s, organisation code %s, secret %s (shown once)\n", oneLine(c.Client), oneLine(c.Code), value)
	}
	err = json.NewEncoder(e.out).Encode(struct {
		Ready    bool   `json:"ready"`
		BaseURL  string `json:"base_url"`
		HubURL   string `json:"hub_url"`
		AdminURL string `json:"admin_url"`
	}{true, h.BaseURL(), h.HubURL(), h.HubURL() + "/"})
	if err != nil {
		return err
	}
	<-e.ctx.Done()
	return h.Close()
}

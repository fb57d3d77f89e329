package resident

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/instance"
)

// offerSetup shows a set-up file that somebody opened in the settings window.
func (r *Resident) offerSetup(raw json.RawMessage) {
	var m deskapi.OpenFile
	if json.Unmarshal(raw, &m) != nil || !filepath.IsAbs(m.Path) || len(m.Path) > 4096 {
		return
	}
	r.prefs.Offer(m.Path)
	r.desks.Show(deskapi.WindowSettings)
	r.desks.Send(deskapi.KindSettingsOffer, nil)
}

// OpenFile has the running resident show a set-up file. instance.ErrNotRunning
// comes back where none runs.
func OpenFile(ctx context.Context, cfg instance.Config, path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	c, _, err := instance.Connect(ctx, cfg, instance.RoleCommand)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Send(deskapi.KindOpenFile, deskapi.OpenFile{Path: path}); err != nil {
		return err
	}
	_, _, err = c.Receive()
	return err
}

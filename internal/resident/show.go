package resident

import (
	"cmp"
	"context"
	"encoding/json"
	"os"

	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
)

// show shows the window that a command asks for.
func (r *Resident) show(raw json.RawMessage) {
	var m windowapi.Show
	if len(raw) > 0 && json.Unmarshal(raw, &m) != nil || len(m.Place) > 4096 {
		return
	}
	r.desks.ShowAt(windowapi.Show{Window: cmp.Or(m.Window, windowapi.WindowCalls), Place: m.Place})
}

// ShowCalls asks the running resident for its calls window.
func ShowCalls(ctx context.Context, cfg instance.Config) error {
	return show(ctx, cfg, windowapi.Show{Window: windowapi.WindowCalls})
}

// OpenFile has the running resident show a set-up file, named by its absolute path,
// in the settings window. instance.ErrNotRunning comes back where none runs.
func OpenFile(ctx context.Context, cfg instance.Config, path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	return show(ctx, cfg, windowapi.Show{Window: windowapi.WindowSettings, Place: path})
}

func show(ctx context.Context, cfg instance.Config, m windowapi.Show) error {
	c, _, err := instance.Connect(ctx, cfg, instance.RoleCommand)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Send(windowapi.KindShow, m); err != nil {
		return err
	}
	_, _, err = c.Receive()
	return err
}

package widgets

import (
	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance"
	"wiebelt/internal/store/callactions"
)

// CallActions returns the actions on the stored calls of the windows' profile. They all
// wait for the disk: run them in Go.
func (h *Host) CallActions() *callactions.Calls {
	load := h.Settings
	if of := h.Welcome.HubURL; of != "" { // the demo's, whose settings are in no file
		load = func() *settings.Settings {
			s := settings.Defaults()
			s.Hub.HubURL = of
			return s
		}
	}
	return callactions.New(callactions.Params{Dirs: h.Dirs, Settings: load, Send: h.Send, Log: h.Log,
		Instance: instance.Config{RunDir: h.Dirs.Run, Version: h.Program.Version, Build: h.Program.Commit, Log: h.Log}})
}

package widgets

import (
	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance"
	"wiebelt/internal/store/callactions"
)

// Kept are the calls that are kept for the profile of the windows. What is done with
// them waits: it belongs into Go.
func (d *Desk) Kept() *callactions.Calls {
	load := func() *settings.Settings {
		s, _ := settings.Load(d.Dirs) // what is wrong in it the settings window says
		return s
	}
	if of := d.Welcome.HubURL; of != "" { // the demo's, whose settings stand in no file
		load = func() *settings.Settings {
			s := settings.Defaults()
			s.Hub.HubURL = of
			return s
		}
	}
	return callactions.New(callactions.Params{Dirs: d.Dirs, Settings: load, Tell: d.Send, Log: d.Log,
		Instance: instance.Config{RunDir: d.Dirs.Run, Version: d.Program.Version, Build: d.Program.Commit, Log: d.Log}})
}

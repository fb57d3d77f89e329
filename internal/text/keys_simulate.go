package text

// The texts of the simulated phone.
const (
	SimulateWaits    Key = "simulate.waits"
	SimulateSettings Key = "simulate.settings"
	SimulateSecret   Key = "simulate.secret"
	SimulatePlays    Key = "simulate.plays"
	SimulateLeft     Key = "simulate.left"
	SimulateDone     Key = "simulate.done"
	SimulateScenario Key = "simulate.scenario"
)

// SimulateLeftOut names what a protocol cannot tell.
func SimulateLeftOut(what string) Key { return Key("simulate.left." + what) }

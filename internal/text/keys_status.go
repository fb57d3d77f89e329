package text

// The texts of the program's state and of its menu.
const (
	StatusReady            Key = "status.ready"
	StatusReadyLast        Key = "status.ready.last"
	StatusReadyNone        Key = "status.ready.none"
	StatusSetup            Key = "status.setup"
	StatusLink             Key = "status.link"
	StatusRefused          Key = "status.refused"
	StatusHub              Key = "status.hub"
	StatusPort             Key = "status.port"
	StatusScreen           Key = "status.screen"
	StatusMenuLast         Key = "status.menu.last"
	StatusMenuLastWithheld Key = "status.menu.last.withheld"
	StatusMenuNone         Key = "status.menu.none"
	StatusMenuCalls        Key = "status.menu.calls"
	StatusMenuDemo         Key = "status.menu.demo"
	StatusMenuQuit         Key = "status.menu.quit"
	StatusDeskMissing      Key = "status.desk.missing"
	StatusDeskFailed       Key = "status.desk.failed"
)

// Way is the name of a kind of way in (call.Way.Kind).
func Way(kind string) Key { return Key("status.way." + kind) }

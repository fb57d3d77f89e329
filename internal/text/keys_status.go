package text

// The texts of the program's state and of its menu.
const (
	StatusReady            Key = "status.ready"
	StatusReadyLast        Key = "status.ready.last"
	StatusReadyUp          Key = "status.ready.up"
	StatusReadyNone        Key = "status.ready.none"
	StatusQuiet            Key = "status.quiet"
	StatusPaused           Key = "status.paused"
	StatusSecret           Key = "status.secret"
	StatusScope            Key = "status.scope"
	StatusKicked           Key = "status.kicked"
	StatusLinkRefused      Key = "status.link.refused"
	StatusIncomplete       Key = "status.incomplete"
	StatusOnlyNumber       Key = "status.onlynumber"
	StatusTell             Key = "status.tell"
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

// Lost says that a registration is no longer ours (health.Registration).
func Lost(registration string) Key { return Key("status.lost." + registration) }

// StatusWeekday is the name of a day, Sunday being 0.
func StatusWeekday(day int) Key { return Key("status.weekday." + string(rune('0'+day))) }

package text

// Texts of the program's state and of its menu.
const (
	StatusReadyLast        Key = "status.ready.last"
	StatusReadyUp          Key = "status.ready.up"
	StatusReadyNone        Key = "status.ready.none"
	StatusQuiet            Key = "status.quiet"
	StatusPaused           Key = "status.paused"
	StatusSecret           Key = "status.secret"
	StatusScope            Key = "status.scope"
	StatusKicked           Key = "status.kicked"
	StatusLinkRefused      Key = "status.link_refused"
	StatusIncomplete       Key = "status.incomplete"
	StatusRelayDown        Key = "status.relay.down"
	StatusRelayRefused     Key = "status.relay.refused"
	StatusRelayIncomplete  Key = "status.relay.incomplete"
	StatusRelayStorage     Key = "status.relay.storage"
	StatusRelayExchange    Key = "status.relay.exchange"
	StatusRelayHub         Key = "status.relay.hub"
	StatusOnlyNumber       Key = "status.only_number"
	StatusTell             Key = "status.tell"
	StatusSetup            Key = "status.setup"
	StatusLink             Key = "status.link"
	StatusLinkAdmin        Key = "status.link_admin"
	StatusRefused          Key = "status.refused"
	StatusHub              Key = "status.hub"
	StatusPort             Key = "status.port"
	StatusTokens           Key = "status.tokens"
	StatusScreen           Key = "status.screen"
	StatusMenuLastWithheld Key = "status.menu.last.withheld"
	StatusMenuLastNone     Key = "status.menu.last.none"
	StatusMenuNone         Key = "status.menu.none"
	StatusMenuCalls        Key = "status.menu.calls"
	StatusMenuDemo         Key = "status.menu.demo"
	StatusMenuQuit         Key = "status.menu.quit"
	StatusMenuSearch       Key = "status.menu.search"
	StatusMenuHub          Key = "status.menu.hub"
	StatusMenuPauseHour    Key = "status.menu.pause.hour"
	StatusMenuPauseDay     Key = "status.menu.pause.day"
	StatusMenuResume       Key = "status.menu.resume"
	StatusMenuTest         Key = "status.menu.test"
	StatusMenuMessages     Key = "status.menu.messages"
	StatusMenuSettings     Key = "status.menu.settings"
	StatusMenuHelp         Key = "status.menu.help"
	StatusMenuVisible      Key = "status.menu.visible"
	StatusNoHost           Key = "status.no_host"
	StatusWindowsFailed    Key = "status.windows.failed"
)

// Source is the name of a kind of source (call.Source.Kind).
func Source(kind string) Key { return Key("status.source." + kind) }

// LinkKind names a kind of link for those who choose one.
func LinkKind(kind string) Key { return Key("status.link." + kind) }

// Lost says that a registration is no longer ours (health.Registration).
func Lost(registration string) Key { return Key("status.lost." + registration) }

// StatusWeekday is the name of a weekday; 0 is Sunday.
func StatusWeekday(day int) Key { return Key("status.weekday." + string(rune('0'+day))) }

// Hiding says why cards show less, or nothing (health.Hiding).
func Hiding(why string) Key { return Key("status.hiding." + why) }

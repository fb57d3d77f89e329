package text

import (
	"cmp"
	"strings"
)

// Keys that code puts together, most of them from codes of other packages. The generator of
// keys.go reads this file for how they begin: Key("…" + …).

// CallsFault says that calls are not kept, and why (history.Fault).
// It takes whom to tell as an argument, if anybody has to be told.
func CallsFault(fault string) Key { return Key("calls.fault." + fault) }

// CallsNotice says what happened to the history (history.Notice).
func CallsNotice(notice string) Key { return Key("calls.notice." + notice) }

// CommandHelp is the help for a part of the command line: "deliver.list" is a
// command, "deliver.list --all" and "deliver.receipt <id>" are a flag and an argument
// of it, and "deliver.list about" is its long help. A flag with the same meaning
// everywhere has no command.
func CommandHelp(part string) Key { return Key("command.help." + part) }

// CommandPlace names a placeholder; one without a text is shown unchanged.
func CommandPlace(name string) Key { return Key("command.place." + name) }

// CommandGroup is the heading of a group of commands: "", day, admin or try.
func CommandGroup(group string) Key { return Key("command.group." + group) }

// DeliveryState is the word for an item's state in the outbox.
func DeliveryState(state string) Key { return Key("delivery.state." + state) }

// DeliveryEarlier says since when the same file has been in the outbox, in that state.
func DeliveryEarlier(state string) Key { return Key("delivery.before." + state) }

// DeliveryReason explains the state of an item or of the queue.
func DeliveryReason(code string) Key { return Key("delivery.reason." + code) }

// DeliveryTroubleOf says what is wrong with the disk.
func DeliveryTroubleOf(kind string) Key { return Key("delivery.trouble." + kind) }

// DeliveryTroubleDo says what to do about trouble, and what it means for the files.
func DeliveryTroubleDo(kind string) Key { return Key("delivery.trouble." + kind + ".do") }

// DeliveryTrouble says what is wrong with the disk, and what to do about it.
func (l Language) DeliveryTrouble(kind string) string {
	return l.T(DeliveryTrouble, l.T(DeliveryTroubleOf(kind)), l.T(DeliveryTroubleDo(kind)))
}

// DeliveryWindowState is the word for the state of a file that is not in the outbox:
// "adding" or "question".
func DeliveryWindowState(state string) Key { return Key("delivery_window.state." + state) }

// DeliveryWindowCode explains why something other than a file was refused.
func DeliveryWindowCode(code string) Key { return Key("delivery_window.code." + code) }

// DemoTitle is the label of a demo call's button.
func DemoTitle(id string) Key { return Key("demo.call." + id) }

// DemoHint says what to look at in a demo call.
func DemoHint(id string) Key { return Key("demo.call." + id + ".hint") }

// DoctorAbout says what a check examines.
func DoctorAbout(id string) Key { return Key("doctor.about." + id) }

// Doctor describes what a check found.
func Doctor(found string) Key { return Key("doctor.found." + found) }

// DoctorDo says what to do about what a check found.
func DoctorDo(found string) Key { return Key("doctor.found." + found + ".do") }

// DoctorGroup is the heading of a group of checks.
func DoctorGroup(id string) Key { return Key("doctor.group." + id) }

// DoctorName is the short name of a check.
func DoctorName(id string) Key { return Key("doctor.name." + id) }

// DoctorState is the word for a state; "wait" is one not yet known.
func DoctorState(state string) Key { return Key("doctor.state." + state) }

// Failure describes the cause of a failure of package contact, as the end of a sentence.
func Failure(code string) Key { return Key("failure." + code) }

// FailureDo says what helps against a failure of package contact, and who can do it, in
// whole sentences for the settings, the command line and the doctor.
func FailureDo(code string) Key { return Key("failure." + code + ".do") }

// LinkWhy says why a link to a softphone is down, for a link.Cause.
func LinkWhy(cause string) Key { return Key("link.why." + cause) }

// LinkDo says what to do about it.
func LinkDo(cause string) Key { return Key("link.do." + cause) }

// LinkTrouble says both; "" for a cause without texts.
func LinkTrouble(l Language, cause string) string {
	why := l.T(LinkWhy(cause))
	if cause == "" || why == string(LinkWhy(cause)) {
		return ""
	}
	return why + " " + l.T(LinkDo(cause))
}

// MessageFinding explains a finding with this code: a whole sentence that contains
// nothing of the message.
func MessageFinding(code string) Key { return Key("message.finding." + code) }

// RelayFault says what prevents a relay from working: "start", "quorum",
// "disk" or "storage".
func RelayFault(what string) Key { return Key("relay.lacks." + what) }

// RelayExchangeState describes the state of the relay's link to an exchange, since when,
// and when it last reported a call.
func RelayExchangeState(state string) Key { return Key("relay.exchange.state." + state) }

// Cards says how calls are shown if not with cards (health.Cards).
func Cards(how string) Key { return Key("screen.cards." + how) }

// HotkeyDoes says what the hotkey of a setting does.
func HotkeyDoes(setting string) Key { return Key("screen.does." + setting) }

// Hotkey says why the hotkeys for cards do not work (health.Hotkey).
func Hotkey(why string) Key { return Key("screen.hotkey." + why) }

// SettingHelp explains a setting in whole sentences: a key of the table ("hub.base_url",
// "audit") or a field of a list ("line.number").
func SettingHelp(key string) Key { return Key("setting.help." + key) }

// SettingTitle is the short name of a setting.
func SettingTitle(key string) Key { return Key("setting.title." + key) }

// SettingGroup is the title of a group of settings; "" is for keys without a group.
func SettingGroup(group string) Key {
	return Key("setting.group." + cmp.Or(group, "general"))
}

// SettingAllowedIn describes the allowed values of a setting; "text" is for those
// that may be any text.
func SettingAllowedIn(key string) Key { return Key("setting.allowed." + key) }

// SettingWho says who sets a setting: "user" or "admin".
func SettingWho(who string) Key { return Key("setting.who." + who) }

// SecretState says how a secret is kept, by the codes of package secret.
func SecretState(code string) Key { return Key("secret.state." + code) }

// SetupStep is a step of the set-up test: name, tls, token, scopes, lookup.
func SetupStep(step string) Key { return Key("setup.step." + step) }

// SetupState is the result of a step: ok, failed, off.
func SetupState(state string) Key { return Key("setup.state." + state) }

// Problem describes a mistake in a settings file, by the codes of package settings.
func Problem(kind string) Key { return Key("setting.problem." + kind) }

// SettingFrom says where a setting's value comes from: "default", "user", "policy".
func SettingFrom(source string) Key { return Key("setting.source." + source) }

// SettingsWindowSection is the title of a section of the settings window.
func SettingsWindowSection(id string) Key { return Key("settings_window.section." + id) }

// SettingsWindowStepOK describes the success of a step of the test.
func SettingsWindowStepOK(step string) Key { return Key("settings_window.step.ok." + step) }

// SettingsWindowPhase describes the state of a link, by the phases of package windowapi.
func SettingsWindowPhase(phase string) Key { return Key("settings_window.phase." + phase) }

// SettingsWindowChoice is the label of a setting's value.
func SettingsWindowChoice(key, value string) Key {
	return Key("settings_window.choice." + key + "." + value)
}

// SettingsWindowHelp explains a setting where the window's text differs
// from the command line's.
func SettingsWindowHelp(key string) Key { return Key("settings_window.help." + key) }

// SettingsWindowWant says what a setting may contain.
func SettingsWindowWant(key string) Key { return Key("settings_window.want." + key) }

// SimulateLeftOut names what a protocol cannot report.
func SimulateLeftOut(what string) Key { return Key("simulate.left." + what) }

// SimulateStep says what happens in a step, by its verb.
func SimulateStep(verb string) Key { return Key("simulate.step." + verb) }

// StartPhone is the name of a detectable kind of softphone.
func StartPhone(kind string) Key { return Key("start.phone." + kind) }

// StartFound says how a detected softphone can be connected; "" means at once.
func StartFound(obstacle string) Key {
	return Key("start.found." + cmp.Or(obstacle, "ready"))
}

// StartLink describes the state of a link to a softphone.
func StartLink(phase string) Key { return Key("start.link." + phase) }

// StartCheck says what to check about a link if no call came.
func StartCheck(phase string) Key { return Key("start.check." + phase) }

// StartSource is the name of a source by which phones report to us.
func StartSource(kind string) Key { return Key("start.source." + kind) }

// StartRepair offers to restore a registration (health.Registration).
func StartRepair(registration string) Key { return Key("start.repair." + registration) }

// TestReports says what a source can report.
func TestReports(reports string) Key { return Key("test.reports." + reports) }

// SourcesPhase describes the state of a source of calls.
func SourcesPhase(phase string) Key { return Key("sources.phase." + phase) }

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

// Trust says what is wrong with a file or folder that others could have changed (by the
// codes of package filetrust), and names the command that fixes it, if there is one.
func Trust(why string) Key { return Key("trust.why." + why) }

// FyneWords lists Fyne's own strings that our windows can show.
var FyneWords = []string{"Copy", "Cut", "Paste", "Redo", "Select all", "Undo"}

// WindowFyne is the key for one of FyneWords.
func WindowFyne(theirs string) Key {
	return Key("window.fyne." + strings.ReplaceAll(strings.ToLower(theirs), " ", "_"))
}

package text

import "strings"

// Texts of the windows' process.
const (
	WindowCallsTitle        Key = "window.calls.title"
	WindowCallsFilter       Key = "window.calls.filter"
	WindowCallsToday        Key = "window.calls.today"
	WindowCallsEarlier      Key = "window.calls.earlier"
	WindowCallsCopied       Key = "window.calls.copied"
	WindowCallsLine         Key = "window.calls.line"
	WindowCallsEmpty        Key = "window.calls.empty"
	WindowCallsEmptyHint    Key = "window.calls.empty.hint"
	WindowCallsEmptyDemo    Key = "window.calls.empty.demo"
	WindowCallsEmptyCommand Key = "window.calls.empty.command"
	WindowCallsNone         Key = "window.calls.none"
	WindowCallsNoneHint     Key = "window.calls.none.hint"
	WindowCallsNoneClear    Key = "window.calls.none.clear"
	WindowCallsOff          Key = "window.calls.off"
	WindowCallsOffHint      Key = "window.calls.off.hint"
	WindowCallsBroken       Key = "window.calls.broken"
	WindowCallsBrokenHint   Key = "window.calls.broken.hint"
	WindowWhoWithheld       Key = "window.who.withheld"
	WindowWhoSeveral        Key = "window.who.several"
	WindowWhoNobody         Key = "window.who.nobody"
	WindowWhoFailed         Key = "window.who.failed"
	WindowWhoInternal       Key = "window.who.internal"
	WindowWhoShort          Key = "window.who.short"
	WindowWhoOwn            Key = "window.who.own"
	WindowResultRinging     Key = "window.result.ringing"
	WindowResultTalking     Key = "window.result.talking"
	WindowResultOutgoing    Key = "window.result.outgoing"
	WindowResultAnswered    Key = "window.result.answered"
	WindowResultMissed      Key = "window.result.missed"
	WindowResultElsewhere   Key = "window.result.elsewhere"
	WindowResultRejected    Key = "window.result.rejected"
	WindowResultNotHere     Key = "window.result.not_here"
	WindowResultUnknown     Key = "window.result.unknown"
	WindowDemoTitle         Key = "window.demo.title"
	WindowDemoIntro         Key = "window.demo.intro"
	WindowDemoCalls         Key = "window.demo.calls"
	WindowDemoOpen          Key = "window.demo.open"
	WindowDemoFirst         Key = "window.demo.first"
	WindowDemoPlaying       Key = "window.demo.playing"
	WindowDemoEmpty         Key = "window.demo.empty"
	WindowDemoEmptyHint     Key = "window.demo.empty.hint"
	WindowDays              Key = "window.days"
	WindowMonths            Key = "window.months"
	WindowNeedsResident     Key = "window.needs_resident"
	WindowNone              Key = "window.none"    // could be opened
	WindowUnknown           Key = "window.unknown" // the existing names
)

// FyneWords lists Fyne's own strings that our windows can show.
var FyneWords = []string{"Advanced", "Cancel", "Confirm", "Copy", "Create Folder", "Cut", "Enter filename", "Error", "Favourites", "File", "Folder",
	"New Folder", "No", "OK", "Open", "Paste", "Quit", "Redo", "Save", "Select all", "Show Hidden Files", "Undo", "Yes", "file.name", "file.parent"}

// WindowFyne is the key for one of FyneWords.
func WindowFyne(theirs string) Key {
	return Key("window.fyne." + strings.ReplaceAll(strings.ToLower(theirs), " ", "_"))
}

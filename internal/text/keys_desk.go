package text

import "strings"

// The texts of the windows' process.
const (
	DeskCallsTitle        Key = "desk.calls.title"
	DeskCallsFilter       Key = "desk.calls.filter"
	DeskCallsToday        Key = "desk.calls.today"
	DeskCallsEarlier      Key = "desk.calls.earlier"
	DeskCallsCopied       Key = "desk.calls.copied"
	DeskCallsLine         Key = "desk.calls.line"
	DeskCallsEmpty        Key = "desk.calls.empty"
	DeskCallsEmptyHint    Key = "desk.calls.empty.hint"
	DeskCallsEmptyDemo    Key = "desk.calls.empty.demo"
	DeskCallsEmptyCommand Key = "desk.calls.empty.command"
	DeskCallsNone         Key = "desk.calls.none"
	DeskCallsNoneHint     Key = "desk.calls.none.hint"
	DeskCallsNoneClear    Key = "desk.calls.none.clear"
	DeskCallsOff          Key = "desk.calls.off"
	DeskCallsOffHint      Key = "desk.calls.off.hint"
	DeskCallsBroken       Key = "desk.calls.broken"
	DeskCallsBrokenHint   Key = "desk.calls.broken.hint"
	DeskWhoWithheld       Key = "desk.who.withheld"
	DeskWhoSeveral        Key = "desk.who.several"
	DeskWhoNobody         Key = "desk.who.nobody"
	DeskWhoFailed         Key = "desk.who.failed"
	DeskWhoInternal       Key = "desk.who.internal"
	DeskWhoShort          Key = "desk.who.short"
	DeskWhoOwn            Key = "desk.who.own"
	DeskResultRinging     Key = "desk.result.ringing"
	DeskResultTalking     Key = "desk.result.talking"
	DeskResultOutgoing    Key = "desk.result.outgoing"
	DeskResultAnswered    Key = "desk.result.answered"
	DeskResultMissed      Key = "desk.result.missed"
	DeskResultElsewhere   Key = "desk.result.elsewhere"
	DeskResultRejected    Key = "desk.result.rejected"
	DeskResultNotHere     Key = "desk.result.not_here"
	DeskResultUnknown     Key = "desk.result.unknown"
	DeskDemoTitle         Key = "desk.demo.title"
	DeskDemoIntro         Key = "desk.demo.intro"
	DeskDemoCalls         Key = "desk.demo.calls"
	DeskDemoOpen          Key = "desk.demo.open"
	DeskDemoFirst         Key = "desk.demo.first"
	DeskDemoPlaying       Key = "desk.demo.playing"
	DeskDemoEmpty         Key = "desk.demo.empty"
	DeskDemoEmptyHint     Key = "desk.demo.empty.hint"
	DeskDays              Key = "desk.days"
	DeskMonths            Key = "desk.months"
	DeskFyneCancel        Key = "desk.fyne.cancel"
)

// FyneWords are Fyne's own strings that our windows can show.
var FyneWords = []string{"Advanced", "Cancel", "Confirm", "Copy", "Create Folder", "Cut", "Enter filename", "Error", "Favourites", "File", "Folder",
	"New Folder", "No", "OK", "Open", "Paste", "Quit", "Redo", "Save", "Select all", "Show Hidden Files", "Undo", "Yes", "file.name", "file.parent"}

// DeskFyne is one of FyneWords.
func DeskFyne(theirs string) Key {
	return Key("desk.fyne." + strings.ReplaceAll(strings.ToLower(theirs), " ", "_"))
}

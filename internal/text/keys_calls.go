package text

// The texts of the calls window, beside those in desk.calls.
const (
	CallsViewMine          Key = "calls.view.mine"
	CallsViewMissed        Key = "calls.view.missed"
	CallsViewMissedCount   Key = "calls.view.missed.count"
	CallsViewElsewhere     Key = "calls.view.elsewhere"
	CallsViewUnsure        Key = "calls.view.unsure"
	CallsViewAll           Key = "calls.view.all"
	CallsTray              Key = "calls.tray"
	CallsSearching         Key = "calls.searching"
	CallsMenu              Key = "calls.menu"
	CallsOpen              Key = "calls.open"
	CallsHandledHeading    Key = "calls.handled.heading"
	CallsTimes             Key = "calls.times"
	CallsPhoneName         Key = "calls.phone.name"
	CallsNotThis           Key = "calls.not.this"
	CallsNotThisContact    Key = "calls.not.this.contact"
	CallsHandled           Key = "calls.handled"
	CallsLooking           Key = "calls.looking"
	CallsMenuCall          Key = "calls.menu.call"
	CallsMenuCopy          Key = "calls.menu.copy"
	CallsMenuCopyRelation  Key = "calls.menu.copy.relation"
	CallsMenuAgain         Key = "calls.menu.again"
	CallsMenuNotthis       Key = "calls.menu.notthis"
	CallsMenuTick          Key = "calls.menu.tick"
	CallsMenuReopen        Key = "calls.menu.reopen"
	CallsMenuPeople        Key = "calls.menu.people"
	CallsMenuRemove        Key = "calls.menu.remove"
	CallsRemoved           Key = "calls.removed"
	CallsUndo              Key = "calls.undo"
	CallsNoneMissed        Key = "calls.none.missed"
	CallsNoneMissedHint    Key = "calls.none.missed.hint"
	CallsNoneElsewhere     Key = "calls.none.elsewhere"
	CallsNoneElsewhereHint Key = "calls.none.elsewhere.hint"
	CallsNoneUnsure        Key = "calls.none.unsure"
	CallsNoneUnsureHint    Key = "calls.none.unsure.hint"
	CallsNoneMine          Key = "calls.none.mine"
	CallsNoneMineHint      Key = "calls.none.mine.hint"
	CallsNoneShow          Key = "calls.none.show"
	CallsWipe              Key = "calls.wipe"
	CallsWipeAsk           Key = "calls.wipe.ask"
	CallsWipeYes           Key = "calls.wipe.yes"
	CallsWipeFailed        Key = "calls.wipe.failed"
	CallsNoticeOk          Key = "calls.notice.ok"
	CallsTroubleCall       Key = "calls.trouble.call"
	CallsTroubleOpen       Key = "calls.trouble.open"
	CallsTroubleLink       Key = "calls.trouble.link"
	CallsTroubleCopy       Key = "calls.trouble.copy"
	CallsTroubleWrite      Key = "calls.trouble.write"
	CallsTroubleGone       Key = "calls.trouble.gone"
	CallsAgainNobody       Key = "calls.again.nobody"
	CallsAgainFailed       Key = "calls.again.failed"
	CallsAgainPossible     Key = "calls.again.possible"
	CallsAgainOff          Key = "calls.again.off"
)

// CallsFault says that calls are not kept, and why (history.Fault). It has a
// place for who to tell where somebody has to be told.
func CallsFault(fault string) Key { return Key("calls.fault." + fault) }

// CallsNotice says what has happened to the history (history.Notice).
func CallsNotice(notice string) Key { return Key("calls.notice." + notice) }

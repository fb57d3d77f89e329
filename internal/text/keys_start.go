package text

import "cmp"

// Texts of the first start, of the test call and of the sources of calls.
const (
	StartTitle         Key = "start.title"
	StartHello         Key = "start.hello"
	StartIntro         Key = "start.intro"
	StartCorner        Key = "start.corner"
	StartCornerHint    Key = "start.corner.hint"
	StartCardName      Key = "start.card.name"
	StartLanguage      Key = "start.language"
	StartDutch         Key = "start.dutch"
	StartEnglish       Key = "start.english"
	StartByPolicy      Key = "start.by_policy"
	StartCall          Key = "start.call"
	StartCallHint      Key = "start.call.hint"
	StartCallNone      Key = "start.call.none"
	StartConnect       Key = "start.connect"
	StartConnecting    Key = "start.connecting"
	StartHow           Key = "start.how"
	StartDone          Key = "start.done"
	StartAdmins        Key = "start.admins"
	StartAdminsSet     Key = "start.admins.set"
	StartAdminsNot     Key = "start.admins.not"
	StartAdminsHelp    Key = "start.admins.help"
	StartAdminsOpen    Key = "start.admins.open"
	StartJoin          Key = "start.join"
	StartJoinIntro     Key = "start.join.intro"
	StartJoinCode      Key = "start.join.code"
	StartJoinDo        Key = "start.join.do"
	StartJoinBusy      Key = "start.join.busy"
	StartFailed        Key = "start.failed"
	StartUnset         Key = "start.unset"
	StartGone          Key = "start.gone"
	StartOurs          Key = "start.ours"
	StartLocked        Key = "start.locked"
	StartRepairRuns    Key = "start.repair_runs"
	StartRepairFailed  Key = "start.repair_failed"
	StartCheckBria     Key = "start.check_bria"
	StartCheckOurs     Key = "start.check_ours"
	StartCheckPortName Key = "start.check_port.name"
	StartCheckPort     Key = "start.check_port"
	StartCheckBefore   Key = "start.check_before"
	StartCheckNoneName Key = "start.check_none.name"
	StartCheckNone     Key = "start.check_none"
	TestTitle          Key = "test.title"
	TestIntro          Key = "test.intro"
	TestBegin          Key = "test.begin"
	TestAgain          Key = "test.again"
	TestStop           Key = "test.stop"
	TestWaiting        Key = "test.waiting"
	TestSeen           Key = "test.seen"
	TestRang           Key = "test.rang"
	TestAnswered       Key = "test.answered"
	TestEnded          Key = "test.ended"
	TestNothing        Key = "test.nothing"
	TestNothingHint    Key = "test.nothing.hint"
	SourcesTitle       Key = "sources.title"
	SourcesIntro       Key = "sources.intro"
	SourcesHere        Key = "sources.here"
	SourcesLast        Key = "sources.last"
	SourcesNever       Key = "sources.never"
	SourcesSince       Key = "sources.since"
	SourcesStart       Key = "sources.start"
)

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

// Why a call or command did not reach the running Wiebelt.
const (
	InstanceRunning   Key = "instance.running"
	InstanceInboxFull Key = "instance.inbox_full"
	InstanceRefused   Key = "instance.refused" // its message, in English
	InstanceLong      Key = "instance.long"
)

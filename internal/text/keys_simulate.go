package text

// Texts of the simulated phone.
const (
	SimulateWaits    Key = "simulate.waits"
	SimulateSettings Key = "simulate.settings"
	SimulateSecret   Key = "simulate.secret"
	SimulatePlays    Key = "simulate.plays"
	SimulateLeft     Key = "simulate.left"
	SimulateDone     Key = "simulate.done"
	SimulateScenario Key = "simulate.scenario"
)

// SimulateLeftOut names what a protocol cannot report.
func SimulateLeftOut(what string) Key { return Key("simulate.left." + what) }

// SimulateStep says what happens in a step, by its verb.
func SimulateStep(verb string) Key { return Key("simulate.step." + verb) }

// Errors in a scenario, or in where a phone is to listen.
const (
	SimulateBadLine        Key = "simulate.bad.line"
	SimulateBadLong        Key = "simulate.bad.long"
	SimulateBadUTF8        Key = "simulate.bad.utf8"
	SimulateBadEmpty       Key = "simulate.bad.empty"
	SimulateBadSteps       Key = "simulate.bad.steps"
	SimulateBadNoVerb      Key = "simulate.bad.no_verb"
	SimulateBadBadVerb     Key = "simulate.bad.bad_verb"
	SimulateBadTitleForm   Key = "simulate.bad.title_form"
	SimulateBadTitleTwice  Key = "simulate.bad.title_twice"
	SimulateBadTitle       Key = "simulate.bad.title"
	SimulateBadRepeatFirst Key = "simulate.bad.repeat_first"
	SimulateBadRepeatMany  Key = "simulate.bad.repeat_many"
	SimulateBadTime        Key = "simulate.bad.time"
	SimulateBadTimeOdd     Key = "simulate.bad.time_odd"
	SimulateBadBefore      Key = "simulate.bad.before"
	SimulateBadDay         Key = "simulate.bad.day"
	SimulateBadPause       Key = "simulate.bad.pause"
	SimulateBadNoCall      Key = "simulate.bad.no_call"
	SimulateBadOn          Key = "simulate.bad.on"
	SimulateBadCalls       Key = "simulate.bad.calls"
	SimulateBadNotOn       Key = "simulate.bad.not_on"
	SimulateBadAnswered    Key = "simulate.bad.answered"
	SimulateBadAlone       Key = "simulate.bad.alone"
	SimulateBadTwice       Key = "simulate.bad.twice"
	SimulateBadNumber      Key = "simulate.bad.number"
	SimulateBadText        Key = "simulate.bad.text"
	SimulateBadOwnLine     Key = "simulate.bad.own_line"
	SimulateBadOnly        Key = "simulate.bad.only"
	SimulateBadOneOf       Key = "simulate.bad.one_of"
	SimulateBadNameless    Key = "simulate.bad.nameless"
	SimulateBadOutgoing    Key = "simulate.bad.outgoing"
	SimulateBadReason      Key = "simulate.bad.reason"
	SimulateBadCompleted   Key = "simulate.bad.completed"
	SimulateBadQuote       Key = "simulate.bad.quote"
	SimulateBadLinux       Key = "simulate.bad.linux"
	SimulateBadSocket      Key = "simulate.bad.socket"
	SimulateBadAddress     Key = "simulate.bad.address"
)

package text

// DoctorChecks are the ids of the doctor's checks, in the order in which they
// are shown. Monitoring relies on them: one is never given another meaning.
// Command, help and guides all follow this table.
var DoctorChecks = []string{
	"settings", "policy", "setup", "secret", "expiry",
	"hub.name", "hub.connection", "hub.certificate", "hub.clock", "hub.token", "hub.lookup",
	"resident", "version", "listener", "link", "scheme", "autostart", "microsip",
	"tray", "cards", "lock", "graphics", "disk", "folders", "program", "log", "crash", "history", "delivery",
}

// DoctorAbout says what a check looks at.
func DoctorAbout(id string) Key { return Key("doctor.about." + id) }

// Doctor is what a check found, DoctorDo what to do about it.
func Doctor(found string) Key { return Key("doctor." + found) }

// DoctorDo is what to do about what a check found.
func DoctorDo(found string) Key { return Key("doctor." + found + ".do") }

// The texts around the checks.
const (
	DoctorAllWell       Key = "doctor.all.well"
	DoctorDue           Key = "doctor.all.due"
	DoctorTrouble       Key = "doctor.all.trouble"
	DoctorLate          Key = "doctor.late"
	DoctorLateDo        Key = "doctor.late.do"
	DoctorBundleHolds   Key = "doctor.bundle.holds"
	DoctorBundleAsk     Key = "doctor.bundle.ask"
	DoctorBundleNot     Key = "doctor.bundle.not"
	DoctorBundleYes     Key = "doctor.bundle.yes"
	DoctorBundleThere   Key = "doctor.bundle.there"
	DoctorBundleWritten Key = "doctor.bundle.written"
)

// The doctor's window. DoctorAdministrator is how a hint for administrators
// begins.
const (
	DoctorAdministrator   Key = "doctor.window.administrator"
	DoctorWindowMenu      Key = "doctor.window.menu"
	DoctorWindowTitle     Key = "doctor.window.title"
	DoctorWindowRunning   Key = "doctor.window.running"
	DoctorWindowAgain     Key = "doctor.window.again"
	DoctorWindowCopy      Key = "doctor.window.copy"
	DoctorWindowCopied    Key = "doctor.window.copied"
	DoctorWindowBundle    Key = "doctor.window.bundle"
	DoctorWindowGathering Key = "doctor.window.gathering"
	DoctorWindowYou       Key = "doctor.window.you"
	DoctorWindowSilent    Key = "doctor.window.silent"
	DoctorWindowFailed    Key = "doctor.window.failed"
	DoctorWindowFirst     Key = "doctor.window.first"
	DoctorWindowPath      Key = "doctor.window.path"
	DoctorWindowThere     Key = "doctor.window.there"
	DoctorWindowUnwritten Key = "doctor.window.unwritten"
	DoctorWindowHolds     Key = "doctor.window.holds"
	DoctorWindowHoldsHint Key = "doctor.window.holds.hint"
	DoctorWindowPlace     Key = "doctor.window.place"
	DoctorWindowWrite     Key = "doctor.window.write"
	DoctorWindowBack      Key = "doctor.window.back"
	DoctorWindowMore      Key = "doctor.window.more"
	DoctorWindowWritten   Key = "doctor.window.written"
)

// DoctorGroup is the heading above a group of checks, DoctorName the short name
// of a check, DoctorState the word for a state; "wait" is one that is not known
// yet.
func DoctorGroup(id string) Key { return Key("doctor.group." + id) }

// DoctorName is the short name of a check.
func DoctorName(id string) Key { return Key("doctor.name." + id) }

// DoctorState is the word for a state.
func DoctorState(state string) Key { return Key("doctor.state." + state) }

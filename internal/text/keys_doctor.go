package text

// DoctorChecks are the ids of the doctor's checks, in the order in which they
// are shown. Monitoring relies on them: one is never given another meaning.
// Command, help and guides all follow this table.
var DoctorChecks = []string{
	"settings", "policy", "setup", "secret", "expiry",
	"hub.name", "hub.connection", "hub.certificate", "hub.clock", "hub.token", "hub.lookup",
	"resident", "version", "listener", "link", "scheme", "autostart", "microsip",
	"tray", "cards", "lock", "graphics", "disk", "folders", "program", "log", "crash", "history",
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

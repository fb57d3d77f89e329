package text

// What went wrong according to the system.
const (
	ErrorNotThere   Key = "error.not_there"
	ErrorNotAllowed Key = "error.not_allowed"
	ErrorIsThere    Key = "error.is_there"
	ErrorFull       Key = "error.full"
	ErrorReadOnly   Key = "error.read_only"
	ErrorNoFolder   Key = "error.no_folder"
	ErrorFolder     Key = "error.folder"
	ErrorLink       Key = "error.link"
	ErrorLongName   Key = "error.long_name"
	ErrorPort       Key = "error.port"
	ErrorRefused    Key = "error.refused"
	ErrorClosed     Key = "error.closed"
	ErrorStopped    Key = "error.stopped"
	ErrorLate       Key = "error.late"
	ErrorAt         Key = "error.at"    // the path that an error is about, and the error
	ErrorOther      Key = "error.other" // the error's own text
	ErrorOutput     Key = "error.output"
)

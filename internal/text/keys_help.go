package text

// Texts around the guide.
const (
	HelpTitle     Key = "help.title"
	HelpEverybody Key = "help.everybody"
	HelpAdmins    Key = "help.admins"
)

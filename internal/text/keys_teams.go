package text

// Texts of the page that Teams opens.
const (
	TeamsWait     Key = "teams.wait"
	TeamsOpen     Key = "teams.open"
	TeamsClose    Key = "teams.close"
	TeamsNoScript Key = "teams.no_script"
)

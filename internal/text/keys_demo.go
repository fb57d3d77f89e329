package text

// Texts of the demo.
const (
	DemoPlayed        Key = "demo.played"
	DemoPlayedContact Key = "demo.played.contact"
	DemoWelcome       Key = "demo.welcome"
)

// DemoTitle is the label of a demo call's button.
func DemoTitle(id string) Key { return Key("demo.call." + id) }

// DemoHint says what to look at in a demo call.
func DemoHint(id string) Key { return Key("demo.call." + id + ".hint") }

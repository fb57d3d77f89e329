package text

// The texts of the demo.
const (
	DemoPlayed        Key = "demo.played"
	DemoPlayedContact Key = "demo.played.contact"
	DemoWelcome       Key = "demo.welcome"
)

// DemoTitle is the button of a demo call.
func DemoTitle(id string) Key { return Key("demo." + id) }

// DemoHint is the sentence on what to look at in a demo call.
func DemoHint(id string) Key { return Key("demo." + id + ".hint") }

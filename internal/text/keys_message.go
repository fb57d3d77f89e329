package text

// Texts about a message before it is sent; findings have theirs by the
// codes of package message.
const (
	MessageAtFile    Key = "message.at.file"
	MessageAtElement Key = "message.at.element"
	MessageAtLine    Key = "message.at.line"
)

// MessageFinding explains a finding with this code: a whole sentence that contains
// nothing of the message.
func MessageFinding(code string) Key { return Key("message.finding." + code) }

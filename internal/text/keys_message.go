package text

// The texts about a message before it is sent; what was found in it has its texts
// by the codes of package message.
const (
	MessageAtFile    Key = "message.at.file"
	MessageAtElement Key = "message.at.element"
	MessageAtLine    Key = "message.at.line"
)

// MessageFinding is what a finding with this code means: a whole sentence that
// holds nothing of the message.
func MessageFinding(code string) Key { return Key("message.finding." + code) }

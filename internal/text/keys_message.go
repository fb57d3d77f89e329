package text

// The texts about a message before it is sent; what was found in it has its texts
// by the codes of package message.
const (
	MessageAtFile           Key = "message.at.file"
	MessageAtElement        Key = "message.at.element"
	MessageAtLine           Key = "message.at.line"
	MessageSendable         Key = "message.sendable"
	MessageSendableWarnings Key = "message.sendable.warnings"
	MessageRefused          Key = "message.refused"
	MessageStrict           Key = "message.strict"
	MessageMore             Key = "message.more"
)

// MessageFinding is what a finding with this code means: a whole sentence that
// holds nothing of the message.
func MessageFinding(code string) Key { return Key("message.finding." + code) }

// MessageKind is what a ZIP holds, by a kind of package message.
func MessageKind(kind string) Key { return Key("message.kind." + kind) }

// MessageSeverity is how bad a finding is: "note", "warning" or "refused".
func MessageSeverity(severity string) Key { return Key("message.severity." + severity) }

package text

// Texts of the notification that replaces a card where no window may be shown.
const (
	NotifyIncoming     Key = "notify.incoming"
	NotifyIncomingLine Key = "notify.incoming.line"
	NotifyOpen         Key = "notify.open"
	NotifyClose        Key = "notify.close"
)

package text

// The texts of the notification that stands in for a card where no window may
// be shown.
const (
	NotifyIncoming     Key = "notify.incoming"
	NotifyIncomingLine Key = "notify.incoming.line"
	NotifyOpen         Key = "notify.open"
	NotifyClose        Key = "notify.close"
)

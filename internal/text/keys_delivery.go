package text

// The texts of deliveries.
const (
	DeliveryDone       Key = "delivery.done"
	DeliveryHold       Key = "delivery.hold"
	DeliveryTrouble    Key = "delivery.trouble"
	DeliveryLost       Key = "delivery.lost"
	DeliveryWatchGone  Key = "delivery.watching.gone"
	DeliveryNobody     Key = "delivery.nobody"
	DeliveryNothing    Key = "delivery.nothing"
	DeliveryFirst      Key = "delivery.first"
	DeliveryReport     Key = "delivery.report"
	DeliveryNoReport   Key = "delivery.report.none"
	DeliveryMore       Key = "delivery.more"
	DeliveryAside      Key = "delivery.aside"
	DeliveryWaits      Key = "delivery.waits"
	DeliveryWatching   Key = "delivery.watching"
	DeliveryWouldSend  Key = "delivery.would"
	DeliveryResolve    Key = "delivery.resolve"
	DeliveryNotFound   Key = "delivery.status.absent"
	DeliveryMind       Key = "delivery.mind"
	DeliveryProgress   Key = "delivery.progress"
	DeliveryStatusCode Key = "delivery.status"
)

// DeliveryState is the word for the state of an item in the outbox.
func DeliveryState(state string) Key { return Key("delivery.state." + state) }

// DeliveryReason says why an item or the queue stands where it stands.
func DeliveryReason(code string) Key { return Key("delivery.reason." + code) }

// DeliveryTroubleDo is what to do about that, and what it means for the files.
func DeliveryTroubleDo(kind string) Key { return Key("delivery.trouble." + kind + ".do") }

// DeliveryTroubleOf says what is wrong with the disk.
func DeliveryTroubleOf(kind string) Key { return Key("delivery.trouble." + kind) }

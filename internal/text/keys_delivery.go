package text

// Texts of deliveries.
const (
	DeliveryDone       Key = "delivery.done"
	DeliveryHold       Key = "delivery.hold"
	DeliveryTrouble    Key = "delivery.trouble"
	DeliveryLost       Key = "delivery.lost"
	DeliveryWatchGone  Key = "delivery.watching.gone"
	DeliveryNobody     Key = "delivery.nobody"
	DeliverySomebody   Key = "delivery.somebody"
	DeliveryNoItem     Key = "delivery.item.none"
	DeliveryOtherState Key = "delivery.item.state"
	DeliveryNoCopy     Key = "delivery.item.copy"
	DeliveryTwin       Key = "delivery.item.twin"
	DeliveryUndecided  Key = "delivery.item.undecided"
	DeliveryGiveIDs    Key = "delivery.usage.ids"
	DeliveryWatchAlone Key = "delivery.usage.watch"
	DeliveryGiveFiles  Key = "delivery.usage.files"
	DeliveryBadTime    Key = "delivery.usage.time"
	DeliveryBadBox     Key = "delivery.usage.box"
	DeliveryBadPattern Key = "delivery.usage.pattern"
	DeliveryTooMany    Key = "delivery.usage.many"
	DeliveryBadFolder  Key = "delivery.usage.folder"
	DeliveryBadList    Key = "delivery.usage.list"
	DeliveryBadLine    Key = "delivery.usage.line"
	DeliveryNoBox      Key = "delivery.setup.box"
	DeliveryNotSetUp   Key = "delivery.setup.hub"
	DeliveryNothing    Key = "delivery.nothing"
	DeliveryBefore     Key = "delivery.done.before"
	DeliveryNotTaken   Key = "delivery.done.not_taken"
	DeliveryReport     Key = "delivery.report"
	DeliveryNoReport   Key = "delivery.report.none"
	DeliveryMore       Key = "delivery.more"
	DeliveryAside      Key = "delivery.aside"
	DeliveryWaits      Key = "delivery.waits"
	DeliveryWatching   Key = "delivery.watching"
	DeliveryWatchList  Key = "delivery.watching.list"
	DeliveryWatchOpen  Key = "delivery.watching.open"
	DeliveryWatchOwn   Key = "delivery.watching.own"
	DeliveryWatchUp    Key = "delivery.watching.parent"
	DeliveryWatchBusy  Key = "delivery.watching.busy"
	DeliveryWatchNew   Key = "delivery.watching.replaced"
	DeliveryWatchUnfit Key = "delivery.watching.unfit"
	DeliveryWatchFile  Key = "delivery.watching.file"
	DeliveryWouldSend  Key = "delivery.would"
	DeliveryResolve    Key = "delivery.resolve"
	DeliveryNotFound   Key = "delivery.status.absent"
	DeliveryMind       Key = "delivery.mind"
	DeliveryProgress   Key = "delivery.progress"
	DeliveryStatusCode Key = "delivery.status"
)

// DeliveryState is the word for an item's state in the outbox.
func DeliveryState(state string) Key { return Key("delivery.state." + state) }

// DeliveryEarlier says since when the same file has been in the outbox, in that state.
func DeliveryEarlier(state string) Key { return Key("delivery.before." + state) }

// DeliveryReason explains the state of an item or of the queue.
func DeliveryReason(code string) Key { return Key("delivery.reason." + code) }

// DeliveryTroubleDo says what to do about trouble, and what it means for the files.
func DeliveryTroubleDo(kind string) Key { return Key("delivery.trouble." + kind + ".do") }

// DeliveryTroubleOf says what is wrong with the disk.
func DeliveryTroubleOf(kind string) Key { return Key("delivery.trouble." + kind) }

// DeliveryTrouble says what is wrong with the disk, and what to do about it.
func (l Language) DeliveryTrouble(kind string) string {
	return l.T(DeliveryTrouble, l.T(DeliveryTroubleOf(kind)), l.T(DeliveryTroubleDo(kind)))
}

package text

// Texts of deliveries.
const (
	DeliveryDone         Key = "delivery.done"
	DeliveryHold         Key = "delivery.hold"
	DeliveryTrouble      Key = "delivery.trouble"
	DeliveryLost         Key = "delivery.lost"
	DeliveryWatchGone    Key = "delivery.watch.gone"
	DeliveryNobody       Key = "delivery.nobody"
	DeliverySomebody     Key = "delivery.somebody"
	DeliveryNoItem       Key = "delivery.no_item"
	DeliveryOtherState   Key = "delivery.other_state"
	DeliveryNoCopy       Key = "delivery.no_copy"
	DeliveryTwin         Key = "delivery.twin"
	DeliveryUndecided    Key = "delivery.undecided"
	DeliveryGiveIDs      Key = "delivery.give_ids"
	DeliveryWatchAlone   Key = "delivery.watch_alone"
	DeliveryGiveFiles    Key = "delivery.give_files"
	DeliveryBadTime      Key = "delivery.bad_time"
	DeliveryBadBox       Key = "delivery.bad_box"
	DeliveryBadPattern   Key = "delivery.bad_pattern"
	DeliveryTooMany      Key = "delivery.too_many"
	DeliveryBadFolder    Key = "delivery.bad_folder"
	DeliveryBadList      Key = "delivery.bad_list"
	DeliveryBadLine      Key = "delivery.bad_line"
	DeliveryNoBox        Key = "delivery.no_box"
	DeliveryNotSetUp     Key = "delivery.not_set_up"
	DeliveryNothing      Key = "delivery.nothing"
	DeliveryDoneBefore   Key = "delivery.done.before"
	DeliveryDoneNotTaken Key = "delivery.done.not_taken"
	DeliveryReport       Key = "delivery.report"
	DeliveryNoReport     Key = "delivery.no_report"
	DeliveryMore         Key = "delivery.more"
	DeliveryAside        Key = "delivery.aside"
	DeliveryWaits        Key = "delivery.waits"
	DeliveryWatching     Key = "delivery.watching"
	DeliveryWatchList    Key = "delivery.watch.list"
	DeliveryWatchOpen    Key = "delivery.watch.open"
	DeliveryWatchOwn     Key = "delivery.watch.own"
	DeliveryWatchUp      Key = "delivery.watch.up"
	DeliveryWatchBusy    Key = "delivery.watch.busy"
	DeliveryWatchNew     Key = "delivery.watch.new"
	DeliveryWatchUnfit   Key = "delivery.watch.unfit"
	DeliveryWatchFile    Key = "delivery.watch.file"
	DeliveryWouldSend    Key = "delivery.would_send"
	DeliveryResolve      Key = "delivery.resolve"
	DeliveryNotFound     Key = "delivery.not_found"
	DeliveryMind         Key = "delivery.mind"
	DeliveryProgress     Key = "delivery.progress"
	DeliveryStatusCode   Key = "delivery.status_code"
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

package deskapi

import (
	"time"

	"wiebelt/internal/message"
)

// Kinds of messages of the delivery window, to the resident.
const (
	KindDeliveryAsk     = "delivery.ask"     // DeliveryAsk: tell DeliveryState
	KindDeliveryAdd     = "delivery.add"     // DeliveryAdd: deliver files
	KindDeliverySend    = "delivery.send"    // DeliveryItem: send a question's file all the same
	KindDeliveryRetry   = "delivery.retry"   // DeliveryItem: send it as soon as possible; without an id everything that waits
	KindDeliveryResolve = "delivery.resolve" // DeliveryResolve: decide what is maybe delivered
	KindDeliveryRemove  = "delivery.remove"  // DeliveryItem: delete it with its copy and receipts
	KindDeliveryShow    = "delivery.show"    // DeliveryItem: tell DeliveryReceipts
	KindDeliveryDismiss = "delivery.dismiss" // no content: the notice was read
)

// Kinds of messages to the delivery window.
const (
	KindDeliveryChanged  = "delivery.changed"  // no content: what was told is not so any more
	KindDeliveryState    = "delivery.state"    // DeliveryState, when asked
	KindDeliveryProgress = "delivery.progress" // DeliveryProgress, a few times a second while something is sent
	KindDeliveryReceipts = "delivery.receipts" // DeliveryReceipts, when asked
	KindDeliveryFailed   = "delivery.failed"   // DeliveryFailed: something that was asked for did not work
)

// Views of the list.
const (
	DeliveryAll  = "all"
	DeliveryOpen = "open" // nothing was decided yet
	DeliveryAct  = "act"  // a person has to look
)

// States of a DeliveryRow beside those of package outbox.
const (
	DeliveryAdding   = "adding"    // it is copied and checked
	DeliveryQuestion = "question"  // it was delivered before: send it all the same?
	DeliveryNotTaken = "not_taken" // the disk does not take it now
)

// DeliveryAsk asks for a part of the list.
type DeliveryAsk struct {
	View  string `json:"view"`
	First int    `json:"first"` // from 0
	Count int    `json:"count"`
}

// DeliveryAdd names files, or folders of which the ZIP files are meant.
type DeliveryAdd struct {
	Paths []string `json:"paths"`
}

// DeliveryItem names a row of the list.
type DeliveryItem struct {
	ID string `json:"id"`
}

// DeliveryResolve decides an item that is maybe delivered.
type DeliveryResolve struct {
	ID        string `json:"id"`
	Delivered bool   `json:"delivered"` // or else it is sent again
	Note      string `json:"note"`
}

// DeliveryState is the outbox, and a part of its list.
type DeliveryState struct {
	SetUp     bool          `json:"set_up"`
	Support   string        `json:"support"` // who to ask
	Held      string        `json:"held"`    // reason of package outbox why nothing is sent until an administrator acts
	Paused    string        `json:"paused"`  // … why nothing is sent for a moment
	Trouble   string        `json:"trouble"` // kind of trouble with the disk
	Notice    string        `json:"notice"`  // what has happened to the outbox, as a sentence
	Adding    int           `json:"adding"`  // files that are not taken yet
	Waiting   int           `json:"waiting"` // or being sent
	Delivered int           `json:"delivered"`
	Refused   int           `json:"refused"`
	Uncertain int           `json:"uncertain"`
	Open      int           `json:"open"` // rows in DeliveryOpen
	Act       int           `json:"act"`  // rows in DeliveryAct
	Question  *DeliveryRow  `json:"question,omitempty"`
	Questions int           `json:"questions"` // files that wait for an answer
	View      string        `json:"view"`
	Total     int           `json:"total"` // rows in the view
	More      int           `json:"more"`  // items that are not listed
	First     int           `json:"first"`
	Rows      []DeliveryRow `json:"rows"` // maybe fewer than asked for
}

// String gives nothing away.
func (DeliveryState) String() string { return "delivery" }

// GoString is String, so that %#v tells no more.
func (s DeliveryState) GoString() string { return s.String() }

// DeliveryRow is one file.
type DeliveryRow struct {
	ID       string           `json:"id"`
	Name     string           `json:"name"`
	Size     int64            `json:"size"`
	State    string           `json:"state"`  // of package outbox, or one of the above
	Reason   string           `json:"reason"` // of package outbox, or a code of package message
	Status   int              `json:"status"` // of HTTP, 0 if there was none
	Added    time.Time        `json:"added"`
	Decided  time.Time        `json:"decided,omitzero"`
	Next     time.Time        `json:"next,omitzero"`   // when it is tried again
	Before   time.Time        `json:"before,omitzero"` // of DeliveryQuestion: when it was delivered before, or taken
	Was      string           `json:"was,omitempty"`   // of DeliveryQuestion: the state of the earlier one
	Kept     bool             `json:"kept"`            // it can be sent again
	Code     string           `json:"code,omitempty"`  // of package message: the worst that the check found
	Severity message.Severity `json:"severity,omitempty"`
	Findings int              `json:"findings,omitempty"`
}

// DeliveryProgress tells how much of an item was handed over.
type DeliveryProgress struct {
	ID   string `json:"id"`
	Sent int64  `json:"sent"`
	Size int64  `json:"size"`
}

// DeliveryReceipts is all that is known of one file.
type DeliveryReceipts struct {
	Row          DeliveryRow       `json:"row"`
	Intermediary string            `json:"intermediary"`
	SHA256       string            `json:"sha256"`
	Attempts     int               `json:"attempts"`
	Note         string            `json:"note"`
	Findings     []message.Finding `json:"findings,omitempty"`
	Receipts     []DeliveryReceipt `json:"receipts,omitempty"` // newest first
	More         int               `json:"more,omitempty"`     // older receipts that are not told
}

// String gives nothing away.
func (DeliveryReceipts) String() string { return "delivery" }

// GoString is String, so that %#v tells no more.
func (r DeliveryReceipts) GoString() string { return r.String() }

// DeliveryReceipt is what came of one request.
type DeliveryReceipt struct {
	Ended  time.Time `json:"ended"`
	Status int       `json:"status"`
	Reason string    `json:"reason"`
	Body   string    `json:"body"` // what the hub said
	Cut    bool      `json:"cut"`  // and more
}

// DeliveryFailed says in a sentence what did not work.
type DeliveryFailed struct {
	Sentence string `json:"sentence"`
}

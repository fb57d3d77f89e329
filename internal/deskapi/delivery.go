package deskapi

import (
	"time"

	"wiebelt/internal/message"
)

// What the resident says of deliveries: it takes files into the outbox, goes on with
// that when the window has closed, and sends what is in there. The outbox itself the
// window reads.
const (
	KindDelivery = "delivery" // DeliveryDo, from the window; to it Delivery, when it asked and whenever something changed
	KindProgress = "progress" // Progress, a few times a second while something is sent
)

// States of a DeliveryFile beside those of package outbox.
const (
	DeliveryAdding   = "adding"    // it is copied and checked
	DeliveryQuestion = "question"  // it was delivered before: send it all the same?
	DeliveryNotTaken = "not_taken" // the disk does not take it now
)

// DeliveryDo asks for something to be done. Without content it only asks for Delivery.
type DeliveryDo struct {
	Paths   []string `json:"paths,omitempty"`   // deliver these files, or the ZIP files in these folders
	ID      string   `json:"id,omitempty"`      // check this file of Delivery, and take it if it can be now,
	Again   bool     `json:"again,omitempty"`   // although it was delivered before;
	Drop    bool     `json:"drop,omitempty"`    // or take it off the list
	Release bool     `json:"release,omitempty"` // send what waits as soon as possible
	Changed bool     `json:"changed,omitempty"` // the window changed the outbox
	Read    bool     `json:"read,omitempty"`    // the notice was read
}

// String gives nothing away.
func (DeliveryDo) String() string { return "delivery" }

// GoString is String, so that %#v tells no more.
func (d DeliveryDo) GoString() string { return d.String() }

// Delivery is how deliveries are, and a part of the files that are not in the outbox:
// not yet, or not at all. As many follow each other as the files need.
type Delivery struct {
	Trouble string         `json:"trouble,omitempty"` // kind of trouble with the disk
	Notice  string         `json:"notice,omitempty"`  // what has happened to the outbox, as a sentence
	Failed  bool           `json:"failed,omitempty"`  // what was asked for could not be done any more
	First   int            `json:"first"`             // of Files, from 0
	Total   int            `json:"total"`             // files in all
	Files   []DeliveryFile `json:"files,omitempty"`   // newest first
}

// String gives nothing away.
func (Delivery) String() string { return "delivery" }

// GoString is String, so that %#v tells no more.
func (d Delivery) GoString() string { return d.String() }

// DeliveryFile is a file that somebody gave to the window.
type DeliveryFile struct {
	ID       string            `json:"id"`
	Item     string            `json:"item,omitempty"` // it is in the outbox now, under this id
	Name     string            `json:"name"`
	Size     int64             `json:"size"`
	State    string            `json:"state"`  // one of the above, or refused
	Reason   string            `json:"reason"` // of package outbox, or a code of package message
	Added    time.Time         `json:"added"`
	Before   time.Time         `json:"before,omitzero"` // of DeliveryQuestion: when it was delivered before, or taken
	Was      string            `json:"was,omitempty"`   // of DeliveryQuestion: the state of the earlier one
	Findings []message.Finding `json:"findings,omitempty"`
}

// Progress tells how much of an item was handed over.
type Progress struct {
	ID   string `json:"id"`
	Sent int64  `json:"sent"`
	Size int64  `json:"size"`
}

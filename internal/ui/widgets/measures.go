package widgets

import "time"

// Measures that the windows share, in units.
const (
	Edge      = 24 // from a window's border to its text
	RowInset  = 12 // of a row's hover background, from the window's border
	TimeWidth = 80 // of a row's time
	StepWidth = 24 // of a step's number
	SignWidth = 18 // of a mark before a line of words

	labelWidth = 104 // of a fact's label
)

// How long something is shown, or waited for.
const (
	CopiedFor = time.Second            // "copied" is said
	FailedFor = 10 * time.Second       // what did not work is said
	Settle    = 300 * time.Millisecond // a click counts for the row that was there before
)

// MaxTyped is how many bytes of a number are taken over.
const MaxTyped = 200

package widgets

import "time"

// Dimensions shared by the windows, in units.
const (
	Edge        = 24 // from a window's border to its text
	RowInset    = 12 // of a row's hover background, from the window's border
	TimeWidth   = 80 // of a row's time
	StepWidth   = 24 // of a step's number
	MarkWidth   = 18 // of a mark before a line of words
	HintMarkTop = 4  // of such a mark, from the top of a line of a hint's size

	labelWidth = 112 // of a fact's label
)

// Durations of messages and waits.
const (
	CopiedFor     = time.Second            // "copied" is shown
	FailedFor     = 10 * time.Second       // a failure is shown
	LookupTimeout = 90 * time.Second       // timeout for the resident's answer to a lookup
	SettleTime    = 300 * time.Millisecond // earlier clicks were meant for the row there before
)

// MaxNumberLen is the maximum length of a typed number, in bytes.
const MaxNumberLen = 200

package desk

import "time"

// Measures that the windows share, in units.
const (
	edge      = 24 // from a window's border to its text
	rowInset  = 12 // of a row's hover background, from the window's border
	timeWidth = 80 // of a row's time
	stepWidth = 24 // of a step's number
	signWidth = 18 // of a mark before a line of words

	labelWidth = 104 // of a fact's label
)

// How long something is shown, or waited for.
const (
	copiedIs = time.Second            // "copied" is said
	failedIs = 10 * time.Second       // what did not work is said
	settle   = 300 * time.Millisecond // a click counts for the row that was there before
)

// maxTyped is how many bytes of a number are taken over.
const maxTyped = 200

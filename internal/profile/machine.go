package profile

import "errors"

// ErrNotTheirs: a file that only an administrator may write can be written,
// replaced or given away by somebody else, or was made by somebody else. It does
// not count (corrections.md 5).
var ErrNotTheirs = errors.New("somebody other than an administrator could have written it")

// ErrTooLarge: a file is larger than the reader allows.
var ErrTooLarge = errors.New("the file is too large")

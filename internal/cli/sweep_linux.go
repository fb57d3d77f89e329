package cli

import "errors"

// endPrograms does nothing: a program removed here keeps running until it exits.
func endPrograms(string) {}

// renameAtStart is for Windows: here, running programs can be replaced.
func renameAtStart(string, string) error { return errors.ErrUnsupported }

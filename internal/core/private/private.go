// Package private keeps personal data and secrets out of what is printed.
package private

import (
	"fmt"
	"io"
)

// Data, embedded in a type, hides its values from package fmt, and so from logs and errors:
// %#v reveals no more than %v.
type Data struct{}

// Format implements fmt.Formatter.
func (Data) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, "[private]") }

// Package goldmark takes the place of the Markdown parser that Fyne links into every program.
// No window has Fyne parse Markdown, and the parser's tables would be built at each start of
// the program.
package goldmark

import (
	"io"

	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
)

// Markdown parses nothing.
type Markdown struct{}

// Option is ignored.
type Option struct{}

// New returns a Markdown.
func New(...Option) Markdown { return Markdown{} }

// WithRenderer ignores the renderer.
func WithRenderer(renderer.Renderer) Option { return Option{} }

// WithExtensions ignores the extensions.
func WithExtensions(...extension.Extension) Option { return Option{} }

// Convert panics, since Fyne would go on with nothing to show: the tests of a window that asks
// for Markdown then fail.
func (Markdown) Convert([]byte, io.Writer) error { panic("no Markdown parser is linked") }

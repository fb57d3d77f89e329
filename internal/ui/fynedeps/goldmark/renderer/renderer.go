// Package renderer has the types of a Markdown renderer that Fyne needs to compile.
package renderer

import (
	"io"

	"github.com/yuin/goldmark/ast"
)

// Option is ignored.
type Option struct{}

// Renderer would render a document.
type Renderer interface {
	Render(w io.Writer, source []byte, n ast.Node) error
	AddOptions(...Option)
}

// Package ast has the nodes of Markdown extensions that Fyne needs to compile. None is ever made.
package ast

import "github.com/yuin/goldmark/ast"

// Alignment is that of a table's column.
type Alignment int

// The alignments that Fyne knows.
const (
	AlignLeft Alignment = iota
	AlignRight
	AlignCenter
)

// Nodes of extensions.
type (
	Strikethrough struct{ ast.Node }
	TableHeader   struct{ ast.Node }
	TaskCheckBox  struct {
		ast.Node
		IsChecked bool
	}
	Table struct {
		ast.Node
		Alignments []Alignment
	}
)

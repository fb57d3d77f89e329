// Package ast has the nodes of a Markdown document that Fyne needs to compile. None is ever made.
package ast

// Node is a node of a document.
type Node interface {
	Parent() Node
	FirstChild() Node
	NextSibling() Node
	ChildCount() int
	Lines() *Segments
}

// Segments are lines of the source.
type Segments []Segment

// Len returns 0.
func (*Segments) Len() int { return 0 }

// At returns an empty line.
func (*Segments) At(int) Segment { return Segment{} }

// Segment is a line of the source.
type Segment struct{}

// Value returns nothing.
func (Segment) Value([]byte) []byte { return nil }

// WalkStatus says how Walk continues.
type WalkStatus int

// WalkContinue goes on.
const WalkContinue WalkStatus = iota

// Walk visits nothing.
func Walk(Node, func(n Node, entering bool) (WalkStatus, error)) error { return nil }

// Nodes of a document.
type (
	Document        struct{ Node }
	Paragraph       struct{ Node }
	ListItem        struct{ Node }
	TextBlock       struct{ Node }
	ThematicBreak   struct{ Node }
	CodeSpan        struct{ Node }
	CodeBlock       struct{ Node }
	FencedCodeBlock struct{ Node }
	Blockquote      struct{ Node }
	Heading         struct {
		Node
		Level int
	}
	Emphasis struct {
		Node
		Level int
	}
	List struct {
		Node
		Start  int
		Marker byte
	}
	Link struct {
		Node
		Destination []byte
	}
	Image struct {
		Node
		Destination, Title []byte
	}
	AutoLink struct{ Node }
	Text     struct{ Node }
)

// URL returns nothing.
func (*AutoLink) URL([]byte) []byte { return nil }

// Label returns nothing.
func (*AutoLink) Label([]byte) []byte { return nil }

// Value returns nothing.
func (*Text) Value([]byte) []byte { return nil }

// SoftLineBreak returns false.
func (*Text) SoftLineBreak() bool { return false }

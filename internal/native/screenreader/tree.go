package screenreader

import "image"

// Tree is what can be explored on screen at one moment. Nobody changes one that was
// handed over.
type Tree struct {
	Cards []*Node
	// Press does what a click on something would, later and unless it has changed
	// by then. Any goroutine may call it.
	Press func(ID)
}

// ID names something on screen for as long as it is the same thing.
type ID uint32

// Role is what something on screen is.
type Role uint8

// The roles.
const (
	Button Role = iota
	Entry       // takes letters
	Label
	News // what a card is about: readers say it when it comes, and it never changes
	List
	Item // of a list
	Card // a window of its own; Focused says that it has the keyboard
)

// Node is something on screen.
type Node struct {
	ID       ID
	Role     Role
	Name     string
	Value    string          // of an Entry: what was typed
	About    string          // more than the name says
	Bounds   image.Rectangle // desktop pixels
	Off      bool            // it cannot do anything now
	Focused  bool
	Position [2]int // of an Item: which of how many, the first is 1
	Children []*Node
}

// Acts reports whether it can be pressed.
func (n *Node) Acts() bool { return (n.Role == Button || n.Role == Entry) && !n.Off }

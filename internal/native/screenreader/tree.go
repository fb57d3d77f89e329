package screenreader

import (
	"image"
	"strings"
)

// Tree is what can be explored on screen at one moment. It must not change once handed over.
type Tree struct {
	Windows []*Node // cards, or ordinary windows
	// Press does what a click on a node would do, asynchronously, unless the node has changed
	// by then. It and the following functions may be called from any goroutine.
	Press func(ID)
	// Focus moves the focus within the node's window, and Set changes the value of an Entry.
	// They are nil if only the user may do so.
	Focus func(ID)
	Set   func(ID, string)
	// PositionText formats a Position for readers that do not say it themselves.
	// Its results never change. It may be nil.
	PositionText func(i, of int) string
}

// ID identifies something on screen for as long as it remains the same thing.
type ID uint32

// Role is the kind of a node.
type Role uint8

// The roles.
const (
	Button Role = iota
	Entry       // accepts text
	Label
	News // what a card is about, or an error: announced when it appears; never changes
	List
	Item   // of a list
	Card   // a separate window; Focused means that it has the keyboard focus
	Window // also a separate window
	Dialog // a question over a window
	Heading
	CheckBox
	Radio
	ComboBox // its Value is the chosen option
	TabList
	Tab
	Menu
	MenuItem
	Group // related things
)

// State is the state of a node, one bit each.
type State uint16

// The states.
const (
	Focusable State = 1 << iota // reachable by Tab or its list's arrow keys; card controls always are
	Checked
	Selected
	Expandable // shows or hides more
	Expanded
	Multiline
	Password  // its Value has a dot for each letter
	Invalid   // its value is invalid; Help says why
	Pressable // an Item that can be pressed
	OffScreen // scrolled out of sight
)

// Node is something on screen.
type Node struct {
	ID        ID
	Role      Role
	State     State
	Name      string
	Value     string          // of an Entry: what was typed; of a ComboBox: what is chosen
	Help      string          // additional information
	Bounds    image.Rectangle // desktop pixels; the visible part
	Disabled  bool            // disabled
	Focused   bool
	Position  [2]int // of an Item or a control in it: its position, from 1, and the number of items
	Level     int    // of a Heading, from 1
	Caret     int    // of an Entry: number of runes before it
	Selection [2]int // of an Entry: start and end of the selection, in runes
	Children  []*Node
}

// JoinSentences joins two sentences, either of which may be empty.
func JoinSentences(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return strings.TrimSuffix(a, ".") + ". " + b
}

// Is reports whether the node has a state.
func (n *Node) Is(s State) bool { return n.State&s != 0 }

// CanPress reports whether the node can be pressed.
func (n *Node) CanPress() bool {
	switch n.Role {
	case Button, Entry, CheckBox, Radio, ComboBox, Tab, MenuItem:
		return !n.Disabled
	}
	return n.Is(Pressable) && !n.Disabled
}

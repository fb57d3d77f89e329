package screenreader

import (
	"image"
	"strings"
)

// Tree is what can be explored on screen at one moment. Nobody changes one that was
// handed over.
type Tree struct {
	Windows []*Node // cards, or ordinary windows
	// Press does what a click on something would, later and unless it has changed
	// by then. Any goroutine may call it, and what follows.
	Press func(ID)
	// Focus gives something the keyboard within its window, and Set gives an Entry
	// another value; nil where the user alone does.
	Focus func(ID)
	Set   func(ID, string)
	// PositionText says a Position in words, where readers do not say it themselves.
	// It never changes what it says. nil for nothing.
	PositionText func(i, of int) string
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
	News // what a card is about, or what went wrong: readers say it when it comes, and it never changes
	List
	Item   // of a list
	Card   // a window of its own; Focused says that it has the keyboard
	Window // likewise
	Dialog // asks something over a window
	Heading
	CheckBox
	Radio
	ComboBox // its Value is the Item in it
	TabList
	Tab
	Menu
	MenuItem
	Link
	Picture
	Group // of what belongs together
)

// topmost tells whether it is a window of its own.
func (r Role) topmost() bool { return r == Card || r == Window }

// State is how something on screen is, one bit each.
type State uint16

// The states.
const (
	Focusable State = 1 << iota // Tab comes to it, or the arrows of its list; what acts on a card always is
	Checked
	Selected
	Expandable // shows more, or less again
	Expanded
	Multiline
	Password // its Value has a dot a letter
	Invalid  // its value cannot be; About says why
	Acting   // an Item that can be pressed
	Outside  // scrolled out of sight
)

// Node is something on screen.
type Node struct {
	ID       ID
	Role     Role
	State    State
	Name     string
	Value    string          // of an Entry: what was typed; of a ComboBox: what is chosen
	About    string          // more than the name says
	Bounds   image.Rectangle // desktop pixels, as far as it is in sight
	Off      bool            // it cannot do anything now
	Focused  bool
	Position [2]int // of an Item, or a control in it: which of how many, the first is 1
	Level    int    // of a Heading, from 1
	Caret    int    // of an Entry: the runes before it
	Marked   [2]int // of an Entry: from where to where it is selected, in runes
	Children []*Node
}

// Joined puts two sentences behind each other, as far as there are any.
func Joined(a, b string) string {
	switch {
	case a == "" || b == "":
		return a + b
	case strings.HasSuffix(a, "."):
		return a + " " + b
	}
	return a + ". " + b
}

// Is reports whether it has a state.
func (n *Node) Is(s State) bool { return n.State&s != 0 }

// Acts reports whether it can be pressed.
func (n *Node) Acts() bool {
	switch n.Role {
	case Button, Entry, CheckBox, Radio, ComboBox, Tab, MenuItem, Link:
		return !n.Off
	}
	return n.Is(Acting) && !n.Off
}

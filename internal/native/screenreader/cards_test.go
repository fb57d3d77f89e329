package screenreader

import "image"

// testCard returns a card of a caller with several contacts.
func testCard(news ID, name string, focused bool) *Node {
	button := &Node{ID: 4, Role: Button, Name: "Relatie openen", Bounds: image.Rect(110, 250, 200, 280), Focused: focused}
	return &Node{ID: 1, Role: Card, Name: name, Bounds: image.Rect(100, 200, 400, 300), Focused: focused, Children: []*Node{
		{ID: news, Role: News, Name: name, Bounds: image.Rect(110, 210, 300, 230)},
		{ID: 3, Role: List, Name: "2 relaties", Bounds: image.Rect(110, 235, 390, 290), Children: []*Node{
			{ID: 5, Role: Item, Name: "A. Bakker", Help: "Bekend", Position: [2]int{2, 3}, Bounds: image.Rect(110, 240, 390, 290), Children: []*Node{button}},
		}},
		{ID: 6, Role: Button, Name: "Kaart sluiten", Bounds: image.Rect(380, 205, 395, 220), Disabled: true},
		{ID: 8, Role: Entry, Name: "Zoeken", Value: "vis", Help: "in deze relaties", Bounds: image.Rect(310, 205, 370, 220)},
		{ID: 9, Role: Label, Name: "iets anders", Bounds: image.Rect(371, 205, 379, 220)},
	}}
}

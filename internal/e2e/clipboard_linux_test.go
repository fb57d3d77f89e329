package e2e

import (
	"strings"
	"testing"
)

// TestCopiedStays: what was copied in a window is there to be pasted when the
// windows have been closed.
func TestCopiedStays(t *testing.T) {
	d := openDesk(t, 200)
	d.ask()
	id := d.find()
	d.Until("rows", d.rows)
	d.activate(id)
	pasted := func() string {
		out, _ := d.Command("xclip", "-selection", "clipboard", "-o").Output() // fails while there is nothing
		return strings.TrimSpace(string(out))
	}
	d.Until("the number, by the keyboard", func() bool {
		d.Key("Home", "ctrl+c")
		return pasted() == "0612345678"
	})
	d.end(id)
	if got := pasted(); got != "0612345678" {
		t.Errorf("without its window %q is pasted", got)
	}

	// A recipe is copied by the toolkit first, and by the resident after that.
	d.ask()
	id = d.find()
	d.Until("rows", d.rows)
	d.Until("the recipes", func() bool {
		d.Click(d.at.X+620, d.at.Y+38, 1)
		return strings.Contains(d.windows(), "Telefoon koppelen")
	})
	recipes := d.FindWindow("^Telefoon koppelen")
	at := d.origin(recipes)
	y := 300
	d.Until("a recipe on the clipboard", func() bool {
		d.Click(at.X+668, at.Y+y, 1)
		y = 300 + (y-300+16)%320
		return strings.Contains(pasted(), "wiebelt")
	})
	want := pasted()
	d.closeWindow("Telefoon koppelen")
	d.end(id)
	if got := pasted(); got != want {
		t.Errorf("without its window %q is pasted, not the recipe", got)
	}
}

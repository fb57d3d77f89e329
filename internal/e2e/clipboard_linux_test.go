package e2e

import (
	"image"
	"strings"
	"testing"
)

// TestCopiedStays checks that text copied in a window
// can be pasted after the windows have been closed.
func TestCopiedStays(t *testing.T) {
	t.Parallel()
	d := openCalls(t, 200)
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

	// A recipe is copied by the toolkit first, and then by the resident.
	d.ask()
	id = d.find()
	d.Until("rows", d.rows)
	d.clickOn("Menu", image.Point{}, "the menu", func() bool { _, ok := d.see("Telefoon koppelen"); return ok })
	d.clickOn("Telefoon koppelen", image.Point{}, "the recipes", func() bool { return strings.Contains(d.windows(), "Telefoon koppelen") })
	d.clickOn("3CX (app voor pc en Mac)", image.Point{}, "a recipe", func() bool { _, ok := d.see("Kopiëren"); return ok })
	d.clickOn("Kopiëren", image.Point{}, "a recipe on the clipboard", func() bool { return strings.Contains(pasted(), "wiebelt") })
	want := pasted()
	d.closeWindow("Telefoon koppelen")
	d.end(id)
	if got := pasted(); got != want {
		t.Errorf("without its window %q is pasted, not the recipe", got)
	}
}

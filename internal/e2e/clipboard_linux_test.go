package e2e

import (
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

	// What is typed in a field is copied by the toolkit first, and then by the resident.
	d.ask()
	id = d.find()
	d.Until("rows", d.rows)
	d.Until("the field's text on the clipboard", func() bool {
		d.Click(d.at.X+120, d.at.Y+104, 1)
		d.Key("ctrl+a")
		d.Type("0303", 0)
		d.Key("ctrl+a", "ctrl+c")
		return pasted() == "0303"
	})
	d.end(id)
	if got := pasted(); got != "0303" {
		t.Errorf("without its window %q is pasted, not the field's text", got)
	}
}

package e2e

import (
	"strings"

	"wiebelt/assets"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
	"wiebelt/internal/testutil/xtest"
)

// icons has the names of the tray's icon files.
var icons = []string{"ready", "not-set-up", "link-lost", "hub-gone", "credentials", "paused", "doubt"}

// looks waits until the panel shows the icon of a state, and no other, and the menu
// begins with a sentence.
func (i *icon) looks(state, sentence string) {
	i.t.Helper()
	var nearest string
	var all []string
	i.Until("the icon "+state+" with "+sentence, func() bool {
		img := i.panel.Icon()
		best := 255.0
		for _, name := range icons {
			if d := xtest.IconDistance(i.t, img, assets.Icons, "icons/tray-"+name+"-48.png"); d < best {
				nearest, best = name, d
			}
		}
		all = i.titles()
		return nearest == state && best < 8 && len(all) > 0 && strings.HasPrefix(all[0], sentence)
	}, func() []any { return []any{nearest, all} })
}

// states checks that the icon shows real faults, and their end.
func (i *icon) states() {
	i.t.Helper()
	whole := i.settings()
	const ready = "Klaar. Laatste oproep ontvangen om "

	// A phone program that is not running.
	i.append("\n[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\naddress = \"" + nettest.Nobody(i.t) + "\"\n")
	i.looks("link-lost", "Geen verbinding met de telefoon (baresip). We proberen het opnieuw.")

	// Nothing is set up any more.
	i.write(support + "\n[ui]\nlanguage = \"nl\"\n")
	i.looks("not-set-up", "Wiebelt is nog niet ingesteld. Meld dit bij Jan (IT), toestel 140.")
	i.write(whole)
	i.looks("ready", ready)

	// An organisation that does not belong to the client.
	i.set("hub.organisation_code", "9999")
	i.looks("credentials", "De ")
	i.write(whole)
	i.looks("ready", ready)

	must.Do(i.t, i.hub.Close())
	i.run("ring", "--", "0698760012")
	i.looks("hub-gone", "Opzoeken lukte niet (")
}

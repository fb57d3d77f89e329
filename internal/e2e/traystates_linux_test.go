package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/assets"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
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

// TestTrayStates: the icon in a real panel shows real faults, and their end.
func TestTrayStates(t *testing.T) {
	t.Parallel()
	i := newIcon(t, "[support]\ncontact = \"Jan (IT), toestel 140\"\n\n[card]\nafter_call = \"0s\"\n\n[ui]\nlanguage = \"nl\"")
	dirs := must.Get(profile.Find(i.profile))(t)
	path := filepath.Join(i.profile, "settings.toml")
	whole := must.Get(os.ReadFile(path))(t)
	write := func(s string) {
		t.Helper()
		must.Do(t, os.WriteFile(path, []byte(s), 0o600))
	}
	ring := func(number string) { // from a source that no settings change
		t.Helper()
		i.run("ring", "--", number)
	}
	i.looks("ready", "Vandaag nog geen oproep ontvangen.")

	// A phone's program that is not running.
	write(string(whole) + "\n[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\naddress = \"" + nettest.Nobody(t) + "\"\n")
	i.looks("link-lost", "Geen verbinding met de telefoon (baresip). We proberen het opnieuw.")

	// Nothing is set up any more.
	write("[support]\ncontact = \"Jan (IT), toestel 140\"\n\n[ui]\nlanguage = \"nl\"\n")
	i.looks("not-set-up", "Wiebelt is nog niet ingesteld. Meld dit bij Jan (IT), toestel 140.")
	write(string(whole))
	i.looks("ready", "Vandaag nog geen oproep ontvangen.")

	i.choose("1 uur pauzeren")
	i.looks("paused", "Gepauzeerd tot ")
	i.choose("Doorgaan")

	ring("0698760011")
	i.looks("ready", "Klaar. Laatste oproep ontvangen om ")

	// An organisation that does not belong to the client.
	must.Do(t, settings.Set(dirs, map[string]any{"hub.organisation_code": "9999"}))
	i.looks("credentials", "De ")
	write(string(whole))
	i.looks("ready", "Klaar.")

	must.Do(t, i.hub.Close())
	ring("0698760012")
	i.looks("hub-gone", "Opzoeken lukte niet (")
}

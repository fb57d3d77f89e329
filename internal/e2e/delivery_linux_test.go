package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/localhub"
	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// TestDeliveryWindow: files dragged into the window arrive unchanged, one that is not a
// message is refused, and cards appear while one is being sent.
func TestDeliveryWindow(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[ui]\ntheme = \"light\"\nlanguage = \"nl\"")
	o.run("provision", "--intermediary", localhub.DefaultIntermediary)
	o.start()
	o.openWindow(windowapi.WindowDelivery)
	at, in := o.origin(o.FindWindow("^Berichten aanleveren")), t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(in, name)
		must.Do(t, os.WriteFile(path, content, 0o600))
		return path
	}
	listed := func() map[string]string { // the state of the outbox
		var r struct {
			Items []struct{ File, Outcome string }
		}
		must.Do(t, json.Unmarshal(must.Get(o.wiebelt("deliver", "list", "--all", "--json").Output())(t), &r))
		states := map[string]string{}
		for _, it := range r.Items {
			states[filepath.Base(it.File)] = it.Outcome
		}
		return states
	}
	is := func(name, want string) {
		t.Helper()
		var states map[string]string
		o.Until(name+" is "+want, func() bool { states = listed(); return states[name] == want }, func() []any { return []any{states} })
	}
	content := contractZIP(t, 1)
	o.Drop(at.X+300, at.Y+400, file("bericht één.zip", content), file("vakantie foto é.zip", []byte("geen zip")))
	is("bericht één.zip", "delivered")
	if all := must.Get(o.hub.Messages(t.Context(), "", 1000))(t); len(all) != 1 || all[0].SHA256 != fmt.Sprintf("%x", sha256.Sum256(content)) {
		t.Errorf("arrived: %+v", all)
	}
	marked := func(row int, rgb uint32) bool {
		return xtest.Count(o.Crop(image.Rect(514, 141+52*row, 536, 161+52*row).Add(at)), rgb, 7) > 0
	}
	o.Until("a delivered row and a refused one", func() bool { return marked(0, answeredGreen) && marked(1, trouble) })

	// While a message is being sent, a call is on screen as usual.
	o.hub.Faults().Set(localhub.EndpointTransaction, localhub.Fault{Delay: 8 * time.Second, Times: 1})
	o.Drop(at.X+300, at.Y+300, file("twee.zip", contractZIP(t, 2)))
	o.Until("it is being sent", func() bool { return o.hub.Faults().Pending(localhub.EndpointTransaction) > 0 })
	must.Do(t, dial(o).Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}))
	o.Until("the card", func() bool { return foundOnScreen(o.Screenshot()) })
	if states := listed(); states["twee.zip"] != "sending" {
		t.Errorf("the card waited for the message: %v", states)
	}
	must.Do(t, o.hub.Faults().Reset())
	is("twee.zip", "delivered")
}

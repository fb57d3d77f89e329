package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/xtest"
)

// press chooses a line of the menu as a panel would, where there is none.
func (i *icon) press(title string) {
	i.t.Helper()
	i.has(title)
	menu := i.bus.Object(fmt.Sprintf("org.kde.StatusNotifierItem-%d-1", i.resident.Process.Pid), "/StatusNotifierItem/menu")
	_, ids := xtest.TrayMenu(menu)
	id, ok := ids[title]
	if !ok {
		i.t.Fatalf("%q is not in the menu any more", title)
	}
	if err := xtest.ChooseTray(menu, id); err != nil {
		i.t.Fatal(err)
	}
}

// TestStartInTheMiddleOfTheDay: after a log-off, or when a new version was
// installed, the icon knows that calls have come today, the menu lists them, and a
// pause goes on until it is over.
func TestStartInTheMiddleOfTheDay(t *testing.T) {
	t.Parallel()
	first := onBus(t, prepare(t, "[ui]\nlanguage = \"nl\""))
	first.start()
	p := dial(first.office)
	c := simulate.Call{ID: "1", Number: "+31698760011"}
	if err := p.Ring(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	first.Until("a card", func() bool { return !first.empty() })
	if err := p.End(t.Context(), c, "missed"); err != nil {
		t.Fatal(err)
	}
	first.has("Oproepen… (1 gemist)")
	line := ""
	for _, title := range first.titles() {
		if strings.HasSuffix(title, " · 06 98 76 00 11") {
			line = title
		}
	}
	first.press("Pauzeren tot morgen")
	first.has("Doorgaan")
	paused := first.titles()[0]
	if err := first.resident.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	first.ended("the first session")

	i := onBus(t, prepareAgain(t, first.office))
	i.start()
	i.has(paused)
	if line == "" {
		t.Fatal("the call is not in the first menu")
	}
	i.has(line)
	p = dial(i.office)
	if err := p.Ring(t.Context(), simulate.Call{ID: "2", Number: "0698760012"}); err != nil {
		t.Fatal(err)
	}
	i.Until("the call is kept", func() bool { return len(callsOf(t, i.office)) == 2 })
	if !i.empty() {
		t.Error("a card came in the pause of before")
	}
	if err := p.End(t.Context(), simulate.Call{ID: "2"}, "missed"); err != nil {
		t.Fatal(err)
	}
	i.press("Doorgaan")
	i.Until("ready", func() bool {
		all := i.titles()
		return len(all) > 0 && strings.HasPrefix(all[0], "Klaar. Laatste oproep ontvangen om ")
	}, func() []any { return []any{i.titles()} })
	if err := i.resident.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	i.ended("the second session")

	last := onBus(t, prepareAgain(t, first.office))
	last.start()
	last.Until("what was received before", func() bool {
		all := last.titles()
		return len(all) > 0 && strings.HasPrefix(all[0], "Klaar. Laatste oproep ontvangen om ")
	}, func() []any { return []any{last.titles()} })
	last.press(line)
	last.FindWindow("^Oproepen") // of that call there is no card any more
	last.closeWindow("Oproepen")
	if out, err := last.wiebelt("forget", "--all").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	last.has("Nog geen oproepen")
}

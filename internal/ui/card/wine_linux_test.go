package card

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/winetest"
)

// TestWindowsExplored: under wine a client in another process finds all that stands on a
// card and does what its button says; while it explores them, 500 cards come and go, with
// SOAK 10,000, and the program has what it had.
func TestWindowsExplored(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "card.test.exe")
	build := exec.Command("go", "test", "-c", "-tags", "migrated_fynedo,no_emoji", "-o", exe, ".")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := winetest.New(t)
	cards := p.Start(exe, "-test.run", "^TestServeCards$")
	client := p.Start(winetest.Build(t, "../../native/screenreader/testdata/winclient"))
	cards.Wait("ready")
	do := func(line string) string {
		t.Helper()
		cards.Send(line)
		return cards.Wait("ok ")
	}
	do("show found")
	const news = "Inkomend op Schade (020 123 45 67): J. de Vries, 06 12 34 56 78"
	id, said := "", 0
	for i, f := range walked(t, client) {
		switch {
		case f.Name == "", (f.Depth == 0) != (i == 0):
			t.Errorf("%d: %+v", i, f)
		case f.Name == "Relatie openen" && f.Type == button && f.Focusable:
			id = f.ID
		case f.Name == news:
			said++
		}
	}
	if id == "" || said != 2 { // the card itself, and its news
		t.Fatalf("the button is %q, who calls is there %d times", id, said)
	}
	if got := do("press " + id); got != "press 1" {
		t.Errorf("pressed: %s", got)
	}

	batches, warm := 5, 1
	if os.Getenv("SOAK") != "" {
		batches = 100
	}
	usage := func() (next, memory uint64) {
		must.Get(fmt.Sscanf(do("usage"), "usage %d %d", &next, &memory))(t)
		return next, memory
	}
	var next, memory uint64
	for i := range batches {
		client.Send("walk WiebeltCard")
		do("churn 100")
		client.Wait("ok walk ") // what it found of those that came and went
		p.Screen.Until("a client finds the last card", func() bool { return len(walked(t, client)) > 5 })
		if i == warm {
			next, memory = usage()
		}
	}
	n, m := usage()
	t.Logf("handle %d, then %d; memory %d, then %d", next, n, memory, m)
	if n > next+100 || m > memory+memory/4 {
		t.Error("the program grows")
	}
}

const button = 50000

// onCard is what a client finds on a card.
type onCard struct {
	Depth, Type int
	ID, Name    string
	Focusable   bool
}

// walked is what a client finds on the cards.
func walked(t *testing.T, client *winetest.Process) (all []onCard) {
	t.Helper()
	client.Send("walk WiebeltCard")
	if got := client.Wait("ok walk "); json.Unmarshal([]byte(got), &all) != nil {
		t.Log(got) // the card went meanwhile
	}
	return all
}

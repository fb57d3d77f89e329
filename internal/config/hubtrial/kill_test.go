package hubtrial

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

func TestMain(m *testing.M) {
	processtest.Main(processtest.Roles{"saver": saveForever})
	goleak.VerifyTestMain(m)
}

// saveForever saves settings and a secret in the folder of its first argument, counting up
// from the second, and acknowledges each save by its number.
func saveForever(t must.Test, args []string) {
	d := must.Get(profile.Find(args[0]))(t)
	for n := must.Get(strconv.Atoi(args[1]))(t); ; n++ {
		before, _ := settings.Load(d)
		r := SaveRequest{Changes: numbered(n % 365), Secret: fmt.Sprint("secret-", n), SecretVerified: true}
		must.Get(Save(context.Background(), d, before, r))(t)
		fmt.Println(n)
	}
}

// numbered returns settings that belong together; n is less than 365.
func numbered(n int) map[string]any {
	return map[string]any{"history.days": n + 1, "support.contact": fmt.Sprint(n, strings.Repeat(" x", n%70)),
		"line": []settings.Line{{Number: "0201234567", Name: fmt.Sprint(n)}}}
}

// TestKilledSaver: a process killed while saving leaves the last save that it acknowledged
// or the next one, settings and secret each complete, and never blocks another process that
// writes at the same time.
func TestKilledSaver(t *testing.T) {
	rounds := 25
	if os.Getenv("SOAK") != "" {
		rounds = 500
	}
	d := must.Get(profile.Find(t.TempDir()))(t)
	write(t, d, "# ours\n[ui]\nlanguage = \"nl\" # stays\n")
	ref, err := secret.HubRef("https://hub.example", "office")
	must.Do(t, errors.Join(err, settings.Set(d, map[string]any{"hub.base_url": "https://hub.example", "hub.client_id": "office", "hub.secret_store": "file"})))
	next, mine := 0, 0
	for round := range rounds {
		p := processtest.Start(t, "saver", d.State, fmt.Sprint(next))
		last, until := -1, next+1+rand.IntN(4)
		for line := range p.Lines {
			last = must.Get(strconv.Atoi(line))(t)
			mine++ // another process keeps writing meanwhile
			must.Do(t, settings.Set(d, map[string]any{"card.monitor": fmt.Sprint("number-", mine)}))
			if last == until {
				p.Kill() // it ends by itself only on an error, which is checked below
			}
		}
		if last < until {
			t.Fatalf("round %d: it ended by itself: %v", round, p.Wait())
		}
		set, problems := settings.Load(d)
		now := set.History.Days - 1
		if now != last%365 && now != (last+1)%365 || len(problems) > 0 {
			t.Fatalf("round %d: settings %d after %d: %v", round, now, last, problems)
		}
		want := numbered(now)
		if set.Support.Contact != want["support.contact"] || len(set.Lines) != 1 || set.Lines[0].Name != fmt.Sprint(now) ||
			set.UI.Language != "nl" || set.Card.Monitor != fmt.Sprint("number-", mine) {
			t.Fatalf("round %d: half of one save and half of another: %+v", round, set)
		}
		if b, err := os.ReadFile(settings.Path(d)); err != nil || !strings.HasPrefix(string(b), "# ours\n") {
			t.Fatalf("round %d: what a person wrote is gone: %v", round, err)
		}
		store := secret.Open(secret.KindFile, d)
		if value, err := store.Get(t.Context(), ref); err != nil || value != fmt.Sprint("secret-", last) && value != fmt.Sprint("secret-", last+1) {
			t.Fatalf("round %d: %s after %d: %v", round, value, last, err)
		}
		next = last + 2
	}
}

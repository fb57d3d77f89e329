package resident

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/call"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/health"
	"wiebelt/internal/resident/activity"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
	"wiebelt/internal/text"
)

// TestSourcesNow checks that the configured sources are listed in order, with their state.
func TestSourcesNow(t *testing.T) {
	s := settings.Defaults()
	s.Softphones = []settings.Softphone{{Kind: "wazo", Name: "centrale", Address: "https://pbx.example"}, {Kind: "baresip", Address: "127.0.0.1:4444"}}
	r := &Resident{activity: activity.New()}
	r.effective.Store(&effective{settings: s, lang: text.Dutch})
	want := func(want string) {
		t.Helper()
		got := ""
		for _, w := range r.sourcesNow().Sources {
			got += fmt.Sprintf("%s %s %s %d\n", w.Kind, w.Name, w.Phase, w.Port)
		}
		if got != want {
			t.Errorf("%swant\n%s", got, want)
		}
	}
	r.facts.known.port = 27471
	r.facts.setLink("wazo", "centrale", health.Refused, link.State{Cause: link.NoCause})
	want("websocket  listens 27471\nhttp  listens 27471\nurl  listens 0\ncommand  listens 0\nwazo centrale refused 0\nbaresip   0\n")
	r.facts.setLink("baresip", "127.0.0.1:4444", health.Up, link.State{Cause: link.NoCause})
	r.facts.known.port, r.facts.known.TakenPort = 0, 27471
	want("websocket  taken 27471\nhttp  taken 27471\nurl  listens 0\ncommand  listens 0\nwazo centrale refused 0\nbaresip  up 0\n")
	r.facts.known.NoTokens, r.facts.known.TakenPort = true, 0
	s.Listener.HTTP = false
	want("websocket  keyless 27471\nurl  listens 0\ncommand  listens 0\nwazo centrale refused 0\nbaresip  up 0\n")
	s.Listener.Enabled = false
	r.facts.known.schemeNotDefault = true
	want("url  unopened 0\ncommand  listens 0\nwazo centrale refused 0\nbaresip  up 0\n")
}

// TestLinksFollowTheSettings checks that a link lacking a
// setting is reported only while it is set up.
func TestLinksFollowTheSettings(t *testing.T) {
	d := newDesktop(t)
	w := newSources(t.Context(), d.Resident, new(sync.WaitGroup))
	s := settings.Defaults()
	s.Listener.Enabled = false
	for _, names := range [][]string{{"old", "new"}, {"new"}, nil} {
		s.Softphones = nil
		for _, name := range names {
			s.Softphones = append(s.Softphones, settings.Softphone{Kind: "ari", Name: name, Address: "https://pbx.example"})
		}
		w.apply(s)
		if links := slices.Sorted(maps.Keys(d.facts.read().links)); len(links) != len(names) {
			t.Errorf("%v: %v", names, links)
		}
	}
}

// TestOtherHub checks that a client is replaced when the hub's settings differ, and also
// when only the contents of a certificate file may.
func TestOtherHub(t *testing.T) {
	plain, file := settings.Defaults(), settings.Defaults()
	file.Hub.ExtraCAFile = "/ca.pem"
	for _, c := range []struct {
		old, next  *settings.Settings
		same, want bool
	}{{plain, file, false, true}, {file, file, true, true}, {file, file, false, false}, {plain, plain, true, false}} {
		if got := needsNewClient(c.old, c.next, c.same); got != c.want {
			t.Errorf("%q, then %q, same %v: %v", c.old.Hub.ExtraCAFile, c.next.Hub.ExtraCAFile, c.same, got)
		}
	}
}

// TestLinksAreWoken checks that a sleep wakes all links, and a new
// secret or a clock that was set only the unconnected ones.
func TestLinksAreWoken(t *testing.T) {
	d, _ := running(t)
	d.sources = newSources(t.Context(), d.Resident, new(sync.WaitGroup))
	phases := map[string]health.Phase{"stands": health.Up, "waits": health.Down}
	for name, phase := range phases {
		p := settings.Softphone{Kind: "baresip", Name: name}
		d.sources.links[p] = &source{wake: make(chan struct{}, 1)}
		d.facts.setLink(p.Kind, name, phase, link.State{Cause: link.NoCause})
	}
	woken := func() (names []string) {
		for p, l := range d.sources.links {
			select {
			case <-l.wake:
				names = append(names, p.Name)
			default:
			}
		}
		slices.Sort(names)
		return names
	}
	if d.sources.wake(false); !slices.Equal(woken(), []string{"waits"}) {
		t.Error("with a new secret others were woken")
	}
	if d.resumed(0, time.Hour); !slices.Equal(woken(), []string{"waits"}) {
		t.Error("with the clock set others were woken")
	}
	if d.resumed(time.Hour, 0); !slices.Equal(woken(), []string{"stands", "waits"}) {
		t.Error("not all were woken after a sleep")
	}
}

// TestSleepIsNoticed checks that cards from before a sleep go, whatever woke us after it.
func TestSleepIsNoticed(t *testing.T) {
	d, _ := running(t)
	d.sources = newSources(t.Context(), d.Resident, new(sync.WaitGroup))
	d.settingsFiles = settingsFiles{fingerprint(d.o.Dirs, d.set), make(chan struct{}, 1)}
	until := d.unanswered(t)
	must.Do(t, d.engine.Receive(call.Event{Number: "101", StateSince: time.Now().Add(-time.Minute)}))
	until("a card", func(s *engine.Snapshot) bool { return len(s.Cards) == 1 })
	must.Run(t, func(ctx context.Context) {
		d.followSettings(ctx, func() (slept, set time.Duration) { return time.Hour, time.Hour })
	})
	d.settingsChanged(false)
	until("no card", func(s *engine.Snapshot) bool { return len(s.Cards) == 0 })
}

// TestTokensAreRenewed checks that new tokens take effect and the old ones end, that a damaged
// file has no effect on a listener that runs, and is reported where none can run.
func TestTokensAreRenewed(t *testing.T) {
	d, _ := running(t)
	var work sync.WaitGroup
	t.Cleanup(work.Wait)
	ss := newSources(t.Context(), d.Resident, &work)
	d.set.Listener.Port = nettest.Port(t)
	damage := func() {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(d.o.Dirs.State, secret.TokensName), []byte("{}"), 0o600))
		ss.apply(d.set)
	}
	renewed := func() secret.Tokens {
		t.Helper()
		before := fingerprint(d.o.Dirs, d.set)
		tokens := must.Get(secret.RenewTokens(d.o.Dirs))(t)
		if fingerprint(d.o.Dirs, d.set) == before {
			t.Error("nobody would notice")
		}
		ss.apply(d.set)
		return tokens
	}
	ring := func(tokens secret.Tokens, want int) {
		t.Helper()
		port, _ := ss.access()
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/v1/call/%s?number=101&state=ended", port, tokens.Path), nil))(t)
		r.Close = true
		resp := must.Get(http.DefaultClient.Do(r))(t)
		if _ = resp.Body.Close(); resp.StatusCode != want {
			t.Errorf("answered %d, want %d", resp.StatusCode, want)
		}
	}
	if damage(); !d.facts.read().NoTokens {
		t.Error("damaged at the start, and nobody is told")
	}
	first := renewed()
	ring(first, http.StatusNoContent)
	damage()
	ring(first, http.StatusNoContent)
	second := renewed()
	ring(second, http.StatusNoContent)
	ring(first, http.StatusUnauthorized)
}

// TestLinksOfASort checks what a link reports about itself, as the tray shows it, and what
// is missing for one that cannot even be tried.
func TestLinksOfASort(t *testing.T) {
	for st, want := range map[link.State]health.Phase{
		{Phase: link.Refused, Cause: link.CauseNoSecret}:    health.Incomplete,
		{Phase: link.Refused, Cause: link.CauseSecretStore}: health.Down,
		{Phase: link.Refused, Cause: link.CauseDenied}:      health.Refused,
		{Phase: link.Connected}:                             health.Up,
	} {
		if got := phaseOf(st); got != want {
			t.Errorf("%+v: phase %d, want %d", st, got, want)
		}
	}
	for want, s := range map[link.Cause]settings.Softphone{
		link.CauseNeeds("extension"): {Kind: "ari", Address: "https://pbx.example", User: "u"},
		link.CauseNeeds("address"):   {Kind: "wazo", Extension: "101", User: "u"},
		link.CauseNeeds("user"):      {Kind: "3cx", Address: "https://pbx.example", Extension: "101"},
		link.CauseSettings:           {Kind: "ari", Address: "http://pbx.example", Extension: "101", User: "u"},
	} {
		if got := missingCause(s); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

// TestFactsKeepWhy checks that the cause of a link's trouble is
// reported once and decides who can fix it.
func TestFactsKeepWhy(t *testing.T) {
	var f facts
	if !f.setLink("ari", "centrale", health.Refused, link.State{Cause: link.CauseDenied}) || f.setLink("ari", "centrale", health.Refused, link.State{Cause: link.CauseDenied}) || f.read().links["centrale"].cause != link.CauseDenied {
		t.Error("the cause is not kept, or told as news twice")
	}
	for cause, admin := range map[link.Cause]bool{link.CauseNotListening: false, link.CauseUnavailable: false, link.CauseCertExpired: true} {
		if !f.setLink("ari", "centrale", health.Down, link.State{Cause: cause}) {
			t.Errorf("%s is no news", cause)
		}
		if sources := f.assemble(&engine.Snapshot{}).Sources; len(sources) != 1 || sources[0].NeedsAdmin != admin {
			t.Errorf("%s: %+v", cause, sources)
		}
	}
}

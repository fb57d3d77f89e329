package callactions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/messagetest"
)

const windowsEnv = "WIEBELT_KEPT_TEST_WINDOWS"

// TestMain also is the windows' process that gets killed.
func TestMain(m *testing.M) {
	if os.Getenv(windowsEnv) == "" {
		os.Exit(m.Run())
	}
	fmt.Fprintln(os.Stderr, writeAll(os.Getenv(windowsEnv), os.Args[1:]))
	os.Exit(1)
}

// The things that the windows write, as they are acknowledged.
const (
	wroteSettings = iota // and secrets
	wroteHistory
	wroteOutbox
	wroteKinds
)

// cycle is how many calls and how many messages are written in turn.
const cycle = 4

// writeAll writes settings, secrets, calls and messages at the same time, as the
// windows do and for as long as it lives, and acknowledges each by its kind, its
// number, and what else the test has to know. first has the number to begin with of
// each kind, calls and messages those to write, and gone messages to forget.
func writeAll(dir string, args []string) error {
	var first, calls []int64
	for _, a := range args[:wroteKinds+cycle] {
		n, err := strconv.ParseInt(a, 10, 64)
		if err != nil {
			return err
		}
		first = append(first, n)
	}
	first, calls = first[:wroteKinds], first[wroteKinds:]
	messages, gone := args[wroteKinds+cycle:][:cycle], args[wroteKinds+2*cycle:]
	d, err := profile.Find(dir)
	if err != nil {
		return err
	}
	ctx := context.Background()
	c := New(Params{Dirs: d, Log: slog.New(slog.DiscardHandler), Tell: func(string, any) {}, Settings: func() *settings.Settings {
		s, _ := settings.Load(d)
		return s
	}})
	box, err := outbox.Open(ctx, outbox.Options{Dir: fromsettings.OutboxFolder(d)})
	if err != nil {
		return err
	}
	ended := make(chan error)
	for kind, write := range [wroteKinds]func(n int64) (more any, err error){
		wroteSettings: func(n int64) (any, error) {
			before, _ := settings.Load(d)
			_, err := hubtrial.Save(ctx, d, before, hubtrial.Wanted{Changes: saved(n), Secret: fmt.Sprint("secret-", n), Works: true})
			return "", err
		},
		wroteHistory: func(n int64) (any, error) {
			id := calls[n%cycle]
			if ticks(n) {
				return "", c.Tick(ctx, id)
			}
			return "", c.Reopen(ctx, id)
		},
		wroteOutbox: func(n int64) (any, error) {
			if len(gone) > 0 && n%2 == 0 {
				id := gone[0]
				gone = gone[1:]
				return id, box.Forget(ctx, id, true)
			}
			it, err := box.Retry(ctx, messages[n%cycle])
			return it.NextTry.UnixMicro(), err
		},
	} {
		go func() {
			for n := first[kind]; ; n++ {
				more, err := write(n)
				if err != nil {
					ended <- fmt.Errorf("kind %d, %d: %w", kind, n, err)
					return
				}
				fmt.Println(kind, n, more)
			}
		}()
	}
	return <-ended
}

// saved are the settings of one save, which belong together.
func saved(n int64) map[string]any {
	return map[string]any{
		"history.days":    int(n%365 + 1),
		"support.contact": fmt.Sprint(n, " ", strings.Repeat(string(rune('a'+n%26)), int(n%150))),
		"line":            []settings.Line{{Number: "0201234567", Name: fmt.Sprint(n)}},
	}
}

// ticks reports whether a call is ticked off by a write, or opened again.
func ticks(n int64) bool { return n/cycle%2 == 0 }

// TestKilledWindows: whenever the windows' process is ended while it writes, all
// that it acknowledged is there, all else is as before or as it was to be, and the
// resident, which writes into the same files all the time, is never kept from it.
func TestKilledWindows(t *testing.T) {
	rounds := 50
	if os.Getenv("SOAK") != "" {
		rounds = 500
	}
	d, err := profile.Find(t.TempDir())
	if err == nil {
		err = d.Make()
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.WriteFile(settings.Path(d), []byte("# ours\n[ui]\nlanguage = \"nl\" # stays\n"), 0o600))
	check(settings.Set(d, map[string]any{"hub.base_url": "https://hub.example", "hub.client_id": "office", "hub.secret_store": "file"}))
	ref, err := secret.Hub("https://hub.example", "office")
	check(err)
	store, err := history.Open(fromsettings.HistoryFile(d), history.KeepFull, 7, time.Now)
	check(err)
	defer store.Close()
	box, err := outbox.Open(ctx, outbox.Options{Dir: fromsettings.OutboxFolder(d)})
	check(err)
	defer box.Close()
	file := filepath.Join(t.TempDir(), "bericht.zip")
	added := 0
	add := func() string {
		t.Helper()
		added++
		check(os.WriteFile(file, messagetest.ZIP(t, "bericht.xml", fmt.Sprint(added)), 0o600))
		a, err := box.Add(ctx, outbox.Source{Path: file, Intermediary: "intermediary"})
		check(err)
		return a.Item.ID
	}
	kept := 0
	put := func() int64 {
		t.Helper()
		kept++ // and another number: a later call of the same one would be what is open
		id, err := store.Put(ctx, history.Entry{Rang: time.Now(), Number: fmt.Sprintf("+3120%07d", kept), Result: history.ResultMissed})
		check(err)
		return id
	}
	var calls []int64
	var messages []string
	for range cycle {
		calls, messages = append(calls, put()), append(messages, add())
	}

	var last [wroteKinds]int64 // number of the last write that was acknowledged
	check(settings.Set(d, saved(0)))
	s, err := secret.Open(secret.KindFile, d)
	check(err)
	check(s.Set(ctx, ref, "secret-0"))
	last[wroteHistory], last[wroteOutbox] = -1, -1
	tried := make([]int64, cycle) // when Retry said that a message is sent, in µs
	var acks [wroteKinds]int
	mine, forgotten := 0, 0
	for round := range rounds {
		var args []string
		for _, n := range last {
			args = append(args, fmt.Sprint(n+1))
		}
		for _, id := range calls {
			args = append(args, fmt.Sprint(id))
		}
		gone := map[string]bool{}
		args = append(args, messages...)
		for range 2 {
			id := add()
			gone[id], args = false, append(args, id)
		}
		cmd := exec.CommandContext(ctx, os.Args[0], args...)
		cmd.Env = append(os.Environ(), windowsEnv+"="+d.State)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		check(err)
		check(cmd.Start())
		said, killed := make(chan struct{}), false
		go func() {
			defer close(said)
			in := bufio.NewReader(out)
			for n := 1 + rand.IntN(4); ; n-- { // three kinds are on their way at any moment
				line, err := in.ReadString('\n')
				if err != nil {
					return // what the kill cut in two acknowledges nothing
				}
				if n == 0 {
					killed = cmd.Process.Kill() == nil
				}
				f := strings.Fields(line)
				said <- struct{}{}
				kind, _ := strconv.Atoi(f[0])
				last[kind], _ = strconv.ParseInt(f[1], 10, 64)
				acks[kind]++
				if kind != wroteOutbox {
					continue
				}
				if _, is := gone[f[2]]; is {
					gone[f[2]] = true
				} else {
					tried[last[kind]%cycle], _ = strconv.ParseInt(f[2], 10, 64)
				}
			}
		}()
		for range said { // the resident goes on meanwhile
			put()
			mine++
			check(settings.Set(d, map[string]any{"card.monitor": fmt.Sprint("number-", mine)}))
		}
		if err := cmd.Wait(); !killed {
			t.Fatalf("round %d: the windows' process ended by itself: %v", round, err)
		}

		// What the settings and the secret store have is a whole write, and the last
		// that was acknowledged or the one after.
		is := func(got string, n int64) bool { return got == fmt.Sprint(n) || got == fmt.Sprint(n+1) }
		set, problems := settings.Load(d)
		n, _, _ := strings.Cut(set.Support.Contact, " ")
		if len(problems) > 0 || !is(n, last[wroteSettings]) {
			t.Fatalf("round %d: settings %q after %d, %v", round, n, last[wroteSettings], problems)
		}
		now, _ := strconv.ParseInt(n, 10, 64)
		want := saved(now)
		if set.History.Days != want["history.days"] || set.Support.Contact != strings.TrimSpace(want["support.contact"].(string)) ||
			len(set.Lines) != 1 || set.Lines[0].Name != n || set.UI.Language != "nl" || set.Card.Monitor != fmt.Sprint("number-", mine) {
			t.Fatalf("round %d: half of one and half of another: %+v", round, set)
		}
		if b, err := os.ReadFile(settings.Path(d)); err != nil || !strings.HasPrefix(string(b), "# ours\n") {
			t.Fatalf("round %d: what a person wrote is gone: %v", round, err)
		}
		value, err := s.Get(ctx, ref)
		if err != nil || !is(strings.TrimPrefix(value, "secret-"), last[wroteSettings]) {
			t.Fatalf("round %d: the secret of %s after %d: %v", round, strings.TrimPrefix(value, "secret-"), last[wroteSettings], err)
		}
		last[wroteSettings] = now

		for i, id := range calls {
			e, err := store.Get(ctx, id)
			check(err)
			n := last[wroteHistory]
			n -= (n%cycle - int64(i) + cycle) % cycle // the last that was done with this one
			if next := last[wroteHistory] + 1; n >= 0 && next%cycle != int64(i) && e.Open() == ticks(n) {
				t.Errorf("round %d: call %d open %v after %d", round, i, e.Open(), n)
			}
		}
		for i, id := range messages {
			it, err := box.Get(ctx, id)
			if err != nil || it.NextTry.UnixMicro() < tried[i] {
				t.Errorf("round %d: message %d is tried at %v: %v", round, i, it.NextTry, err)
			}
		}
		for id, said := range gone {
			_, err := box.Get(ctx, id)
			_, copied := os.Stat(filepath.Join(fromsettings.OutboxFolder(d), "spool", id+".zip"))
			switch {
			case said && (!errors.Is(err, outbox.ErrNoItem) || !errors.Is(copied, os.ErrNotExist)):
				t.Errorf("round %d: a message that was forgotten: %v, its copy %v", round, err, copied)
			case err == nil && copied != nil:
				t.Errorf("round %d: a message without its copy: %v", round, copied)
			case said:
				forgotten++
			}
		}
	}
	r, err := history.OpenReadOnly(fromsettings.HistoryFile(d))
	check(err)
	defer r.Close()
	if all, err := r.Since(ctx, time.Time{}, kept+1); err != nil || len(all) != kept {
		t.Errorf("%d calls are kept of %d: %v", len(all), kept, err)
	}
	t.Logf("%d kills; acknowledged: %d saves, %d changes of calls, %d of messages, %d of them forgotten; %d calls and %d settings of the resident's meanwhile",
		rounds, acks[wroteSettings], acks[wroteHistory], acks[wroteOutbox], forgotten, mine, mine)
}

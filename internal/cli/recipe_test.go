package cli

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/gorilla/websocket"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/call"
	"wiebelt/internal/guide"
	"wiebelt/internal/instance"
	"wiebelt/internal/softphone/listener"
	"wiebelt/internal/softphone/scheme"
	"wiebelt/internal/testutil/instancetest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

const (
	inventedNumber = "+31201234567"
	inventedName   = "J. de Vries"
)

var macros = map[string]struct{ number, name string }{
	"3cx-client":  {"%CallerNumber%", "%CallerDisplayName%"},
	"8x8":         {"%%CallerNumber%%", ""},
	"avaya":       {"<m>", "<n>"},
	"wildix":      {"{CALLERNUM}", "{CALLERNAME}"},
	"ringotel":    {"$caller$", "$caller_name$"},
	"enreach":     {"$callerid", ""},
	"innovaphone": {"$n", "$d"},
	"estos":       {"<Call.NumberSC>", "<Call.ContactName>"},
	"globaliptel": {"$RemoteParty", "$RemoteAlias"},
	"any-url":     {"NUMBER", ""},
	"any-program": {"NUMBER", ""},
	"auerswald":   {"", ""}, // the number is appended
}

func asPhone(t *testing.T, id, line, number, name string) string {
	t.Helper()
	m, known := macros[id]
	if !known {
		t.Fatalf("%s: the test does not know how this phone writes a caller", id)
	}
	if m.number == "" {
		return line + number
	}
	if !strings.Contains(line, m.number) {
		t.Errorf("%s: no place for the number in %s", id, line)
	}
	s := strings.ReplaceAll(line, m.number, number)
	if m.name != "" {
		s = strings.ReplaceAll(s, m.name, name)
	}
	return strings.ReplaceAll(s, "$CallGUID", "7c9e6679-7425-40de-944b-e07fc1f90ae7")
}

type eventReceiver chan call.Event

func (k eventReceiver) receive(e call.Event) error { k <- e; return nil }

func (k eventReceiver) next(t *testing.T) call.Event {
	t.Helper()
	return must.Receive(t, k, "an event")
}

// startListener starts a listener and returns it with the values for recipes.
func startListener(t *testing.T) (eventReceiver, guide.Values) {
	t.Helper()
	events := make(eventReceiver, 16)
	v := guide.Values{Exe: "/opt/wiebelt/wiebelt", Ring: "/opt/wiebelt/wiebelt", PathToken: secret.RandomKey(), SocketToken: secret.RandomKey()}
	l := must.Get(listener.Start(t.Context(), listener.Config{SocketToken: v.SocketToken, PathToken: v.PathToken, HTTP: true, Receive: events.receive}))(t)
	t.Cleanup(func() { l.Close() })
	v.Port = l.Port()
	return events, v
}

func get(t *testing.T, address string) int {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))(t)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	resp := must.Get(client.Do(req))(t)
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// TestRecipeAddresses checks that a running listener accepts every address of every
// recipe, with the caller where the phone puts it, and reports what the recipe says. An
// address in which the phone put nothing is refused.
func TestRecipeAddresses(t *testing.T) {
	events, v := startListener(t)
	tried := 0
	for _, r := range guide.All(text.Dutch) {
		states := map[call.State]bool{}
		for _, b := range r.Blocks() {
			if b.Kind != guide.URL && b.Kind != guide.ActionURL {
				continue
			}
			s := must.Get(b.Fill(v))(t)
			for line := range strings.SplitSeq(s, "\n") {
				if b.Kind == guide.ActionURL {
					if strings.HasPrefix(line, "[") {
						continue
					}
					line = strings.TrimPrefix(line, "1=")
				}
				tried++
				if _, query, _ := strings.Cut(line, "?"); strings.ContainsFunc(query, func(r rune) bool { return r == '?' || r == ' ' }) {
					t.Errorf("%s: %s", r.ID, line)
				} else {
					for field := range strings.SplitSeq(query, "&") {
						if name, _, _ := strings.Cut(field, "="); !slices.Contains([]string{"id", "state", "direction", "number", "name"}, name) {
							t.Errorf("%s: nobody reads %q", r.ID, name)
						}
					}
				}
				// Phones that escape the plus, and those that do not.
				for _, number := range []string{inventedNumber, strings.ReplaceAll(inventedNumber, "+", "%2B")} {
					if code := get(t, asPhone(t, r.ID, line, number, "J.%20de%20Vries")); code != http.StatusNoContent {
						t.Errorf("%s: answer %d to %s", r.ID, code, line)
						continue
					}
					e := events.next(t)
					states[e.State] = true
					want := call.Event{Source: e.Source, Number: inventedNumber, At: e.At, State: stateIn(line, "state="),
						Direction: call.ParseDirection(between(line, "direction=", "&"))}
					if strings.Contains(line, "&name=") {
						want.Name = inventedName
					}
					if strings.Contains(line, "&id=") {
						want.ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
					}
					if e != want {
						t.Errorf("%s: %+v, want %+v", r.ID, e, want)
					}
				}
				if r.ID == "auerswald" {
					continue // an empty value is a withheld caller
				}
				if code := get(t, line); code != http.StatusBadRequest {
					t.Errorf("%s: unfilled, answer %d to %s", r.ID, code, line)
				}
			}
		}
		if len(states) > 0 {
			promised(t, r, states)
		}
	}
	if tried < 15 {
		t.Errorf("only %d addresses tried", tried)
	}
}

func promised(t *testing.T, r guide.Recipe, states map[call.State]bool) {
	t.Helper()
	want := map[guide.ReportLevel][3]bool{guide.RingOnly: {true, false, false}, guide.RingAndEnd: {true, false, true}, guide.AllStates: {true, true, true}}[r.ReportLevel]
	if got := [3]bool{states[call.Ringing], states[call.Answered], states[call.Ended]}; got != want {
		t.Errorf("%s tells %q and reports (ringing, answered, ended) %v", r.ID, r.ReportLevel, got)
	}
}

// stateIn returns the state that a line gives after a flag or field.
func stateIn(line, flag string) call.State {
	switch {
	case strings.Contains(line, flag+"answered"):
		return call.Answered
	case strings.Contains(line, flag+"ended"):
		return call.Ended
	}
	return call.Ringing
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

// blocksOf calls do for every block of a kind, of which there must be at least least.
func blocksOf(t *testing.T, kind guide.Kind, least int, do func(guide.Recipe, guide.Block)) {
	t.Helper()
	for _, r := range guide.All(text.Dutch) {
		for _, b := range r.Blocks() {
			if b.Kind == kind {
				least--
				do(r, b)
			}
		}
	}
	if least > 0 {
		t.Errorf("%d blocks of kind %s are missing", least, kind)
	}
}

// TestRecipeLinks checks that every link of every recipe carries the caller.
func TestRecipeLinks(t *testing.T) {
	blocksOf(t, guide.Link, 1, func(r guide.Recipe, b guide.Block) {
		e, err := scheme.Parse(asPhone(t, r.ID, b.Text, inventedNumber, inventedName))
		if err != nil || e.Number != inventedNumber {
			t.Errorf("%s: %+v %v", r.ID, e, err)
		}
	})
}

// TestRecipeMessages checks address, header and messages of the WebSocket.
func TestRecipeMessages(t *testing.T) {
	events, v := startListener(t)
	r, _ := guide.Find(text.English, "any-websocket")
	var s []string
	for _, b := range r.Blocks() {
		f := must.Get(b.Fill(v))(t)
		s = append(s, f)
	}
	name, value, _ := strings.Cut(s[1], ": ")
	conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), s[0], http.Header{name: {value}})
	must.Do(t, err)
	defer conn.Close()
	if p := resp.Header.Get("Sec-WebSocket-Protocol"); p != "wiebelt.v1" {
		t.Errorf("subprotocol %q", p)
	}
	var got []string
	for line := range strings.SplitSeq(s[2], "\n") {
		must.Do(t, conn.WriteMessage(websocket.TextMessage, []byte(line)))
		must.Do(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
		_, answer, err := conn.ReadMessage()
		if err != nil || string(answer) != `{"event":"ack","id":"7f3a"}` {
			t.Errorf("%s answered %s %v", line, answer, err)
		}
		e := events.next(t)
		got = append(got, strings.Join([]string{e.ID, e.State.String(), e.Number, e.Via}, " "))
	}
	if want := []string{"7f3a ringing +31612345678 ", "7f3a answered  ", "7f3a answered 020 987 65 43 Receptie (101)", "7f3a ended  "}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// windowsSplit splits a command line as Windows programs do, at unquoted spaces.
// Backslashes before quotes do not occur here.
func windowsSplit(s string) []string {
	var all []string
	var arg strings.Builder
	quoted, some := false, false
	for _, r := range s {
		switch {
		case r == '"':
			quoted, some = !quoted, true
		case (r == ' ' || r == '\t') && !quoted:
			if some {
				all, some = append(all, arg.String()), false
				arg.Reset()
			}
		default:
			arg.WriteRune(r)
			some = true
		}
	}
	if some {
		all = append(all, arg.String())
	}
	return all
}

// microSIPSplit returns the arguments of a program that MicroSIP runs: the program's name
// is read with quotes, the rest is joined without them, and the caller is appended.
func microSIPSplit(value, number string) []string {
	all := windowsSplit(value)
	rest := strings.Join(all[1:], " ")
	if number != "" {
		rest += " " + number
	}
	return append(all[:1], windowsSplit(rest)...)
}

type ringLine struct {
	id, line string
	in       string // what the phone writes to standard input
	args     []string
}

func ringLines(t *testing.T, v guide.Values) (all []ringLine) {
	t.Helper()
	for _, r := range guide.All(text.Dutch) {
		program := ""
		for _, b := range r.Blocks() {
			if b.Kind == guide.Twinkle {
				continue // takes no spaces and has its own test
			}
			for line := range strings.SplitSeq(must.Get(b.Fill(v))(t), "\n") {
				l := ringLine{id: r.ID, line: line}
				switch {
				case b.Kind == guide.Program:
					program = line
					continue
				case b.Kind == guide.Arguments:
					l.args = windowsSplit(`"` + program + `" ` + asPhone(t, r.ID, line, inventedNumber, inventedName))
				case b.Kind == guide.Run && strings.Contains(line, "--stdin"):
					l.args, l.in = windowsSplit(line), "number="+inventedNumber+"\nname="+inventedName+"\n"
				case b.Kind == guide.Run:
					l.args = windowsSplit(asPhone(t, r.ID, line, inventedNumber, inventedName))
				case b.Kind == guide.MicroSIP:
					_, value, _ := strings.Cut(line, "=")
					l.args = microSIPSplit(value, inventedNumber)
				default:
					continue
				}
				all = append(all, l)
			}
		}
	}
	return all
}

type ringer struct{ eventReceiver }

func (r ringer) Ring(e call.Event) error { return r.receive(e) }

func (ringer) Peer(_ context.Context, _ instance.Hello, c *instance.Conn) { _ = c.Close() }

// running is a running Wiebelt for a profile, as far as calls are concerned.
func running(t *testing.T, dir string) eventReceiver {
	t.Helper()
	d := must.Get(profile.Find(dir))(t)
	must.Do(t, d.Make())
	events := make(eventReceiver, 16)
	instancetest.Serve(t, instance.Config{RunDir: d.Run, Version: "test"}, ringer{events})
	return events
}

func noStart(args []string) []string {
	i := slices.Index(args, "ring")
	return slices.Insert(slices.Clone(args), i+1, "--no-start")
}

// TestRecipeCommands checks that ring accepts every command line of every recipe, split as the phone splits it.
func TestRecipeCommands(t *testing.T) {
	dir := t.TempDir()
	v := guide.Values{Exe: "/opt/my programs/wiebelt", Ring: "/opt/my programs/wiebeltw", Profile: dir, Port: 1}
	if strings.ContainsAny(dir, " ") {
		t.Fatal("the test needs a folder without spaces")
	}
	lines := ringLines(t, v)
	if len(lines) < 12 {
		t.Fatalf("only %d command lines found", len(lines))
	}
	events := running(t, dir)
	states := map[string]map[call.State]bool{}
	for _, l := range lines {
		if l.args[0] != v.Ring {
			t.Errorf("%s: runs %q: %s", l.id, l.args[0], l.line)
		}
		exits(t, exitDone, l.in, noStart(l.args[1:])...)
		e := events.next(t)
		if states[l.id] == nil {
			states[l.id] = map[call.State]bool{}
		}
		states[l.id][e.State] = true
		name := ""
		if l.in != "" || macros[l.id].name != "" && strings.Contains(l.line, macros[l.id].name) {
			name = inventedName
		}
		direction := call.ParseDirection(between(l.line, "--direction ", " "))
		if e.Number != inventedNumber || e.State != stateIn(l.line, "--state ") || e.Name != name || e.Direction != direction {
			t.Errorf("%s: %+v\n%s", l.id, e, l.line)
		}
	}
	for id, got := range states {
		r, _ := guide.Find(text.Dutch, id)
		promised(t, r, got)
	}

	// MicroSIP passes no argument for a caller without a number. A caller's name is never an option.
	r, _ := guide.Find(text.Dutch, "microsip")
	s := must.Get(r.Blocks()[0].Fill(v))(t)
	_, value, _ := strings.Cut(strings.Split(s, "\n")[0], "=")
	for _, number := range []string{"", "anonymous", "--state=ended", "-h", "--profile", `a"b`} {
		exits(t, exitDone, "", noStart(microSIPSplit(value, number)[1:])...)
		if e := events.next(t); e.State != call.Ringing || e.Number != strings.ReplaceAll(number, `"`, "") {
			t.Errorf("%q became %+v", number, e)
		}
	}
}

// TestRecipeTwinkle: Twinkle splits at white space only and passes the call in the environment.
func TestRecipeTwinkle(t *testing.T) {
	dir := t.TempDir()
	v := guide.Values{Exe: "/usr/bin/wiebelt", Ring: "/usr/bin/wiebelt", Profile: dir}
	r, _ := guide.Find(text.Dutch, "twinkle")
	s := must.Get(r.Blocks()[0].Fill(v))(t)
	t.Setenv("SIP_FROM", `"J. de Vries" <sip:`+inventedNumber+`@pbx.example>;tag=1`)
	t.Setenv("SIP_TO", `<sip:`+inventedNumber+`@pbx.example>`)
	t.Setenv("SIP_CALL_ID", "7f3a")
	check := func(want int, got func(trigger string)) {
		for line := range strings.SplitSeq(s, "\n") {
			key, value, _ := strings.Cut(line, "=")
			trigger := map[string]string{"script_incoming_call": "in_call", "script_outgoing_call": "out_call"}[key]
			trigger = cmp.Or(trigger, strings.TrimPrefix(key, "script_"))
			t.Setenv("TWINKLE_TRIGGER", trigger)
			args := strings.Fields(value)
			if args[0] != v.Ring {
				t.Errorf("runs %q", args[0])
			}
			exits(t, want, "", noStart(args[1:])...).says("action=continue")
			got(trigger)
		}
	}
	check(exitNotRunning, func(string) {})
	events := running(t, dir)
	check(exitDone, func(trigger string) {
		words := strings.Split(trigger, "_")
		want := map[string]call.State{"answered": call.Answered, "failed": call.Ended, "release": call.Ended}[words[len(words)-1]]
		if e := events.next(t); e.ID != "7f3a" || e.State != want {
			t.Errorf("%s: %+v", trigger, e)
		}
	})
}

// TestRecipeSettings checks that our settings file accepts what recipes put into it.
func TestRecipeSettings(t *testing.T) {
	blocksOf(t, guide.Settings, 6, func(r guide.Recipe, b guide.Block) {
		d := must.Get(profile.Find(t.TempDir()))(t)
		must.Do(t, os.WriteFile(settings.Path(d), []byte(b.Text+"\n"), 0o600))
		s, problems := settings.Load(d)
		if len(problems) > 0 || len(s.Softphones) != 1 || s.Softphones[0].Name == "" {
			t.Errorf("%s: %v %+v", r.ID, problems, s.Softphones)
			return
		}
		if _, err := fromsettings.Softphone(d, secret.KindFile, s.Softphones[0]); err != nil {
			t.Errorf("%s: %v", r.ID, err)
		}
	})
}

// TestRecipeTyped checks that every line a person types is one
// of our commands with flags it has. It is parsed, not run.
func TestRecipeTyped(t *testing.T) {
	v := guide.Values{Exe: "/usr/bin/wiebelt", Profile: t.TempDir()}
	blocksOf(t, guide.Command, 2, func(r guide.Recipe, b guide.Block) {
		s := must.Get(b.Fill(v))(t)
		args := windowsSplit(s)
		if args[0] != v.Exe {
			return // another program's
		}
		p := must.Get(kong.New(&commands{}, kong.Bind(&env{})))(t)
		if _, err := p.Parse(args[1:]); err != nil {
			t.Errorf("%s: %s: %v", r.ID, s, err)
		}
	})
}

func TestRecipeCommand(t *testing.T) {
	dir := t.TempDir()
	exits(t, 0, "", "recipe", "--profile", dir, "--language", "en").says("microsip  ", "Phone with a web address")
	d := must.Get(profile.Find(dir))(t)
	tokens := must.Get(secret.EnsureTokens(d))(t)
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, r := range guide.All(l) {
			s := exits(t, 0, "", "recipe", "--profile", dir, "--language", string(l), r.ID).says(r.VerifiedNote).hides("{{")
			if s.err != "" || !strings.HasPrefix(s.out, r.Title+"\n") {
				t.Errorf("%s: %s%s", r.ID, s.out, s.err)
			}
			wants := slices.ContainsFunc(r.Blocks(), guide.Block.HasToken)
			if has := strings.Contains(s.out, tokens.Path) || strings.Contains(s.out, tokens.Socket); has != wants {
				t.Errorf("%s: token %v, want %v", r.ID, has, wants)
			}
		}
	}
	if s := exits(t, exitUsage, "", "recipe", "--profile", dir, "nokia"); s.out != "" || strings.Contains(s.err, "nokia") {
		t.Errorf("%s%s", s.out, s.err)
	}
	for typed, meant := range map[string]string{"mircosip": "microsip", "Asterix": "asterisk", "3cx": "3cx-client, 3cx-v20", "ProCall": "estos", "z": "lists them.\n"} {
		exits(t, exitUsage, "", "recipe", "--profile", dir, "--language", "en", typed).complains(meant)
	}
	exits(t, exitUsage, "", "recipe", "--profile", dir, "--language", "de", "microsip")
	if runtime.GOOS == "windows" {
		return // there, others can read the file below whatever its mode
	}
	path := filepath.Join(dir, settings.FileName)
	must.Do(t, os.WriteFile(path, []byte("[listener]\nport = 27480\nhttp = false\n"), 0o600))
	exits(t, 0, "", "recipe", "--profile", dir, "--language", "en", "enreach").says("127.0.0.1:27480/").complains("listener.http")
}

package e2e

import (
	"context"
	"debug/elf"
	"encoding/json"
	"fmt"
	"image"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/call"
	"wiebelt/internal/companion"
	"wiebelt/internal/contact"
	"wiebelt/internal/hub"
	"wiebelt/internal/localhub"
	"wiebelt/internal/phone"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/phonetest"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

// fonts guards Fyne's application, of which a process has one.
var fonts sync.Mutex

// foundCard is what the card of a contact should look like.
func foundCard(t *testing.T, number, line string, k ...contact.Contact) *image.RGBA {
	t.Helper()
	fonts.Lock()
	defer fonts.Unlock()
	rules, err := phone.NewRules(phone.Config{Region: "NL", InternalDigits: 4})
	if err != nil {
		t.Fatal(err)
	}
	c := companion.Card{Outcome: companion.Found, Number: rules.Parse(number, ""), Contacts: k, Opened: -1, Times: 1, Tells: call.TellsAll, Rang: time.Now()}
	if len(k) > 1 {
		c.Outcome = companion.Several
	}
	for range k {
		c.LinkOK = append(c.LinkOK, true)
	}
	c.LineText, c.LineName = rules.Line(line)
	return card.Picture(c, card.Look{Language: text.Dutch}, 1)
}

// TestRealCall is the whole product: sipp calls baresip, the card shows who it
// is, a click opens the file in a real browser, which asks for a login first.
func TestRealCall(t *testing.T) {
	t.Parallel()
	sip, control := phonetest.StartBaresip(t)
	o := prepare(t, "[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\naddress = \""+control+"\"")
	data := filepath.Join(o.Dir, "chromium")
	pid := filepath.Join(o.Dir, "chromium.pid")
	notes := o.opener("echo $$ > " + pid + "\nexec chromium --no-sandbox --disable-gpu --no-first-run --disable-background-networking" +
		" --disable-component-update --disable-sync --disable-quic --password-store=basic --user-data-dir=" + data +
		" --remote-debugging-port=0 --window-position=0,0 --window-size=800,700 \"$1\" >/dev/null 2>&1")
	o.start()
	o.Until("the link is up", func() bool { return strings.Contains(o.log.String(), "state=connected") })
	t.Cleanup(func() { endProcess(t, pid) })

	phonetest.Place(t, sip, phonetest.Scenario{Number: "+31698760011", Name: "Iemand Anders", Ring: 90 * time.Second})
	o.shows("the card of the caller", foundCard(t, "+31698760011", "sip:101@127.0.0.1", vries.Contact))
	if n := len(opened(notes)); n != 0 {
		t.Fatalf("%d pages were opened by themselves", n)
	}
	button := place(foundHeight).Min.Add(image.Pt(122, 230))
	// Not within the moment in which a click cannot have been meant.
	o.Move(button.X, button.Y)
	time.Sleep(400 * time.Millisecond)
	o.Click(button.X, button.Y, 1)

	want := o.hub.HubURL() + "/contacts/viewcontact/c-vries"
	o.Until("the browser is started with the link", func() bool { return len(opened(notes)) == 1 })
	if got := opened(notes)[0]; got != want {
		t.Fatalf("opened %q, want %q", got, want)
	}
	o.Until("the login page", func() bool { return strings.Contains(page(data), "/login") })
	if n := o.hub.Stats().Files; n != 0 {
		t.Fatalf("%d files were shown before the login", n)
	}
	o.Until("the customer file after the login", func() bool {
		if page(data) == want {
			return true
		}
		logIn(data)
		return false
	})
	o.Until("the file was shown", func() bool { return o.hub.Stats().Files > 0 })
}

// tab is what the browser shows.
type tab struct {
	Type, URL string
	Socket    string `json:"webSocketDebuggerUrl"`
}

func tabOf(data string) tab {
	b, err := os.ReadFile(filepath.Join(data, "DevToolsActivePort"))
	if err != nil {
		return tab{}
	}
	port, _, _ := strings.Cut(string(b), "\n")
	c := http.Client{Timeout: 2 * time.Second}
	resp, err := c.Get("http://127.0.0.1:" + port + "/json/list")
	if err != nil {
		return tab{}
	}
	defer resp.Body.Close()
	var tabs []tab
	if json.NewDecoder(resp.Body).Decode(&tabs) != nil {
		return tab{}
	}
	for _, t := range tabs {
		if t.Type == "page" {
			return t
		}
	}
	return tab{}
}

// page is the address that the browser shows.
func page(data string) string { return tabOf(data).URL }

// logIn presses the login page's button, whose fields the local hub has filled
// in, once the page is there.
func logIn(data string) {
	t := tabOf(data)
	if !strings.Contains(t.URL, "/login") {
		return
	}
	c, _, err := websocket.DefaultDialer.Dial(t.Socket, nil)
	if err != nil {
		return
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(2 * time.Second))
	const press = `document.readyState === "complete" && !window.pressed && (window.pressed = true) && document.forms[0].requestSubmit()`
	if c.WriteJSON(map[string]any{"id": 1, "method": "Runtime.evaluate", "params": map[string]string{"expression": press}}) == nil {
		_, _, _ = c.ReadMessage()
	}
}

func endProcess(t *testing.T, file string) {
	b, err := os.ReadFile(file)
	if err != nil {
		return
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Error(err)
		return
	}
	_ = syscall.Kill(n, syscall.SIGTERM)
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if syscall.Kill(n, 0) != nil {
			return
		}
	}
	_ = syscall.Kill(n, syscall.SIGKILL)
}

// lookUp asks the hub the way the resident does, in the order of the card.
func lookUp(t *testing.T, o *office, number string) []contact.Contact {
	t.Helper()
	value, err := o.hub.AddClient(t.Context(), "test", "1234")
	if err != nil {
		t.Fatal(err)
	}
	c, err := hub.New(hub.Config{BaseURL: o.hub.BaseURL(), ClientID: "test", OrganisationCode: "1234",
		Secret: func(context.Context) (string, error) { return value, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	found, err := c.Lookup(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(found, func(a, b contact.Contact) int { return strings.Compare(a.SortKey(), b.SortKey()) })
	return found
}

func dial(o *office) *simulate.Phone {
	o.t.Helper()
	a := o.at()
	p, err := simulate.Dial(o.t.Context(), a.Port, a.Token)
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { _ = p.Close() })
	return p
}

// TestSharedNumber: three contacts with one number are all on the card, none is
// preselected, none is opened.
func TestSharedNumber(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	notes := o.opener("exit 0")
	p := dial(o)
	if err := p.Ring(t.Context(), simulate.Call{ID: "1", Number: "+31201234567"}); err != nil {
		t.Fatal(err)
	}
	family, err := o.hub.Sample(t.Context(), localhub.Family)
	if err != nil {
		t.Fatal(err)
	}
	if len(family.IDs) != 3 {
		t.Fatalf("%d contacts share the number", len(family.IDs))
	}
	o.shows("a card with all three", foundCard(t, "+31201234567", "", lookUp(t, o, "+31201234567")...))
	if err := p.Answer(t.Context(), simulate.Call{ID: "1", Number: "+31201234567"}); err != nil {
		t.Fatal(err)
	}
	if err := p.End(t.Context(), simulate.Call{ID: "1", Number: "+31201234567"}, "completed"); err != nil {
		t.Fatal(err)
	}
	if n := len(opened(notes)); n != 0 {
		t.Fatalf("%d files were opened by themselves", n)
	}
}

// TestNoKeyIsLost types 500 keys into another window while 50 calls come and go.
func TestNoKeyIsLost(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	term := o.Terminal(image.Rect(40, 40, 600, 400))
	p := dial(o)
	keys := strings.Repeat("abcdefghij", 50)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range 50 {
			c := simulate.Call{ID: strconv.Itoa(n), Number: fmt.Sprintf("06987%05d", n)}
			if n%3 == 0 {
				c.Number = "+31698760011"
			}
			if err := p.Ring(t.Context(), c); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(60 * time.Millisecond) // the calls spread over the typing
			if err := p.End(t.Context(), c, "missed"); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	o.Type(keys, 8)
	<-done
	term.WaitText(keys)
}

// TestRefusedBeforeAnythingElse: what a web page can send never becomes a card.
func TestRefusedBeforeAnythingElse(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	a := o.at()
	base := fmt.Sprintf("http://127.0.0.1:%d", a.Port)
	for name, c := range map[string]struct {
		path   string
		header http.Header
		host   string
	}{
		"foreign origin":  {"/v1/events", http.Header{"Origin": {"https://evil.example"}, "Authorization": {"Bearer " + a.Token}}, ""},
		"null origin":     {"/v1/events", http.Header{"Origin": {"null"}, "Authorization": {"Bearer " + a.Token}}, ""},
		"rebinding host":  {"/v1/events", http.Header{"Authorization": {"Bearer " + a.Token}}, "evil.example"},
		"no token":        {"/v1/events", http.Header{}, ""},
		"wrong token":     {"/v1/events", http.Header{"Authorization": {"Bearer " + strings.Repeat("A", 43)}}, ""},
		"GET without":     {"/v1/call?number=0612345678", http.Header{}, ""},
		"GET wrong path":  {"/v1/call/" + strings.Repeat("A", 43) + "?number=0612345678", http.Header{}, ""},
		"GET from a page": {"/v1/call?number=0612345678", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Authorization": {"Bearer " + a.Token}}, ""},
		"prefetch":        {"/v1/call?number=0612345678", http.Header{"Sec-Purpose": {"prefetch"}, "Authorization": {"Bearer " + a.Token}}, ""},
		"GET rebinding":   {"/v1/call?number=0612345678", http.Header{"Authorization": {"Bearer " + a.Token}}, "evil.example"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = c.header
		if strings.HasSuffix(c.path, "events") {
			for k, v := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
				"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "wiebelt.v1"} {
				r.Header.Set(k, v)
			}
		}
		r.Host = c.host
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode < 400 || resp.StatusCode >= 500 {
			t.Errorf("%s: status %d", name, resp.StatusCode)
		}
	}
	if !o.empty() {
		t.Error("a card came up")
	}
	if n := o.hub.Stats().Lookups; n != 0 {
		t.Errorf("%d lookups", n)
	}
	// The same way in works for those who may.
	if err := dial(o).Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}); err != nil {
		t.Fatal(err)
	}
	o.shows("a card for a good call", foundCard(t, "+31698760011", "", vries.Contact))
}

// TestHostileArguments gives the program what a hostile caller or page could:
// a clear error or a cleaned card, never a crash, never something opened.
func TestHostileArguments(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	notes := o.opener("exit 0")
	hostile := []string{"", " ", "anonymous", "%CallerNumber%", "{phone}", "--help", "-x", "--profile", "$(id)", "`id`", "; rm -rf x", "'", "\"", "\\", "\n", "\t0612345678", "0612345678\r\nX: y",
		"\u202e87654321600", "０６１２３４５６７８", strings.Repeat("9", 100_000), strings.Repeat("é", 5000), "sip:evil@[::1]", "tel:+31;phone-context=" + strings.Repeat("x", 500), "<script>", "file:///etc/passwd", "https://evil.example/", "0612345678 --state ended"}
	code := func(args ...string) int {
		cmd := o.Command(o.bin, args...)
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "panic") || strings.Contains(string(out), "goroutine") {
			t.Errorf("%q: %s", args, out)
		}
		if err != nil && cmd.ProcessState == nil {
			t.Fatalf("%q: %v", args, err)
		}
		return cmd.ProcessState.ExitCode()
	}
	for _, h := range hostile {
		if c := code("ring", "--profile", o.profile, "--", h); c != 0 {
			t.Errorf("ring -- %.40q: exit %d", h, c)
		}
		if c := code("ring", "--profile", o.profile, "--name", "n"+h, "--id", "i"+h, "--via", "v"+h, "--", "0612345678"); c != 0 {
			t.Errorf("ring --name %.40q: exit %d", h, c)
		}
		if c := code("open-url", "--profile", o.profile, "--", h); c != 2 {
			t.Errorf("open-url -- %.40q: exit %d", h, c)
		}
	}
	if c := code("ring", "--no-such-flag", "--", "0612345678"); c != 2 {
		t.Errorf("unknown flag: exit %d", c)
	}
	for _, args := range [][]string{{}, {"wiebelt:call?number=1"}, {"--", "wiebelt:call?number=0612345678", "x"}, {"--", "-x", "--"}, {"--profile", `\\evil\share`, "--", "wiebelt:call?number=0612345678"},
		{"--profile", "relative", "--", "wiebelt:call?number=0612345678"}, {"--state", "ended", "--", "wiebelt:call?number=0612345678"},
		{"--", "wiebelt:call?state=ended&number=0612345678"}, {"--", "wiebelt:open?number=0612345678"}, {"--", "http://evil.example"}, {"--", "wiebelt:call?number=" + strings.Repeat("1", 1<<20)[:100_000]}} {
		if c := code(append([]string{"open-url"}, args...)...); c != 2 {
			t.Errorf("open-url %.80q: exit %d", args, c)
		}
	}
	if err := o.resident.Process.Signal(syscall.Signal(0)); err != nil {
		t.Fatal("the resident has gone")
	}
	if n := len(opened(notes)); n != 0 {
		t.Errorf("%d addresses were opened", n)
	}
}

// TestTwentyRingsBeforeTheStart: twenty calls while nothing runs make one
// resident, and none is lost.
func TestTwentyRingsBeforeTheStart(t *testing.T) {
	t.Parallel()
	o := prepare(t, "")
	t.Cleanup(func() {
		if b, err := os.ReadFile(o.announced()); err == nil {
			var a struct{ PID int }
			if json.Unmarshal(b, &a) == nil && a.PID > 1 {
				_ = syscall.Kill(a.PID, syscall.SIGTERM)
				for end := time.Now().Add(10 * time.Second); time.Now().Before(end) && syscall.Kill(a.PID, 0) == nil; time.Sleep(20 * time.Millisecond) {
				}
			}
		}
	})
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			if out, err := o.wiebelt("ring", "--id", strconv.Itoa(n), "--", fmt.Sprintf("06987%05d", n)).CombinedOutput(); err != nil {
				t.Errorf("ring %d: %v: %s", n, err, out)
			}
		})
	}
	all.Wait()
	o.Until("twenty calls in the history", func() bool { return len(callsOf(t, o)) == 20 })
	o.Until("one resident", func() bool { return residents(o) == 1 })
	if files, _ := filepath.Glob(filepath.Join(o.profile, "run", "inbox", "*")); len(files) != 0 {
		t.Errorf("%d calls lie in the inbox", len(files))
	}
}

// residents counts the programs that run with the office's profile.
func residents(o *office) int {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	n := 0
	for _, f := range all {
		b, err := os.ReadFile(f)
		if err == nil && strings.HasPrefix(string(b), o.bin+"\x00") && strings.Contains(string(b), "\x00"+o.profile+"\x00") {
			n++
		}
	}
	return n
}

// TestIdle: the resident needs no library of the system, no OpenGL,
// and little memory; idle it does nothing.
func TestIdle(t *testing.T) {
	t.Parallel()
	o := prepare(t, "")
	f, err := elf.Open(o.bin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if libs, _ := f.ImportedLibraries(); len(libs) != 0 {
		t.Errorf("needs %v", libs)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("needs a dynamic linker")
		}
	}
	o.start()
	p := dial(o)
	if err := p.Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}); err != nil {
		t.Fatal(err)
	}
	o.shows("a card", foundCard(t, "+31698760011", "", vries.Contact))
	if err := p.End(t.Context(), simulate.Call{ID: "1"}, "missed"); err != nil {
		t.Fatal(err)
	}
	o.Until("no card", o.empty)
	_ = p.Close()
	before := ticks(t, o.resident.Process.Pid)
	time.Sleep(60 * time.Second) // this is what is measured
	used := ticks(t, o.resident.Process.Pid) - before
	rss := memory(t, o.resident.Process.Pid)
	t.Logf("idle for 60 s: %d ticks of CPU, %d kB resident", used, rss)
	if used > 3 { // 0.05 % of a core
		t.Errorf("%d ticks of CPU in 60 s", used)
	}
	if rss > 64<<10 {
		t.Errorf("%d kB resident", rss)
	}
}

func ticks(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	u, _ := strconv.Atoi(f[11])
	s, _ := strconv.Atoi(f[12])
	return u + s
}

func memory(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(l, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.Fields(v)[0])
			return n
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

// TestNothingInTheTempFolder: through one call the resident opens nothing in the
// folder that every user of the machine can write to.
func TestNothingInTheTempFolder(t *testing.T) {
	t.Parallel()
	o := prepare(t, "")
	tmp, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	o.start("env", "TMPDIR="+tmp, "strace", "-f", "-qq", "-e", "trace=openat,open,creat,mkdirat,mkdir,unlinkat,renameat", "-o", trace)
	if err := dial(o).Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}); err != nil {
		t.Fatal(err)
	}
	o.shows("a card", foundCard(t, "+31698760011", "", vries.Contact))
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for l := range strings.Lines(string(b)) {
		seen++
		if strings.Contains(l, `"`+tmp) || strings.Contains(l, `"/tmp/fyne`) {
			t.Errorf("%s", strings.TrimSpace(l))
		}
	}
	if seen < 10 {
		t.Errorf("only %d calls traced", seen)
	}
}

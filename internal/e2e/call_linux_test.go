package e2e

import (
	"encoding/json"
	"image"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/phonetest"
	"wiebelt/internal/testutil/xtest"
)

// TestRealCall tests the whole product: sipp calls baresip, the card shows the
// caller, and a click opens the file in a real browser, which asks for a login first.
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
	// Wait out the moment in which a click cannot have been intentional.
	o.Move(button.X, button.Y)
	meant()
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
		evaluate(data, press)
		return false
	}, func() []any { return []any{"but", page(data), evaluate(data, "document.body.innerText")} })
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

// page returns the address that the browser shows.
func page(data string) string { return tabOf(data).URL }

// press presses the login page's button, with the fields filled in by the local hub, once
// the page is there, and again after a while like users do.
const press = `location.pathname === "/login" && document.readyState === "complete" && Date.now() > (window.pressed || 0) + 5000 && (window.pressed = Date.now()) && document.forms[0].requestSubmit()`

// evaluate evaluates an expression in the browser's page, and returns the result.
func evaluate(data, expression string) string {
	c, _, err := websocket.DefaultDialer.Dial(tabOf(data).Socket, nil)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(2 * time.Second))
	if err := c.WriteJSON(map[string]any{"id": 1, "method": "Runtime.evaluate", "params": map[string]string{"expression": expression}}); err != nil {
		return err.Error()
	}
	_, answer, err := c.ReadMessage()
	if err != nil {
		return err.Error()
	}
	return string(answer)
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
	xtest.End(n)
}

// dial connects a phone to the listener.
func dial(o *office) *simulate.Phone {
	o.t.Helper()
	a := o.at()
	p := must.Get(simulate.Dial(o.t.Context(), a.Port, a.Token))(o.t)
	o.t.Cleanup(func() { _ = p.Close() })
	return p
}

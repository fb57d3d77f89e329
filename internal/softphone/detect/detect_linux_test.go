package detect

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/phonetest"
	"wiebelt/internal/testutil/winetest"
)

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// found detects phones on a computer with these programs and ports.
func found(t *testing.T, home, ini string, programs []Process, ports ...string) []Phone {
	t.Helper()
	return Find(t.Context(), System{Home: home, Baresip: filepath.Join(home, ".baresip"), MicroSIP: ini, PassiveListens: true, Processes: func() []Process { return programs },
		Listens: func(_ context.Context, at netip.AddrPort) bool { return slices.Contains(ports, at.String()) }})
}

func TestBaresip(t *testing.T) {
	const on = "module_app ctrl_tcp.so\n"
	for _, tt := range []struct {
		name, config string
		ports        []string
		want         Phone
	}{
		{"as it comes", on, []string{"127.0.0.1:4444"}, Phone{Kind: registry.Baresip, Address: "127.0.0.1:4444"}},
		{"an address", on + "ctrl_tcp_listen\t127.0.0.1:5555 # ours\n", []string{"127.0.0.1:5555"}, Phone{Kind: registry.Baresip, Address: "127.0.0.1:5555"}},
		{"everywhere", on + "ctrl_tcp_listen 0.0.0.0:4445\n", []string{"127.0.0.1:4445"}, Phone{Kind: registry.Baresip, Address: "127.0.0.1:4445"}},
		{"switched off", "#module_app ctrl_tcp.so\n", []string{"127.0.0.1:4444"}, Phone{Kind: registry.Baresip, Obstacle: InterfaceOff}},
		{"set, not yet started anew", on, nil, Phone{Kind: registry.Baresip, Obstacle: InterfaceOff}},
		{"on the network", on + "ctrl_tcp_listen 192.0.2.1:4444\n", []string{"192.0.2.1:4444"}, Phone{Kind: registry.Baresip,
			Obstacle: InterfaceOff}},
		{"nonsense", on + "ctrl_tcp_listen here\n", []string{"127.0.0.1:4444"}, Phone{Kind: registry.Baresip, Obstacle: InterfaceOff}},
	} {
		home, dir := t.TempDir(), t.TempDir()
		put(t, home, ".baresip/config", tt.config)
		put(t, dir, "config", tt.config)
		for _, args := range [][]string{nil, {"-t", "9", "-f", dir}} {
			if got := found(t, home, "", []Process{{"baresip", args}}, tt.ports...); len(got) != 1 || got[0] != tt.want {
				t.Errorf("%s %v: %+v", tt.name, args, got)
			}
		}
		if got := found(t, home, "", []Process{{"notbaresip", nil}}, tt.ports...); len(got) != 0 {
			t.Errorf("%s: it does not run: %+v", tt.name, got)
		}
	}
}

func TestPhonesThatRunAProgram(t *testing.T) {
	const mine = `"C:\Program Files\Wiebelt\wiebeltw.exe" ring --state ringing --`
	for _, tt := range []struct {
		name, line string
		open       bool
		want       Phone
	}{
		{"nothing set", "", false, Phone{}},
		{"it runs", "", true, Phone{Obstacle: PhoneRunning}},
		{"ours", mine, true, Phone{RunsWiebelt: true}},
		{"another program's", `C:\crm\pop.exe`, false, Phone{Obstacle: OtherProgram}},
	} {
		home := t.TempDir()
		ini := put(t, home, "MicroSIP/microsip.ini", "[Settings]\r\ncmdCallRing="+tt.line+"\r\n")
		profile := put(t, home, ".twinkle/office.cfg", "user_name=101\nscript_incoming_call="+tt.line+"\n")
		put(t, home, ".twinkle/twinkle.cfg", "something=else\n")
		var running []Process
		if tt.open {
			running = []Process{{"MicroSIP.exe", nil}, {"twinkle", nil}}
		}
		micro, twin := tt.want, tt.want
		micro.Kind, micro.File, twin.Kind, twin.File = MicroSIP, ini, registry.Twinkle, profile
		if got := found(t, home, ini, running); len(got) != 2 || got[0] != micro || got[1] != twin {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
	if got := found(t, t.TempDir(), "/nowhere/microsip.ini", nil); len(got) != 0 {
		t.Errorf("found %+v", got)
	}
	home := t.TempDir() // has folders in place of their files
	put(t, home, "microsip.ini/x", "")
	put(t, home, ".twinkle/office.cfg/x", "")
	got := found(t, home, filepath.Join(home, "microsip.ini"), []Process{{"microsip.exe", nil}})
	if len(got) != 2 || got[0].Obstacle != SettingsUnreadable || got[1].Obstacle != SettingsUnreadable {
		t.Errorf("unread: %+v", got)
	}
}

func TestLinphoneAndBria(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want Phone
	}{
		{[]string{"--pipe", "lp", "--disable-stats-events"}, Phone{Kind: registry.Linphone, Address: "lp"}},
		{[]string{"--pipe=lp"}, Phone{Kind: registry.Linphone, Address: "lp"}},
		{[]string{"--pipe", "/run/user/1000/lp"}, Phone{Kind: registry.Linphone, Address: "/run/user/1000/lp"}},
		{nil, Phone{Kind: registry.Linphone, Obstacle: InterfaceOff}},
		{[]string{"--pipe", "../x"}, Phone{Kind: registry.Linphone, Obstacle: InterfaceOff}},
		{[]string{"--pipe"}, Phone{Kind: registry.Linphone, Obstacle: InterfaceOff}},
		{[]string{"--pipe", strings.Repeat("x", 81)}, Phone{Kind: registry.Linphone, Obstacle: InterfaceOff}},
	} {
		if got := found(t, "", "", []Process{{"linphone-daemon", tt.args}, {"linphone-daemon", tt.args}}); len(got) != 1 || got[0] != tt.want {
			t.Errorf("%v: %+v", tt.args, got)
		}
	}
	if got := found(t, "", "", nil, "127.0.0.1:9002"); len(got) != 1 || got[0] != (Phone{Kind: registry.Bria}) {
		t.Errorf("%+v", got)
	}
}

// TestRealBaresip: detection finds a running phone at its
// port without disturbing it: its client stays connected.
func TestRealBaresip(t *testing.T) {
	b := phonetest.New(t)
	conn := must.Get(net.Dial("tcp", b.Control))(t)
	defer conn.Close()
	for _, p := range Find(t.Context(), ThisSystem()) {
		if p.Address == b.Control {
			t.Error("a phone with another home folder was taken for the user's")
		}
	}
	t.Setenv("HOME", b.Home())
	got := Find(t.Context(), ThisSystem())
	if !slices.Contains(got, Phone{Kind: registry.Baresip, Address: b.Control}) {
		t.Errorf("%+v, want one at %s", got, b.Control)
	}
	const ask = `{"command":"about","token":"x"}`
	must.Get(fmt.Fprintf(conn, "%d:%s,", len(ask), ask))(t)
	must.Do(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
	answer := make([]byte, 4<<10)
	if n, err := conn.Read(answer); err != nil || !strings.Contains(string(answer[:n]), "response") {
		t.Errorf("%q, %v", answer[:n], err)
	}
}

// TestWindows runs the Windows detection under wine.
func TestWindows(t *testing.T) { winetest.New(t).Test(winetest.BuildTests(t), 1) }

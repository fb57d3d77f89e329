// Package detect finds the softphones of this computer that Wiebelt can be
// connected to without anybody knowing a port: by the programs that this user
// runs and by the settings files that these phones keep. It
// only looks. It opens no connection to a phone that lets one program in at a
// time, since that would throw another one out.
//
// The package has no state and no goroutines.
package detect

import (
	"cmp"
	"context"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"wiebelt/internal/softphone/phonefile"
	"wiebelt/internal/softphone/registry"
)

// MicroSIP is found beside the kinds of package registry, and runs a program as Twinkle
// does.
const MicroSIP = "microsip"

// Obstacle is what has to be done first before a phone can be connected.
type Obstacle string

// The obstacles.
const (
	Free    Obstacle = ""        // nothing
	Off     Obstacle = "off"     // its way out is switched off in its settings
	Running Obstacle = "running" // it would write its settings over ours: close it first
	Other   Obstacle = "other"   // it reports its calls to another program
	Unread  Obstacle = "unread"  // its settings cannot be read
)

// Phone is one that was found.
type Phone struct {
	Kind     string
	Address  string // of a link, as the settings take it; "" for the usual one
	File     string // settings of a phone that runs a program
	Ours     bool   // a phone that runs a program: it already runs Wiebelt
	Obstacle Obstacle
}

// ID names the phone among those of this computer.
func (p Phone) ID() string { return p.Kind + " " + p.Address + p.File }

// Process is a program that this user runs.
type Process struct {
	Name string   // of its file, without folder
	Args []string // those behind the name; nil where the system does not tell
}

// System is the computer as far as it matters here.
type System struct {
	Processes func() []Process
	// Listens reports whether somebody listens at a port of this computer.
	Listens  func(ctx context.Context, at netip.AddrPort) bool
	Quiet    bool   // and whoever listens hears nothing of it
	Home     string // the user's folder, "" for none
	Baresip  string // the folder of baresip's settings, "" where it cannot be
	MicroSIP string // path of MicroSIP's ini, "" where it cannot be
}

// Bounds of a search.
const (
	maxProcesses = 4096
	maxProfiles  = 16
	briaPort     = 9002
	baresipPort  = 4444
)

// Find looks for phones. Those that run come first.
func Find(ctx context.Context, s System) []Phone {
	running := s.Processes()
	var all []Phone
	add := func(p ...Phone) {
		for _, p := range p {
			if !slices.ContainsFunc(all, func(o Phone) bool { return o.ID() == p.ID() }) {
				all = append(all, p)
			}
		}
	}
	for _, p := range running {
		switch name(p.Name) {
		case "baresip":
			add(baresip(ctx, s, p)...)
		case "linphone-daemon":
			add(linphone(p)...)
		}
	}
	if s.Listens(ctx, loopback(briaPort)) {
		add(Phone{Kind: registry.Bria})
	}
	add(microsip(s, running)...)
	add(twinkle(s, running)...)
	return all
}

func loopback(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
}

// name is a program's name without what Windows adds.
func name(s string) string { return strings.TrimSuffix(strings.ToLower(s), ".exe") }

// Runs reports whether a program runs, by its name in small letters and without
// an ending.
func Runs(running []Process, program string) bool {
	return slices.ContainsFunc(running, func(p Process) bool { return name(p.Name) == program })
}

// option gives the value of an argument, "-f x", "--pipe x" or "--pipe=x".
func option(args []string, flag string) string {
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, flag+"="); ok {
			return v
		}
		if a == flag && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// baresip reads where a running baresip listens from its settings.
func baresip(ctx context.Context, s System, p Process) []Phone {
	dir := cmp.Or(option(p.Args, "-f"), s.Baresip)
	if !filepath.IsAbs(dir) {
		return nil
	}
	set, on := words(filepath.Join(dir, "config")), false
	for _, m := range append(set["module_app"], set["module"]...) {
		on = on || strings.HasPrefix(m, "ctrl_tcp")
	}
	at := loopback(baresipPort)
	if l := set["ctrl_tcp_listen"]; len(l) > 0 {
		given, err := netip.ParseAddrPort(l[len(l)-1])
		switch {
		case err != nil:
			on = false
		case given.Addr().IsUnspecified():
			at = loopback(given.Port())
		default:
			at = given
		}
	}
	if !on || !at.Addr().IsLoopback() || s.Quiet && !s.Listens(ctx, at) {
		return []Phone{{Kind: registry.Baresip, Obstacle: Off}}
	}
	return []Phone{{Kind: registry.Baresip, Address: at.String()}}
}

func linphone(p Process) []Phone {
	pipe := option(p.Args, "--pipe")
	if pipe == "" || strings.ContainsAny(pipe, "/\x00") || len(pipe) > 80 {
		return []Phone{{Kind: registry.Linphone, Obstacle: Off}}
	}
	return []Phone{{Kind: registry.Linphone, Address: pipe}}
}

// microsip looks at what MicroSIP runs for a call.
func microsip(s System, running []Process) []Phone {
	if s.MicroSIP == "" {
		return nil
	}
	p := Phone{Kind: MicroSIP, File: s.MicroSIP}
	f, err := phonefile.Read(s.MicroSIP)
	if err != nil {
		if !Runs(running, "microsip") {
			return nil
		}
		p.Obstacle = Unread
		return []Phone{p}
	}
	judge(&p, f.Get("Settings", "cmdCallRing"), Runs(running, "microsip"))
	return []Phone{p}
}

// twinkle looks at the profiles of Twinkle.
func twinkle(s System, running []Process) []Phone {
	if s.Home == "" {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(s.Home, ".twinkle", "*.cfg"))
	var all []Phone
	for _, path := range files[:min(len(files), maxProfiles)] {
		p := Phone{Kind: registry.Twinkle, File: path}
		f, err := phonefile.Read(path)
		if err != nil {
			p.Obstacle = Unread
		} else if f.Get("", "user_name") == "" {
			continue // its own settings, no account
		} else {
			judge(&p, f.Get("", "script_incoming_call"), Runs(running, "twinkle"))
		}
		all = append(all, p)
	}
	return all
}

// judge says how a phone that runs command for a call can be connected.
func judge(p *Phone, command string, open bool) {
	switch {
	case phonefile.Ours(command):
		p.Ours = true
	case command != "":
		p.Obstacle = Other
	case open:
		p.Obstacle = Running
	}
}

// words reads baresip's settings: a key, blanks and a value on each line.
func words(path string) map[string][]string {
	f, err := phonefile.Read(path)
	if err != nil {
		return nil
	}
	all := map[string][]string{}
	for _, l := range f.Lines() {
		if w := strings.Fields(l); len(w) >= 2 {
			all[w[0]] = append(all[w[0]], w[1])
		}
	}
	return all
}

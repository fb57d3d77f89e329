// Package detect finds softphones on this computer that Wiebelt can connect to without
// anybody having to know a port: from this user's running programs and the phones' settings
// files. It only looks. It never connects to a phone that serves one program at a time,
// since that would disconnect the other program.
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

// MicroSIP is detected in addition to the kinds of package registry. It runs a program
// for calls, like Twinkle.
const MicroSIP = "microsip"

// Obstacle is what prevents a phone from being connected.
type Obstacle string

// The obstacles.
const (
	NoObstacle         Obstacle = ""        // none
	InterfaceOff       Obstacle = "off"     // its interface is turned off in its settings
	PhoneRunning       Obstacle = "running" // it would overwrite our settings: close it first
	OtherProgram       Obstacle = "other"   // it reports its calls to another program
	SettingsUnreadable Obstacle = "unread"  // its settings cannot be read
)

// Phone is a detected phone.
type Phone struct {
	Kind        string
	Address     string // of a link, as in the settings; "" for the default
	File        string // settings file of a phone that runs a program
	RunsWiebelt bool   // for a phone that runs a program: it already runs Wiebelt
	Obstacle    Obstacle
}

// ID identifies the phone on this computer.
func (p Phone) ID() string { return p.Kind + " " + p.Address + p.File }

// Process is a program run by this user.
type Process struct {
	Name string   // file name without folder
	Args []string // without the program name; nil if the system does not provide them
}

// System is the computer as far as package detect uses it.
type System struct {
	Processes func() []Process
	// Listens reports whether a port of this computer has a listener.
	Listens        func(ctx context.Context, at netip.AddrPort) bool
	PassiveListens bool   // Listens does not contact the listener
	Home           string // the user's folder, "" for none
	Baresip        string // folder of baresip's settings; "" if there can be none
	MicroSIP       string // path of MicroSIP's ini; "" if there can be none
}

const (
	maxProcesses = 4096
	maxProfiles  = 16
	briaPort     = 9002
	baresipPort  = 4444
)

// Find detects phones. Running ones come first.
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

// name returns a program's name without the .exe of Windows.
func name(s string) string { return strings.TrimSuffix(strings.ToLower(s), ".exe") }

// IsRunning reports whether a program is running, given its name in lower case
// and without extension.
func IsRunning(running []Process, program string) bool {
	return slices.ContainsFunc(running, func(p Process) bool { return name(p.Name) == program })
}

// option returns the value of an argument: "-f x", "--pipe x" or "--pipe=x".
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

func baresip(ctx context.Context, s System, p Process) []Phone {
	dir := cmp.Or(option(p.Args, "-f"), s.Baresip)
	if !filepath.IsAbs(dir) {
		return nil
	}
	set, on := readBaresipSettings(filepath.Join(dir, "config")), false
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
	if !on || !at.Addr().IsLoopback() || s.PassiveListens && !s.Listens(ctx, at) {
		return []Phone{{Kind: registry.Baresip, Obstacle: InterfaceOff}}
	}
	return []Phone{{Kind: registry.Baresip, Address: at.String()}}
}

// linphone reads the address of a running linphone-daemon from its arguments: a name, or
// since version 5.2 a path.
func linphone(p Process) []Phone {
	pipe := option(p.Args, "--pipe")
	if pipe == "" || strings.Contains(pipe, "/") && !filepath.IsAbs(pipe) || strings.ContainsRune(pipe, 0) || len(pipe) > 80 {
		return []Phone{{Kind: registry.Linphone, Obstacle: InterfaceOff}}
	}
	return []Phone{{Kind: registry.Linphone, Address: pipe}}
}

// microsip checks which program MicroSIP runs for a call.
func microsip(s System, running []Process) []Phone {
	if s.MicroSIP == "" {
		return nil
	}
	p, open := Phone{Kind: MicroSIP, File: s.MicroSIP}, IsRunning(running, "microsip")
	f, err := phonefile.Read(s.MicroSIP)
	switch {
	case err == nil:
		setObstacle(&p, f.Get("Settings", "cmdCallRing"), open)
	case !open:
		return nil
	default:
		p.Obstacle = SettingsUnreadable
	}
	return []Phone{p}
}

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
			p.Obstacle = SettingsUnreadable
		} else if f.Get("", "user_name") == "" {
			continue // Twinkle's own settings, not an account
		} else {
			setObstacle(&p, f.Get("", "script_incoming_call"), IsRunning(running, "twinkle"))
		}
		all = append(all, p)
	}
	return all
}

// setObstacle sets whether a phone that runs command for a call runs
// Wiebelt already, and otherwise what prevents connecting it.
func setObstacle(p *Phone, command string, open bool) {
	switch {
	case phonefile.RunsWiebelt(command):
		p.RunsWiebelt = true
	case command != "":
		p.Obstacle = OtherProgram
	case open:
		p.Obstacle = PhoneRunning
	}
}

// readBaresipSettings reads baresip's settings: lines with a key, blanks and a value.
func readBaresipSettings(path string) map[string][]string {
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

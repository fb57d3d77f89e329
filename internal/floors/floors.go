// Package floors writes down how the packages of this module stand on each
// other: nine floors, and imports that only go down. Its test walks the
// imports of every package and fails, with the reason, on one that goes up.
//
//	9 wiring   app/*, internal/cli, internal/resident, internal/demo
//	8 rooms    internal/resident/*: the parts of the resident, which it connects
//	7 windows  internal/ui/* — the only floor that imports Fyne
//	6 tasks    internal/configure, internal/kept, internal/trial, internal/registrations,
//	           internal/doctor: what can be done with what lies below; one function each, for commands,
//	           windows and resident alike
//	5 native   internal/native/*
//	4 engine   internal/companion
//	3 adapters internal/softphone/*, internal/hub, internal/history, …
//	2 words    internal/text, assets; internal/message; internal/sqlitefile and
//	           internal/trust, the ground of what is kept
//	1 domain   internal/call, internal/phone, internal/contact, internal/plain,
//	           internal/softphone/kinds
//
// Of the windows, each is a room of its own: it imports what they share (kit,
// theme) and no other; only internal/ui/desk knows them all.
//
// Of the resident's rooms, each is one thing with its goroutine or its file: it
// imports no other room, but ask, which runs nothing of its own, and never the
// resident, which hands it what it needs of the rest.
//
// Beside them stand the local hub and the simulated softphone: they know the
// domain and the words, and only the wiring knows them. Packages that serve
// tests (names ending in "test") may be imported by tests alone.
package floors

import (
	"slices"
	"strings"
)

// Floor is how high a package stands; a package may import what stands lower,
// and what stands on its own floor where Beside allows it.
type Floor int

// The floors from the ground up.
const (
	Unknown Floor = iota
	Domain
	Words
	Adapters
	Engine
	Native
	Tasks
	Windows
	Rooms // of the resident
	Wiring
	Aside     // local hub, simulated softphone
	TestsOnly // imported by tests alone
)

// rooms gives every package its floor; a path ending in "/" stands for all below.
var rooms = []struct {
	path  string
	floor Floor
}{
	{"app/", Wiring},
	{"internal/cli", Wiring},
	{"internal/resident/", Rooms},
	{"internal/resident", Wiring},
	{"internal/demo", Wiring},
	{"internal/configure", Tasks},
	{"internal/kept", Tasks},
	{"internal/trial", Tasks},
	{"internal/registrations", Tasks},
	{"internal/doctor", Tasks},
	{"internal/ui/kittest", TestsOnly},
	{"internal/ui/", Windows},
	{"internal/native/xtest", TestsOnly},
	{"internal/native/winetest", TestsOnly},
	{"internal/softphone/phonetest", TestsOnly},
	{"internal/softphone/linktest", TestsOnly},
	{"internal/logtest", TestsOnly},
	{"internal/clocktest", TestsOnly},
	{"internal/messagetest", TestsOnly},
	{"internal/npmtest", TestsOnly},
	{"internal/ptytest", TestsOnly},
	{"internal/guide/shottest", TestsOnly},
	{"internal/e2e", TestsOnly},
	{"internal/floors", TestsOnly},
	{"internal/winres", TestsOnly},
	{"internal/native/", Native},
	{"internal/companion", Engine},
	{"internal/softphone/kinds", Domain},
	{"internal/softphone/", Adapters},
	{"internal/hub", Adapters},
	{"internal/history", Adapters},
	{"internal/settings", Adapters},
	{"internal/secret", Adapters},
	{"internal/choices", Adapters},
	{"internal/outbox", Adapters},
	{"internal/instance", Adapters},
	{"internal/ring", Adapters},
	{"internal/profile", Adapters},
	{"internal/health", Adapters},
	{"internal/logfile", Adapters},
	{"internal/deskapi", Adapters},
	{"internal/sqlitefile", Words},
	{"internal/trust", Words},
	{"internal/text", Words},
	{"internal/message", Words},
	{"internal/guide", Words},
	{"assets", Words},
	{"internal/call", Domain},
	{"internal/plain", Domain},
	{"internal/phone", Domain},
	{"internal/contact", Domain},
	{"internal/localhub", Aside},
	{"internal/simulate/storytest", TestsOnly},
	{"internal/simulate", Aside},
}

// Of gives the floor of a package by its path below the module.
func Of(path string) Floor {
	for _, r := range rooms {
		if path == r.path || strings.HasSuffix(r.path, "/") && strings.HasPrefix(path, r.path) || strings.HasPrefix(path, r.path+"/") {
			return r.floor
		}
	}
	return Unknown
}

// desk is the package that knows every window, and shared are those that any window
// may import.
const desk = "internal/ui/desk"

var shared = []string{"internal/ui/kit", "internal/ui/theme", "internal/ui/offscreen"}

// ground is what the resident's rooms may share; of what is on screen they may
// know the cards.
var ground = []string{"internal/resident/ask"}

const card = "internal/ui/card"

// Why says why a package may not import another one; "" if it may.
func Why(from, to string) string {
	f, t := Of(from), Of(to)
	switch {
	case f == Unknown:
		return "has no floor: give it one in internal/floors"
	case t == Unknown:
		return "imports a package without a floor"
	case f == TestsOnly:
		return ""
	case t == TestsOnly:
		return "imports a package that serves tests only"
	case f == Wiring:
		return ""
	case t == Wiring:
		return "imports the wiring, which stands above everything"
	case t == Aside && f != Aside:
		return "imports a stand-in; only the wiring and tests may"
	case f == Aside && t > Words && t != Aside:
		return "is a stand-in and may know the domain and the words only"
	case f == Engine && t == Adapters:
		return "is the engine: it declares what it needs and knows no adapter"
	case t > f:
		return "imports a package of a higher floor"
	case t == Rooms && !slices.Contains(ground, to):
		return "imports another room of the resident: have the resident hand over what is needed"
	case f == Rooms && t == Windows && to != card:
		return "is a room of the resident, which shows cards and leaves windows to the windows' process"
	case f == Windows && t == Windows && from != desk && !slices.Contains(shared, to):
		return "imports another window: ask the desk for it by its name"
	}
	return ""
}

// MayImportFyne reports whether a package may know Fyne.
func MayImportFyne(path string) bool {
	return strings.HasPrefix(path, "internal/ui/")
}

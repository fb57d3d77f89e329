// Package archtest checks every import of the module against its nine layers: imports
// only go down. Its test fails, with the reason, on an import that goes up.
//
//	9 wiring    app/*, internal/cli, internal/relay/command, internal/resident, internal/demo,
//	            internal/packaging/*
//	8 parts     internal/resident/*: the parts of the resident, which it connects
//	7 windows   internal/ui/* — the only layer that imports Fyne
//	6 tasks     internal/config/{fromsettings,hubtrial,registrations}, internal/store/callactions,
//	            internal/doctor: operations on the layers below; one function each, for
//	            commands, windows and resident alike
//	5 native    internal/native/*
//	4 engine    internal/core/engine
//	3 adapters  internal/softphone/*, internal/hub, internal/store/*, internal/config/*,
//	            internal/delivery/*, internal/instance, …
//	2 words     internal/text, internal/guide, internal/commandline, assets; internal/delivery/message;
//	            internal/store/sqlitefile, internal/filetrust and internal/tempfolder, which
//	            all file access uses
//	1 domain    internal/core/*, internal/softphone/registry
//
// Each window imports what all share (widgets, theme, offscreen, explore) and no other
// window; only internal/ui/windowapp imports them all.
//
// Each part of the resident does one thing, with its own goroutine or file. It imports no
// other part except request, which runs nothing, and never the resident, which passes it
// whatever it needs from the rest.
//
// Outside the layers are the local hub and the simulated softphone: they import the domain
// and the words, and only the wiring imports them. Packages below internal/testutil, and
// ui/uitest, may be imported by tests only.
package archtest

import (
	"slices"
	"strings"
)

// Layer is the level of a package; a package may import lower layers,
// and its own unless WhyForbidden says otherwise.
type Layer int

// The layers from the bottom up.
const (
	Unknown Layer = iota
	Domain
	Words
	Adapters
	Engine
	Native
	Tasks
	Windows
	Parts // of the resident
	Wiring
	StandIns  // local hub, simulated softphone
	TestsOnly // imported by tests only
)

// layers assigns every package a layer; the first path that equals the package's or
// contains it applies. A path ending in "/" covers only what is below it.
var layers = []struct {
	path  string
	layer Layer
}{
	{"app/winres", TestsOnly},
	{"app/", Wiring},
	{"internal/cli", Wiring},
	{"internal/demo", Wiring},
	{"internal/packaging/", Wiring},
	{"internal/resident/", Parts},
	{"internal/resident", Wiring},
	{"internal/ui/uitest", TestsOnly},
	{"internal/ui/", Windows},
	{"internal/config/fromsettings", Tasks},
	{"internal/config/hubtrial", Tasks},
	{"internal/config/registrations", Tasks},
	{"internal/store/callactions", Tasks},
	{"internal/doctor", Tasks},
	{"internal/native/", Native},
	{"internal/core/engine", Engine},
	{"internal/core/", Domain},
	{"internal/softphone/registry", Domain},
	{"internal/delivery/message", Words},
	{"internal/store/sqlitefile", Words},
	{"internal/filetrust", Words},
	{"internal/tempfolder", Words},
	{"internal/guide", Words},
	{"internal/text", Words},
	{"internal/commandline", Words},
	{"assets", Words},
	{"internal/relay/command", Wiring},
	{"internal/relay/", Adapters},
	{"internal/softphone/", Adapters},
	{"internal/config/", Adapters},
	{"internal/delivery/", Adapters},
	{"internal/store/", Adapters},
	{"internal/health", Adapters},
	{"internal/hub", Adapters},
	{"internal/instance", Adapters},
	{"internal/logfile", Adapters},
	{"internal/localhub", StandIns},
	{"internal/simulate", StandIns},
	{"internal/testutil/", TestsOnly},
	{"internal/archtest", TestsOnly},
	{"internal/e2e", TestsOnly},
}

// LayerOf returns the layer of a package by its path below the module.
func LayerOf(path string) Layer {
	for _, l := range layers {
		dir := strings.TrimSuffix(l.path, "/")
		if strings.HasPrefix(path, dir+"/") || path == l.path {
			return l.layer
		}
	}
	return Unknown
}

// windowApp is the package that knows every window; shared are the packages any window may import.
const windowApp = "internal/ui/windowapp"

var shared = []string{"internal/ui/widgets", "internal/ui/theme", "internal/ui/offscreen", "internal/ui/explore"}

// partsShare is what the resident's parts may share; of the windows they may import only card.
var partsShare = []string{"internal/resident/request"}

const card = "internal/ui/card"

// WhyForbidden returns the reason why a package may not import another one, "" if it may.
func WhyForbidden(from, to string) string {
	f, t := LayerOf(from), LayerOf(to)
	switch {
	case f == Unknown:
		return "has no layer: give it one in internal/archtest"
	case t == Unknown:
		return "imports a package without a layer"
	case f == TestsOnly:
		return ""
	case t == TestsOnly:
		return "imports a package that serves tests only"
	case f == Wiring:
		return ""
	case t == Wiring:
		return "imports the wiring, which stands above everything"
	case t == StandIns && f != StandIns:
		return "imports a stand-in; only the wiring and tests may"
	case f == StandIns && t > Words && t != StandIns:
		return "is a stand-in and may know the domain and the words only"
	case f == Engine && t == Adapters:
		return "is the engine: it declares what it needs and knows no adapter"
	case t > f:
		return "imports a package of a higher layer"
	case t == Parts && !slices.Contains(partsShare, to):
		return "imports another part of the resident: have the resident hand over what is needed"
	case f == Parts && t == Windows && to != card:
		return "is a part of the resident, which shows cards and leaves windows to the windows' process"
	case f == Windows && t == Windows && from != windowApp && !slices.Contains(shared, to):
		return "imports another window: ask for it by its name"
	}
	return ""
}

// MayImportFyne reports whether a package may import Fyne.
func MayImportFyne(path string) bool {
	return strings.HasPrefix(path, "internal/ui/")
}

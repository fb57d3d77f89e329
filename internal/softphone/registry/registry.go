// Package registry is the registry of phones. Every kind of phone and exchange, and
// every other source that can report a call, is declared here, once: its name,
// what it can tell, what its settings need, and the recipe that connects it. It is
// a table of plain data, so that the settings and the command that phones run can
// read it without linking a single protocol. The code of a kind is registered
// under its name in two places that stand above: its link in package fromsettings,
// its fake in package simulate, which "wiebelt simulate" and the link's own tests
// share. The test of this package fails when a kind lacks a part.
//
// To add a phone or exchange to which Wiebelt connects, write
//
//   - a file in internal/simulate with its fake,
//   - a package beside this one with its link, tested against that fake (the tests
//     that exchanges, and phones that really run, have in common are in
//     internal/testutil/linktest),
//   - assets/guide/recipes/ID.nl.txt and ID.en.txt,
//
// and touch
//
//  1. this file: its name and its row in the table,
//  2. internal/config/fromsettings/softphone.go: its link,
//  3. internal/simulate/protocols.go: its fake,
//  4. internal/testutil/storytest/story.go: how it tells the stories of calls, where that
//     is in a way of its own,
//  5. assets/text/status.json: what people call it,
//  6. assets/text/command.json: its name in the help of "wiebelt simulate".
//
// An exchange that sends messages by itself has a reader in package webhook, with its
// messages in testdata, in place of the package and of its link.
//
// The package has no state and no goroutines.
package registry

import (
	"cmp"
	"slices"

	"wiebelt/internal/core/call"
)

// The names of kinds, as settings, files and logs have them. Those of the sources
// that phones come to by themselves are in package call.
const (
	Bria     = "bria"
	Baresip  = "baresip"
	Linphone = "linphone"
	ARI      = "ari" // Asterisk
	Wazo     = "wazo"
	ThreeCX  = "3cx"
	Xelion   = "xelion"
	Relay    = "relay"   // the office's own, which listens to the exchange for everybody
	Twinkle  = "twinkle" // no link: it runs our program

	BroadWorks = "broadworks" // it sends messages to the relay, too

	VoIPGRID  = "voipgrid" // as the three below, it sends messages to the relay
	Yeastar   = "yeastar"
	VOIPZeker = "voipzeker"
	Webhook   = "webhook" // any other

	ARIOutbound   = "ari-outbound"   // Asterisk, which connects to the relay
	YeastarSocket = "yeastar-socket" // Yeastar, to which we connect
)

// Reach is how reports of a kind reach us.
type Reach uint8

// The ways to be reached.
const (
	ByListener Reach = iota // the phone connects to our listener
	ByProgram               // the phone runs our program
	ByPhone                 // we connect to a phone that people start and quit on this computer
	ByExchange              // we connect to an exchange
	ByWebhook               // the exchange sends messages to the office's relay
	ByInbound               // the exchange connects to the office's relay
)

// What the settings of a link can need beside its kind and name.
const (
	NeedsAddress   = "address"
	NeedsExtension = "extension"
	NeedsUser      = "user"
	NeedsSecret    = "secret" // kept in the secret store, under the link's name and address
)

// Kind is one kind of phone, exchange or other source. It is never changed.
type Kind struct {
	Name  string
	Reach Reach
	// Reports is what it tells of a call at the least. Some phones that come by themselves
	// report more, which is believed once it was seen.
	Reports call.Reports
	// Can is all that it is able to tell.
	Can Capabilities
	// Needs is what the settings of a link cannot do without: nothing for a phone
	// on this computer, which can have another address than the usual one.
	Needs []string
	// Everybody is an exchange that tells one link of all extensions.
	Everybody bool
	// Shared is an exchange whose ids are those of calls: one that rings at several
	// extensions has the same for all, and can be over for one and come back to it.
	Shared bool
	// Recipe is the id of the page that says how it is connected.
	Recipe string
	// Source is the kind under which its reports come in; "" for its own.
	Source string
}

// Capabilities are what a kind is able to tell of a call, apart from a number
// that rings.
type Capabilities struct {
	Answer, End, Withheld, Outgoing bool
	Again                           bool // that a call rings on another device, or rings again
	Moved                           Moved
	Name, Line, Via                 bool
	// Reasons are the ends that look different from each other; the others are
	// told as an end.
	Reasons []call.Reason
}

// Moved is how a kind tells that a call was passed on.
type Moved uint8

// What a call that was passed on looks like.
const (
	NotMoved  Moved = iota // it does not show
	SameCall               // the same call with another caller
	OtherCall              // a new call, and the end of the one before
)

var (
	exchangeNeeds = []string{NeedsAddress, NeedsExtension, NeedsUser, NeedsSecret}
	allReasons    = []call.Reason{call.Completed, call.Missed, call.Elsewhere, call.Rejected}
	completed     = []call.Reason{call.Completed}

	everything = Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Again: true, Moved: SameCall, Name: true, Line: true, Via: true, Reasons: allReasons}
)

// table holds every kind in the order in which they are listed.
var table = [...]Kind{
	{Name: call.KindWebSocket, Reports: call.AllStates, Can: everything, Recipe: "any-websocket"},
	{Name: call.KindHTTP, Reports: call.RingOnly, Can: everything, Recipe: "any-url"},
	{Name: call.KindURL, Reach: ByProgram, Reports: call.RingOnly, Recipe: "any-url",
		Can: Capabilities{Answer: true, Again: true, Moved: OtherCall}},
	{Name: call.KindCommand, Reach: ByProgram, Reports: call.RingOnly, Recipe: "any-program",
		Can: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Again: true, Moved: SameCall, Name: true, Line: true, Via: true}},
	{Name: Twinkle, Reach: ByProgram, Source: call.KindCommand, Reports: call.AllStates, Recipe: "twinkle",
		Can: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Moved: OtherCall, Name: true, Line: true, Reasons: []call.Reason{call.Completed, call.Rejected}}},

	{Name: Bria, Reach: ByPhone, Reports: call.AllStates, Recipe: "bria",
		Can: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Moved: SameCall, Name: true, Reasons: completed}},
	{Name: Baresip, Reach: ByPhone, Reports: call.AllStates, Recipe: "baresip",
		Can: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Moved: OtherCall, Name: true, Line: true, Reasons: completed}},
	{Name: Linphone, Reach: ByPhone, Reports: call.AllStates, Recipe: "linphone",
		Can: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Moved: OtherCall, Name: true, Reasons: completed}},
	{Name: ARI, Reach: ByExchange, Reports: call.AllStates, Can: everything, Needs: exchangeNeeds, Everybody: true, Recipe: "asterisk"},
	{Name: Wazo, Reach: ByExchange, Reports: call.AllStates, Needs: exchangeNeeds, Recipe: "wazo",
		Can: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Again: true, Moved: SameCall, Name: true, Line: true, Reasons: allReasons}},
	{Name: ThreeCX, Reach: ByExchange, Reports: call.AllStates, Needs: exchangeNeeds, Everybody: true, Recipe: "3cx-v20",
		Can: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Again: true, Moved: SameCall, Name: true, Line: true, Via: true, Reasons: completed}},
	{Name: YeastarSocket, Reach: ByExchange, Reports: call.AllStates, Needs: exchangeNeeds, Everybody: true, Shared: true, Recipe: "yeastar-socket",
		Can: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Again: true, Moved: SameCall, Line: true}},
	{Name: BroadWorks, Reach: ByExchange, Reports: call.AllStates, Needs: exchangeNeeds, Everybody: true, Recipe: "broadworks",
		Can: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Moved: SameCall, Name: true, Via: true, Reasons: allReasons}},
	{Name: Xelion, Reach: ByExchange, Reports: call.AllStates, Needs: exchangeNeeds, Everybody: true, Recipe: "xelion",
		Can: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Again: true, Moved: SameCall, Name: true, Line: true, Reasons: []call.Reason{call.Completed, call.Missed, call.Elsewhere}}},
	{Name: Relay, Reach: ByExchange, Reports: call.AllStates, Can: everything, Needs: []string{NeedsAddress, NeedsSecret}, Recipe: "relay"},

	{Name: VoIPGRID, Reach: ByWebhook, Reports: call.AllStates, Recipe: "voipgrid",
		Can: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Again: true, Moved: OtherCall, Name: true, Line: true, Via: true, Reasons: allReasons}},
	{Name: Yeastar, Reach: ByWebhook, Reports: call.AllStates, Recipe: "yeastar",
		Can: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Again: true, Moved: SameCall, Line: true}},
	{Name: VOIPZeker, Reach: ByWebhook, Reports: call.AllStates, Recipe: "voipzeker",
		Can: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Moved: OtherCall}},
	{Name: Webhook, Reach: ByWebhook, Reports: call.AllStates, Can: everything, Recipe: "webhook"},
	{Name: ARIOutbound, Reach: ByInbound, Reports: call.AllStates, Can: everything, Everybody: true, Recipe: "asterisk-outbound"},
}

// Find gives the kind of a name.
func Find(name string) (Kind, bool) {
	for _, k := range table {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// Of gives the kind of a name, for names that were checked before; the zero Kind
// if there is none.
func Of(name string) Kind {
	k, _ := Find(name)
	return k
}

// Names gives the names of all kinds.
func Names() []string { return names(func(Kind) bool { return true }) }

// Links gives the names of the kinds to which Wiebelt connects.
func Links() []string { return names(Kind.IsLink) }

// Sources gives the names of the kinds by which phones come to us.
func Sources() []string {
	return names(func(k Kind) bool { return k.Reach <= ByProgram && k.Source == "" })
}

// ToRelay says whether it comes to the relay by itself.
func (k Kind) ToRelay() bool { return k.Reach == ByWebhook || k.Reach == ByInbound }

func names(which func(Kind) bool) (all []string) {
	for _, k := range table {
		if which(k) {
			all = append(all, k.Name)
		}
	}
	return all
}

// IsLink says whether Wiebelt connects to it.
func (k Kind) IsLink() bool { return k.Reach == ByPhone || k.Reach == ByExchange }

// Requires says whether a link cannot do without something.
func (k Kind) Requires(what string) bool { return slices.Contains(k.Needs, what) }

// CallSource is the source of this kind over a connection, as its events name it.
func (k Kind) CallSource(conn string) call.Source {
	return call.Source{Kind: cmp.Or(k.Source, k.Name), Conn: conn, Reports: k.Reports}
}

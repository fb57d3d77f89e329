// Package registry declares every kind of phone and exchange, and every other source that
// can report a call, in one place: its name, what it can report, what its settings need,
// and the recipe for connecting it. It is a table of plain data, so that the settings and
// the command run by phones can read it without linking any protocol. The code of a kind is
// registered under its name in two higher packages: its link in fromsettings and its fake
// in simulate, which "wiebelt simulate" and the link's own tests share. This package's test
// fails if a kind lacks a part.
//
// To add a phone or exchange to which Wiebelt connects, write
//
//   - a file in internal/simulate with its fake,
//   - a package beside this one with its link, tested against that fake (the tests
//     shared by exchanges, and by phones that really run, are in
//     internal/testutil/linktest),
//   - assets/guide/recipes/ID.nl.txt and ID.en.txt,
//
// and change
//
//  1. this file: its name and its row in the table,
//  2. internal/config/fromsettings/softphone.go: its link,
//  3. internal/simulate/protocols.go: its fake,
//  4. internal/testutil/storytest/story.go: how it reports the stories of calls, if it
//     differs from the others,
//  5. assets/text/status.json: its display name,
//  6. assets/text/command.json: its name in the help of "wiebelt simulate".
//
// An exchange that sends messages itself has a reader in package webhook, with its messages
// in testdata, instead of a package with a link.
//
// The package has no state and no goroutines.
package registry

import (
	"cmp"
	"slices"

	"wiebelt/internal/core/call"
)

// The names of kinds in settings, files and logs. Those of sources that phones contact
// themselves are in package call.
const (
	Bria     = "bria"
	Baresip  = "baresip"
	Linphone = "linphone"
	ARI      = "ari" // Asterisk
	Wazo     = "wazo"
	ThreeCX  = "3cx"
	Xelion   = "xelion"
	Relay    = "relay"   // the office's own, which follows the exchange for everybody
	Twinkle  = "twinkle" // no link: it runs our program

	BroadWorks = "broadworks" // it also sends messages to the relay

	VoIPGRID  = "voipgrid" // like the three below, it sends messages to the relay
	Yeastar   = "yeastar"
	VOIPZeker = "voipzeker"
	Webhook   = "webhook" // any other

	ARIOutbound   = "ari-outbound"   // Asterisk, which connects to the relay
	YeastarSocket = "yeastar-socket" // Yeastar, to which we connect
)

// Reach is how reports of a kind reach Wiebelt.
type Reach uint8

// The values of Reach.
const (
	ByListener Reach = iota // the phone connects to our listener
	ByProgram               // the phone runs our program
	ByPhone                 // we connect to a phone that users start and quit on this computer
	ByExchange              // we connect to an exchange
	ByWebhook               // the exchange sends messages to the office's relay
	ByInbound               // the exchange connects to the office's relay
)

// What the settings of a link can require besides kind and name.
const (
	NeedsAddress   = "address"
	NeedsExtension = "extension"
	NeedsUser      = "user"
	NeedsSecret    = "secret" // kept in the secret store, under the link's name and address
)

// Kind is one kind of phone, exchange or other source. It is immutable.
type Kind struct {
	Name  string
	Reach Reach
	// ReportLevel is the minimum it reports about a call. Some phones that contact us report
	// more, which is relied on once seen.
	ReportLevel call.ReportLevel
	// Capabilities is everything it can report.
	Capabilities Capabilities
	// Needs lists the required settings of a link: none for a phone on this computer,
	// whose address is optional.
	Needs []string
	// AllExtensions is set for an exchange that reports all extensions over one link.
	AllExtensions bool
	// SharedCallID is set for an exchange with one ID per call: it is the same at all
	// extensions where the call rings, and the call can end for one and come back to it.
	SharedCallID bool
	// Recipe is the ID of the page that explains how to connect it.
	Recipe string
	// Source is the kind under which its reports arrive; "" for its own.
	Source string
}

// Capabilities are what a kind can report about a call, apart from a ringing number.
type Capabilities struct {
	Answer, End, Withheld, Outgoing bool
	RingsAgain                      bool // a call rings on another device, or rings again
	Transfer                        TransferReport
	Name, Line, Via                 bool
	// Reasons are the ends that it distinguishes; all others are reported as just an end.
	Reasons []call.Reason
}

// TransferReport is how a kind reports that a call was passed on.
type TransferReport uint8

// The values of TransferReport.
const (
	TransferHidden   TransferReport = iota // not visible
	TransferSameCall                       // the same call with another caller
	TransferNewCall                        // a new call, and the end of the previous one
)

var (
	exchangeNeeds = []string{NeedsAddress, NeedsExtension, NeedsUser, NeedsSecret}
	allReasons    = []call.Reason{call.Completed, call.Missed, call.AnsweredElsewhere, call.Rejected}
	completed     = []call.Reason{call.Completed}

	everything = Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, RingsAgain: true, Transfer: TransferSameCall, Name: true, Line: true, Via: true, Reasons: allReasons}
)

// table holds every kind in listing order.
var table = [...]Kind{
	{Name: call.KindWebSocket, ReportLevel: call.AllStates, Capabilities: everything, Recipe: "any-websocket"},
	{Name: call.KindHTTP, ReportLevel: call.RingOnly, Capabilities: everything, Recipe: "any-url"},
	{Name: call.KindURL, Reach: ByProgram, ReportLevel: call.RingOnly, Recipe: "any-url",
		Capabilities: Capabilities{Answer: true, RingsAgain: true, Transfer: TransferNewCall}},
	{Name: call.KindCommand, Reach: ByProgram, ReportLevel: call.RingOnly, Recipe: "any-program",
		Capabilities: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, RingsAgain: true, Transfer: TransferSameCall, Name: true, Line: true, Via: true}},
	{Name: Twinkle, Reach: ByProgram, Source: call.KindCommand, ReportLevel: call.AllStates, Recipe: "twinkle",
		Capabilities: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Transfer: TransferNewCall, Name: true, Line: true, Reasons: []call.Reason{call.Completed, call.Rejected}}},

	{Name: Bria, Reach: ByPhone, ReportLevel: call.AllStates, Recipe: "bria",
		Capabilities: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Transfer: TransferSameCall, Name: true,
			Reasons: completed}},
	{Name: Baresip, Reach: ByPhone, ReportLevel: call.AllStates, Recipe: "baresip",
		Capabilities: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Transfer: TransferNewCall, Name: true,
			Line: true, Reasons: []call.Reason{call.Completed, call.AnsweredElsewhere, call.Rejected}}},
	{Name: Linphone, Reach: ByPhone, ReportLevel: call.AllStates, Recipe: "linphone",
		Capabilities: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Transfer: TransferNewCall, Name: true,
			Reasons: completed}},
	{Name: ARI, Reach: ByExchange, ReportLevel: call.AllStates, Capabilities: everything, Needs: exchangeNeeds,
		AllExtensions: true, Recipe: "asterisk"},
	{Name: Wazo, Reach: ByExchange, ReportLevel: call.AllStates, Needs: exchangeNeeds, Recipe: "wazo",
		Capabilities: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, RingsAgain: true, Transfer: TransferSameCall, Name: true, Line: true, Reasons: allReasons}},
	{Name: ThreeCX, Reach: ByExchange, ReportLevel: call.AllStates, Needs: exchangeNeeds, AllExtensions: true, Recipe: "3cx-v20",
		Capabilities: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, RingsAgain: true, Transfer: TransferSameCall, Name: true, Line: true, Via: true, Reasons: completed}},
	{Name: YeastarSocket, Reach: ByExchange, ReportLevel: call.AllStates, Needs: exchangeNeeds, AllExtensions: true, SharedCallID: true, Recipe: "yeastar-socket",
		Capabilities: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, RingsAgain: true,
			Transfer: TransferSameCall, Line: true}},
	{Name: BroadWorks, Reach: ByExchange, ReportLevel: call.AllStates, Needs: exchangeNeeds, AllExtensions: true, Recipe: "broadworks",
		Capabilities: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Transfer: TransferSameCall, Name: true,
			Via: true, Reasons: allReasons}},
	{Name: Xelion, Reach: ByExchange, ReportLevel: call.AllStates, Needs: exchangeNeeds, AllExtensions: true, Recipe: "xelion",
		Capabilities: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, RingsAgain: true, Transfer: TransferSameCall, Name: true, Line: true, Reasons: []call.Reason{call.Completed, call.Missed, call.AnsweredElsewhere}}},
	{Name: Relay, Reach: ByExchange, ReportLevel: call.AllStates, Capabilities: everything, Needs: []string{NeedsAddress,
		NeedsSecret}, Recipe: "relay"},

	{Name: VoIPGRID, Reach: ByWebhook, ReportLevel: call.AllStates, Recipe: "voipgrid",
		Capabilities: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, RingsAgain: true, Transfer: TransferNewCall, Name: true, Line: true, Via: true, Reasons: allReasons}},
	{Name: Yeastar, Reach: ByWebhook, ReportLevel: call.AllStates, Recipe: "yeastar",
		Capabilities: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, RingsAgain: true,
			Transfer: TransferSameCall, Line: true}},
	{Name: VOIPZeker, Reach: ByWebhook, ReportLevel: call.AllStates, Recipe: "voipzeker",
		Capabilities: Capabilities{Answer: true, End: true, Withheld: true, Outgoing: true, Transfer: TransferNewCall}},
	{Name: Webhook, Reach: ByWebhook, ReportLevel: call.AllStates, Capabilities: everything, Recipe: "webhook"},
	{Name: ARIOutbound, Reach: ByInbound, ReportLevel: call.AllStates, Capabilities: everything, AllExtensions: true,
		Recipe: "asterisk-outbound"},
}

// Find returns the kind with a name.
func Find(name string) (Kind, bool) {
	for _, k := range table {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// Of returns the kind with a name that was checked before; the zero Kind if there is none.
func Of(name string) Kind {
	k, _ := Find(name)
	return k
}

// Names returns the names of all kinds.
func Names() []string { return names(func(Kind) bool { return true }) }

// Links returns the names of the kinds to which Wiebelt connects.
func Links() []string { return names(Kind.IsLink) }

// Sources returns the names of the kinds that contact us.
func Sources() []string {
	return names(func(k Kind) bool { return k.Reach <= ByProgram && k.Source == "" })
}

// ReportsToRelay reports whether it contacts the relay itself.
func (k Kind) ReportsToRelay() bool { return k.Reach == ByWebhook || k.Reach == ByInbound }

func names(which func(Kind) bool) (all []string) {
	for _, k := range table {
		if which(k) {
			all = append(all, k.Name)
		}
	}
	return all
}

// IsLink reports whether Wiebelt connects to it.
func (k Kind) IsLink() bool { return k.Reach == ByPhone || k.Reach == ByExchange }

// Requires reports whether a link requires a setting.
func (k Kind) Requires(what string) bool { return slices.Contains(k.Needs, what) }

// CallSource returns this kind's source for a connection, as named in its events.
func (k Kind) CallSource(conn string) call.Source {
	return call.Source{Kind: cmp.Or(k.Source, k.Name), Conn: conn, ReportLevel: k.ReportLevel}
}

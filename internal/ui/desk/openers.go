package desk

import (
	"maps"
	"slices"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/ui/calls"
	"wiebelt/internal/ui/delivery"
	"wiebelt/internal/ui/demo"
	"wiebelt/internal/ui/doctor"
	"wiebelt/internal/ui/help"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/lookup"
	"wiebelt/internal/ui/phones"
	"wiebelt/internal/ui/settings"
	"wiebelt/internal/ui/start"
)

// openers make the windows, by their names in deskapi.
func openers(h *calls.History) map[string]kit.Opener {
	return map[string]kit.Opener{
		deskapi.WindowCalls:    h.Open,
		deskapi.WindowDemo:     demo.Open,
		deskapi.WindowRecipes:  phones.Open,
		deskapi.WindowLookup:   lookup.Open,
		deskapi.WindowHelp:     help.Open,
		deskapi.WindowSettings: settings.Open,
		deskapi.WindowDoctor:   doctor.Open,
		deskapi.WindowDelivery: delivery.Open,
		deskapi.WindowStart:    start.Open,
		deskapi.WindowTest:     start.OpenTest,
	}
}

// Names are those of the windows, in order.
func Names() []string { return slices.Sorted(maps.Keys(openers(new(calls.History)))) }

// Known reports whether there is a window of that name.
func Known(name string) bool { return openers(new(calls.History))[name] != nil }

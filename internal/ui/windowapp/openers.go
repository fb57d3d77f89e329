package windowapp

import (
	"maps"
	"slices"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/ui/calls"
	"wiebelt/internal/ui/delivery"
	"wiebelt/internal/ui/demo"
	"wiebelt/internal/ui/doctor"
	"wiebelt/internal/ui/help"
	"wiebelt/internal/ui/lookup"
	"wiebelt/internal/ui/phones"
	"wiebelt/internal/ui/settings"
	"wiebelt/internal/ui/start"
	"wiebelt/internal/ui/widgets"
)

func openers(h *calls.History) map[string]widgets.Opener {
	return map[string]widgets.Opener{
		windowapi.WindowCalls:    h.Open,
		windowapi.WindowDemo:     demo.Open,
		windowapi.WindowRecipes:  phones.Open,
		windowapi.WindowLookup:   lookup.Open,
		windowapi.WindowHelp:     help.Open,
		windowapi.WindowSettings: settings.Open,
		windowapi.WindowDoctor:   doctor.Open,
		windowapi.WindowDelivery: delivery.Open,
		windowapi.WindowStart:    start.Open,
		windowapi.WindowTest:     start.OpenTest,
	}
}

// Names returns the windows' names, sorted.
func Names() []string { return slices.Sorted(maps.Keys(openers(new(calls.History)))) }

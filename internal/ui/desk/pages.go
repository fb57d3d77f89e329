package desk

import (
	"encoding/json"
	"reflect"

	"fyne.io/fyne/v2"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
)

// page is one of the windows that have an area of their own among the messages:
// kinds "settings.…" go to the page called "settings".
type page interface {
	window() fyne.Window
	take(kind string, raw json.RawMessage)
}

// openers make the pages, by their names in deskapi.
var openers map[string]func(*windows) page

func init() { // the openers show other windows, and so look here themselves
	openers = map[string]func(*windows) page{
		deskapi.WindowCalls:    openCalls,
		deskapi.WindowLookup:   openLookup,
		deskapi.WindowHelp:     newHelpWindow,
		deskapi.WindowSettings: openSettings,
		deskapi.WindowDoctor:   openDoctor,
		deskapi.WindowDelivery: openDelivery,
		deskapi.WindowStart:    newStartWindow,
		deskapi.WindowTest:     newTestWindow,
	}
}

// Known reports whether there is a window of that name.
func Known(name string) bool {
	return name == deskapi.WindowCalls || name == deskapi.WindowDemo || name == deskapi.WindowRecipes || openers[name] != nil
}

// follow takes over how the windows have to look now. They are built anew where
// they stand; what was typed into them and not sent is gone, which happens only
// when somebody has just changed language or looks.
func (d *windows) follow(m deskapi.Welcome) {
	was := d.welcome
	m.Window = was.Window
	d.welcome, d.lang = m, text.Language(m.Language)
	if was.Theme != m.Theme {
		d.app.Settings().SetTheme(theme.New(m.Theme))
	}
	if was.Language != m.Language {
		if err := translateBuiltin(d.lang); err != nil {
			d.log.Warn("the toolkit's own words stay untranslated", "error", err)
		}
	}
	was.Theme, was.Status = m.Theme, m.Status
	if d.calls != nil {
		d.calls.showStatus()
	}
	if reflect.DeepEqual(was, m) {
		return
	}
	defer func() { d.reuse = nil }()
	if d.calls != nil {
		d.reuse = d.calls.win
		d.calls = newCallsWindow(d)
	}
	if d.demo != nil {
		d.reuse = d.demo.win
		d.demo = newDemoWindow(d)
	}
	if d.recipes != nil {
		d.reuse = d.recipes.win
		d.recipes = newRecipesWindow(d)
	}
	for name, p := range d.pages {
		d.reuse = p.window()
		d.pages[name] = openers[name](d)
	}
}

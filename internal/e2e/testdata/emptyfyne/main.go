// The smallest program of the ordinary kind: a Fyne app with a tray icon and one
// empty window. It is what the resident's memory and idling are compared with.
package main

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
)

func main() {
	a := app.NewWithID("nl.wiebelt.empty")
	if d, ok := a.(desktop.App); ok {
		d.SetSystemTrayMenu(fyne.NewMenu("empty", fyne.NewMenuItem("nothing", func() {})))
		d.SetSystemTrayIcon(theme.HomeIcon())
	}
	w := a.NewWindow("empty")
	w.Resize(fyne.NewSize(400, 300))
	w.ShowAndRun()
}

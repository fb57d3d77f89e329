package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
)

// section lays out one section, with a rule below it unless it is the last.
func (w *window) section(s section, last bool) fyne.CanvasObject {
	l := w.host.Lang
	part := widgets.Column(16)
	part.Add(widgets.Subtitle(l.T(text.SettingsWindowSection(s.id))))
	switch s.id {
	case sectionHub:
		w.hubSection(part, s)
	case sectionLines:
		part.Add(newLinesBox(w).object)
	case sectionPhones:
		part.Add(newPhonesBox(w).object)
	case sectionAdvanced:
		w.advancedSection(part, s)
	default:
		w.addRows(part, s.keys)
	}
	if last {
		return part
	}
	return widgets.Column(16, part, widget.NewSeparator())
}

func (w *window) addRows(part *fyne.Container, keys []string) {
	for _, key := range keys {
		part.Add(w.row(key).object)
	}
}

// hubSection lays out what new users fill in, and the test.
func (w *window) hubSection(part *fyne.Container, s section) {
	l := w.host.Lang
	by := w.by("hub.base_url")
	if by == "" {
		intro := l.T(text.SettingsWindowHubIntro)
		if c := w.state.set.Support.Contact; c != "" {
			intro += " " + l.T(text.SettingsWindowHubAsk, c)
		}
		part.Add(widgets.Paragraph(intro))
	} else {
		part.Add(widgets.Boxed(widgets.Paragraph(l.T(text.SettingsWindowLockedHub, by))))
	}
	if w.state.expiry != "" {
		part.Add(widgets.Trouble(w.state.expiry))
	}
	open := widgets.NewButton(l.T(text.SettingsWindowFileOpen), w.pickFile)
	part.Add(container.NewHBox(open))
	for _, key := range s.keys {
		part.Add(w.row(key).object)
		if key == "hub.client_id" {
			w.hubBox = newSecretBox(w)
			part.Add(w.hubBox.object)
		}
	}
	part.Add(w.trial.object)
}

// advancedSection lays out the other settings by group, behind a button.
func (w *window) advancedSection(part *fyne.Container, s section) {
	l := w.host.Lang
	part.Add(widgets.Paragraph(l.T(text.SettingsWindowAdvancedIntro)))
	show := widgets.NewButton("", nil)
	part.Add(container.NewHBox(show))
	rest := widgets.Column(16)
	group := "none yet"
	for _, key := range s.keys {
		r := w.row(key)
		if g := r.entry.Group(); g != group {
			group = g
			rest.Add(widgets.Padded(8, 0, 0, 0, widgets.Bold(l.T(text.SettingGroup(group)), base.SizeNameText)))
		}
		rest.Add(r.object)
	}
	part.Add(rest)
	set := func(shown bool) {
		w.advanced = shown
		widgets.SetVisible(rest, shown)
		show.SetText(l.T(widgets.Either(shown, text.SettingsWindowAdvancedHide, text.SettingsWindowAdvancedShow)))
	}
	set(w.advanced)
	show.OnTapped = func() {
		set(!w.advanced)
		w.goTo(w.parts[sectionAdvanced])
	}
}

// problems lists the errors in the settings files.
func (w *window) problems() fyne.CanvasObject {
	lines := widgets.Column(4)
	lines.Add(widgets.Trouble(w.host.Lang.T(text.SettingsWindowProblems)))
	for _, p := range w.state.problems {
		lines.Add(widgets.Paragraph(p))
	}
	return widgets.Boxed(lines)
}

package settings

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
)

const (
	sectionCard     = "card"
	sectionCalls    = "calls"
	sectionLooks    = "looks"
	sectionAccess   = "access"
	sectionHub      = "hub"
	sectionSupport  = "support"
	sectionLines    = "lines"
	sectionPhones   = "phones"
	sectionListener = "listener"
	sectionAdvanced = "advanced"
)

var listSections = map[string]string{"line": sectionLines, "softphone": sectionPhones}

// section is a part of one of the two pages, with its keys.
type section struct {
	id    string
	admin bool // on the administrators' page
	keys  []string
}

// settingsPlan returns the place of every key. Keys without one go to the end
// of the page of those who set them, so that a new key is available at once.
func settingsPlan() []section {
	plan := []section{
		{sectionCard, false, []string{"card.corner", "card.monitor", "card.fields", "card.full_for", "card.after_call", "card.quiet",
			"card.outgoing", "card.auto_open", "card.over_fullscreen"}},
		{sectionLooks, false, []string{"ui.language", "ui.theme", "ui.file_word"}},
		{sectionAccess, false, []string{"card.hotkey", "card.hotkey_open", "card.hotkey_hear", "card.hotkey_close", "card.speech", "card.sound"}},
		{sectionCalls, false, []string{"history.choices", "calls.group", "phone.call_back"}},
		{sectionHub, true, []string{"hub.base_url", "hub.hub_url", "hub.client_id", "hub.organisation_code", "hub.secret_expires"}},
		{sectionSupport, true, []string{"support.contact"}},
		{sectionLines, true, nil},
		{sectionPhones, true, nil},
		{sectionListener, true, []string{"listener.enabled", "listener.http", "listener.port"}},
		{sectionAdvanced, true, nil},
	}
	placed := func(key string) bool {
		return slices.ContainsFunc(plan, func(s section) bool { return slices.Contains(s.keys, key) })
	}
	at := func(id string) *section {
		return &plan[slices.IndexFunc(plan, func(s section) bool { return s.id == id })]
	}
	for _, e := range settings.Keys() {
		switch {
		case placed(e.Key):
		case e.Audience == settings.Admin:
			at(sectionAdvanced).keys = append(at(sectionAdvanced).keys, e.Key)
		default:
			at(sectionCalls).keys = append(at(sectionCalls).keys, e.Key)
		}
	}
	for list, id := range listSections {
		for _, e := range settings.Fields(list) {
			at(id).keys = append(at(id).keys, e.Key)
		}
	}
	return plan
}

// section lays out one section, with a rule below it unless it is the last.
func (w *window) section(s section, last bool) fyne.CanvasObject {
	l := w.host.Lang
	part := widgets.Column(16, widgets.Subtitle(l.T(text.SettingsWindowSection(s.id))))
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
		for _, key := range s.keys {
			part.Add(w.row(key).object)
		}
	}
	if last {
		return part
	}
	return widgets.Column(16, part, widget.NewSeparator())
}

// hubSection lays out what new users fill in, and the test.
func (w *window) hubSection(part *fyne.Container, s section) {
	l := w.host.Lang
	by := w.lockedBy("hub.base_url")
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
	part.Add(container.NewHBox(widgets.NewButton(l.T(text.SettingsWindowFileOpen), w.pickSetupFile)))
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

func (w *window) problems() fyne.CanvasObject {
	lines := widgets.Column(4, widgets.Trouble(w.host.Lang.T(text.SettingsWindowProblems)))
	for _, p := range w.state.problems {
		lines.Add(widgets.Paragraph(p))
	}
	return widgets.Boxed(lines)
}

package settings

import (
	"slices"

	"wiebelt/internal/config/settings"
)

// Sections of the settings window.
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

// listSections are the sections that are lists.
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
		case e.Who == settings.Admin:
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

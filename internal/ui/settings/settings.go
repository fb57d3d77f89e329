// Package settings is the window with all settings: a page for everybody and one for
// administrators, where a hub can be tested before it is saved, and a set-up file applied.
//
// The window owns the draft, which is what was typed but not saved, and the open set-up
// file with its secret. Everything belongs to Fyne's thread. Files, secret stores and hubs
// are accessed off it, by functions that the commands use too; a secret is sent only to its
// store and to the hub it is for.
package settings

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
)

const (
	sectionsWidth = 184
	windowWidth   = 720
	windowHeight  = 688
	pageWidth     = 536 // maximum width of a page
)

// window shows all settings: a page for everybody and one for administrators, their
// sections at the side. What is typed is a draft until it is saved; values are validated
// while typing, like those in the file.
type window struct {
	host   *widgets.Host
	win    fyne.Window
	list   *widgets.List
	shown  string // section
	scroll *container.Scroll
	pages  *fyne.Container // holds the page, or the set-up file
	footer *settingsFooter
	trial  *trialBox

	state      *state       // nil until it was read
	secret     *keptSecrets // nil until looked up
	stale      bool         // what is shown was saved; the effective settings are being read
	draft      settingsDraft
	background *backgroundWork
	made       map[string]int // by key, list or section, how often its fields were made
	successor  *window        // the rebuilt version of this window; usually nil
	advanced   bool           // show advanced settings

	built
	file     *setupView    // the set-up file shown; usually nil
	question *widget.PopUp // asks whether to close without saving; usually nil
}

// built is what the pages consist of, recreated whenever the effective settings change.
type built struct {
	rows    map[string]*settingRow // of both pages, by key
	parts   map[string]fyne.CanvasObject
	general fyne.CanvasObject
	admins  fyne.CanvasObject
	hubBox  *secretBox
	lines   *linesBox
	phones  *phonesBox
	hotkeys map[string]*widgets.Slot // by the key of the setting
}

// settingsDraft holds what was typed, and both lists as the window shows them.
type settingsDraft struct {
	texts   map[string]string // unsaved, by key, as for settings.ParseText
	lines   []settings.Line
	phones  []draftPhone
	secret  string // of the hub's client
	saving  bool
	message string
	isError bool // message is an error
}

// newDraft returns a draft without changes.
func newDraft(set *settings.Settings) settingsDraft {
	return settingsDraft{texts: map[string]string{}, lines: slices.Clone(set.Lines), phones: draftPhones(set.Softphones)}
}

// phoneSecrets reports whether a secret was typed for a link.
func (d settingsDraft) phoneSecrets() bool {
	return slices.ContainsFunc(d.phones, func(p draftPhone) bool { return p.secret != "" })
}

// Open opens the window and reads the settings.
func Open(host *widgets.Host) widgets.Page {
	w := newWindow(host)
	host.Send(windowapi.KindSources, nil)
	w.load()
	return w
}

func newWindow(host *widgets.Host) *window {
	w := &window{host: host, pages: container.NewStack(), background: newBackgroundWork(), made: map[string]int{}, shown: sectionCard}
	l := host.Lang
	var items []widgets.SideItem
	for _, s := range settingsPlan() {
		items = append(items, widgets.SideItem{ID: s.id, Title: l.T(text.SettingsWindowSection(s.id)),
			Group: l.T(widgets.Either(s.admin, text.SettingsWindowAdmins, text.SettingsWindowGeneral))})
	}
	var side fyne.CanvasObject
	w.list, side = widgets.NewSide(w, l.T(text.SettingsWindowTitle), items)
	w.scroll = container.NewVScroll(container.NewStack(w.pages, newWheelCatcher(func(e *fyne.ScrollEvent) { w.scroll.Scrolled(e) })))
	w.scroll.OnScrolled = func(fyne.Position) { w.markSection() }
	w.footer, w.trial = newSettingsFooter(w), newTrialBox(w)
	asked, at := false, float32(0)
	if old, ok := host.Page(windowapi.WindowSettings).(*window); ok { // rebuilt in another language or look
		w.state, w.secret, w.draft, w.background, w.shown, w.advanced = old.state, old.secret, old.draft, old.background, old.shown, old.advanced
		w.made = old.made // shared: the old window's fields are gone
		old.successor, asked, at = w, old.question != nil, old.scroll.Offset.Y
		w.background.test()
		if old.file != nil {
			old.file.moveTo(w)
		}
		w.draft.message, w.draft.isError = "", false // in the previous language
	}
	body := container.NewBorder(nil, w.footer.object, nil, nil, container.New(widgets.SideLayout(sectionsWidth), side, w.scroll))
	w.win = host.Window(text.SettingsWindowTitle, body, fyne.NewSize(windowWidth, windowHeight))
	w.win.SetCloseIntercept(w.close)
	w.win.Canvas().SetOnTypedKey(widgets.OnEscape(w.escape))
	w.win.SetOnDropped(func(_ fyne.Position, all []fyne.URI) { w.dropped(all) })
	w.closeMenus()
	w.build()
	w.win.Canvas().Content().Refresh() // new objects get their positions only now
	widgets.ScrollTo(w.scroll, at)
	if asked { // in the previous language
		w.askToClose()
	}
	return w
}

// Window implements widgets.Page.
func (w *window) Window() fyne.Window { return w.win }

// Chosen returns the section marked in the list; none while a set-up file is shown.
func (w *window) Chosen() string {
	if w.file != nil {
		return ""
	}
	return w.shown
}

// ShowAt implements widgets.Page's placeShower: it shows a set-up file.
func (w *window) ShowAt(path string) { w.openFile(path) }

// HandleMessage shows the current settings: the welcome is sent again whenever settings take effect.
func (w *window) HandleMessage(kind string, _ json.RawMessage) {
	if kind == windowapi.KindWelcome {
		w.load()
	}
}

// StatusChanged implements widgets.Page's statusListener.
func (w *window) StatusChanged() {
	for key, line := range w.hotkeys {
		said := ""
		if w.host.Welcome.Status.Hotkeys[key] != "" && w.effectiveText(key) != "off" {
			said = w.host.Lang.T(text.SettingsWindowHotkeyOff)
		}
		line.Trouble(said)
	}
}

// SourcesChanged shows the current state of links; one may have been added.
func (w *window) SourcesChanged() {
	if w.phones != nil {
		w.phones.showStates()
	}
	w.load()
}

// Closed implements widgets.Page's closer.
func (w *window) Closed() { w.background.cancelAll() }

// setState shows the effective settings and reports whether they have changed. What was
// typed but not saved stays, unless the policy has locked it since.
func (w *window) setState(m state) (news bool) {
	if w.state != nil && !w.stale && reflect.DeepEqual(*w.state, m) {
		return false
	}
	if w.state == nil {
		w.draft = newDraft(m.set)
	} else {
		w.draft = w.draft.rebase(w.state.set, m.set)
		maps.DeleteFunc(w.draft.texts, func(key, _ string) bool { return m.set.Locked(key) })
	}
	w.state, w.stale = &m, false
	w.rebuild()
	return true
}

func (w *window) build() {
	if w.state == nil {
		w.show()
		return
	}
	w.rows, w.parts, w.hotkeys = map[string]*settingRow{}, map[string]fyne.CanvasObject{}, map[string]*widgets.Slot{}
	w.trial.show()
	general, admins := widgets.Column(28), widgets.Column(28)
	if len(w.state.problems) > 0 {
		general.Add(w.problems())
		admins.Add(w.problems())
	}
	plan := settingsPlan()
	for i, s := range plan {
		part := w.section(s, i+1 == len(plan) || plan[i+1].admin != s.admin)
		w.parts[s.id] = part
		if s.admin {
			admins.Add(part)
		} else {
			general.Add(part)
		}
	}
	w.general, w.admins = onPage(general), onPage(admins)
	w.footer.show()
	w.show()
}

// closeMenus closes the menus of fields that are about to be replaced; this window's question
// stays.
func (w *window) closeMenus() {
	all := w.win.Canvas().Overlays()
	for w.question == nil && all.Top() != nil {
		all.Remove(all.Top())
	}
}

// newFields is called when the fields of a key, list or section are made. shown reports later
// whether they are still on the page: keys, menus and screen readers may reach others,
// which must change nothing.
func (w *window) newFields(of string) (shown func() bool) {
	w.made[of]++
	n := w.made[of]
	return func() bool { return w.made[of] == n }
}

func onPage(o fyne.CanvasObject) *fyne.Container {
	return container.New(widgets.AtMost(pageWidth), widgets.OnPage(o))
}

// show shows the page of the chosen section, or the set-up file.
func (w *window) show() {
	var content fyne.CanvasObject = container.NewWithoutLayout()
	switch {
	case w.file != nil:
		content = w.file.object
	case w.state == nil:
	case w.isAdmin(w.shown):
		content = w.admins
	default:
		content = w.general
	}
	if len(w.pages.Objects) != 1 || w.pages.Objects[0] != content {
		widgets.Fill(w.pages, content)
	}
	w.list.Refresh()
	widgets.SetVisible(w.footer.object, w.state != nil && w.file == nil)
}

func (w *window) isAdmin(id string) bool {
	return slices.ContainsFunc(settingsPlan(), func(s section) bool { return s.id == id && s.admin })
}

// Choose switches to a section.
func (w *window) Choose(id string) {
	if id == "" || w.state == nil {
		return
	}
	if w.file != nil {
		w.closeFile()
	}
	w.shown = id
	if id == sectionAdvanced && !w.advanced {
		w.advanced = true
		w.build()
	}
	w.list.Refresh()
	w.show()
	w.goTo(w.parts[id])
	if w.shown != id { // another page has another height, so it was scrolled on the way
		w.shown = id
		w.list.Refresh()
	}
}

// markSection marks the section being read while scrolling: the last one that starts in the upper
// third, and at the end of a page its last.
func (w *window) markSection() {
	if w.state == nil || w.file != nil {
		return
	}
	high := w.scroll.Size().Height
	end := w.scroll.Offset.Y+high >= w.pages.MinSize().Height-1
	now := ""
	for _, s := range settingsPlan() {
		if s.admin == w.isAdmin(w.shown) && (now == "" || end || widgets.OffsetIn(w.scroll, w.parts[s.id]) <= w.scroll.Offset.Y+high/3) {
			now = s.id
		}
	}
	if now != w.shown {
		w.shown = now
		w.list.Refresh()
	}
}

func (w *window) goTo(o fyne.CanvasObject) {
	if o == nil {
		return
	}
	w.win.Canvas().Content().Refresh() // new objects get their positions only now
	widgets.ScrollTo(w.scroll, widgets.OffsetIn(w.scroll, o)-20)
}

func (w *window) effectiveText(key string) string { return w.state.values[key].Value }

// lockedBy returns the location of the policy that locks a key, "" if none does.
func (w *window) lockedBy(key string) string { return w.state.set.LockedBy(key) }

func (w *window) currentText(key string) string {
	if s, ok := w.draft.texts[key]; ok {
		return s
	}
	return w.effectiveText(key)
}

func (w *window) setText(key, s string) {
	if sameSetting(key, s, w.effectiveText(key)) {
		delete(w.draft.texts, key)
	} else {
		w.draft.texts[key] = s
	}
	w.edited()
	if key == "hub.base_url" || key == "hub.client_id" || key == "hub.secret_store" {
		w.hubBox.addressChanged()
	}
}

// edited is called after every change of the draft.
func (w *window) edited() {
	w.draft.message, w.draft.isError = "", false
	w.footer.show()
	w.trial.edited()
}

// sameSetting reports whether two texts of a key mean the same.
func sameSetting(key, a, b string) bool {
	if a == b {
		return true
	}
	x, errA := settings.ParseText(key, a)
	y, errB := settings.ParseText(key, b)
	return errA == nil && errB == nil && reflect.DeepEqual(x, y)
}

// changes returns what was typed, as for settings.Set, and the keys that cannot be set.
func (w *window) changes() (changes map[string]any, bad []string) {
	changes = map[string]any{}
	for _, e := range settings.Keys() {
		s, typed := w.draft.texts[e.Key]
		if !typed {
			continue
		}
		v, err := settings.ParseText(e.Key, s)
		switch {
		case s == "" && e.Type != settings.List:
			changes[e.Key] = nil
		case err != nil:
			bad = append(bad, e.Key)
		default:
			changes[e.Key] = v
		}
	}
	return changes, bad
}

func (w *window) unsaved() bool {
	d := w.draft
	return len(d.texts) > 0 || len(d.lists(w.state.set)) > 0 || d.secret != "" || d.phoneSecrets()
}

// escape leaves a set-up file, otherwise closes the window.
func (w *window) escape() {
	switch {
	case w.question != nil:
		w.question.Hide()
		w.question = nil
	case w.file != nil:
		w.closeFile()
	default:
		w.close()
	}
}

// close closes the window, after a question if something would be lost.
func (w *window) close() {
	switch {
	case w.state == nil || !w.unsaved():
		w.closeNow()
	case w.question == nil:
		w.askToClose()
	}
}

func (w *window) closeNow() {
	w.win.SetCloseIntercept(nil)
	w.win.Close()
}

// askToClose asks whether to close without saving.
func (w *window) askToClose() {
	l := w.host.Lang
	drop := widgets.NewButton(l.T(text.SettingsWindowDrop), w.closeNow)
	stay := widgets.NewPrimary(l.T(text.SettingsWindowStay), w.escape)
	w.question = widgets.Ask(w.win.Canvas(), l.T(text.SettingsWindowUnsaved), drop, stay)
}

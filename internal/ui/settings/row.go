package settings

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// Widths of fields; fields for addresses are as wide as running text.
const (
	numberWidth = 96
	dateWidth   = 144
	choiceWidth = 280
)

// maxShown is the maximum size in bytes of a list shown in a field.
const maxShown = 6 << 10

// settingRow is a setting on a page: its name, the field for its type, its description,
// and its current error.
type settingRow struct {
	w      *window
	entry  settings.Entry
	object *fyne.Container
	fault  *widgets.Slot
	focus  fyne.Focusable // nil if there is nothing to type into
	meant  string         // what was typed last, in the form of settings.ParseText
	shown  func() bool    // whether it is still on the page
}

func (w *window) row(key string) *settingRow {
	entry, _ := settings.EntryOf(key)
	l, value, by := w.host.Lang, w.effectiveText(key), w.lockedBy(key)
	r := &settingRow{w: w, entry: entry, object: widgets.Column(4), fault: widgets.NewSlot(), shown: w.newFields(key)}
	w.rows[key] = r
	title := l.T(text.SettingTitle(key))
	if list, ok := w.state.set.Get(key).([]string); ok && len(value) > maxShown {
		r.object.Add(fieldLabel(title))
		r.object.Add(widgets.Paragraph(l.T(text.SettingsWindowTooLong, len(list), settings.Path(w.host.Dirs))))
		return r
	}
	if by != "" && r.entry.Type != settings.Flag {
		r.object.Add(fieldLabel(title))
		r.object.Add(lockedValue(shownValue(l, r.entry, value)))
		r.object.Add(lockedLine(l.T(text.SettingsWindowLocked, by)))
		r.object.Add(widgets.Paragraph(helpOf(l, key)))
		return r
	}
	input := r.input(title)
	if r.entry.Type != settings.Flag { // a flag's name is beside its box
		r.object.Add(fieldLabel(title))
	}
	r.object.Add(explore.WithName(input, title, helpOf(l, key), func() string { return r.fault.ContentName }))
	r.object.Add(r.fault.Container)
	r.object.Add(widgets.Paragraph(helpOf(l, key)))
	if isHotkey(key) {
		w.hotkeys[key] = widgets.NewSlot()
		r.object.Add(w.hotkeys[key].Container)
		w.StatusChanged()
	}
	r.meant = r.currentText()
	r.check(r.meant)
	if c, flag := r.focus.(*widget.Check); flag && by != "" {
		c.Disable()
		r.object.Add(lockedLine(l.T(text.SettingsWindowLocked, by)))
	}
	return r
}

func fieldLabel(s string) fyne.CanvasObject {
	return widgets.Bold(s, theme.SizeHint)
}

// helpOf returns a setting's description, in the window's own words if it has any.
func helpOf(l text.Language, key string) string {
	own := text.SettingsWindowHelp(key)
	if s := l.T(own); s != string(own) {
		return s
	}
	return l.T(text.SettingHelp(key))
}

// shownValue returns a value in words, for display only.
func shownValue(l text.Language, e settings.Entry, s string) string {
	switch {
	case s == "":
		return l.T(text.SettingNone)
	case len(e.Choices) > 0:
		return strings.Join(choiceLabels(l, e.Key, strings.Split(s, ", ")), ", ")
	case e.Type == settings.Date:
		return dateIn(l, s)
	}
	return choiceLabel(l, e.Key, s)
}

// check shows next to the field what is wrong with a text.
func (r *settingRow) check(s string) bool {
	_, err := settings.ParseText(r.entry.Key, s)
	if err == nil || r.w.lockedBy(r.entry.Key) != "" {
		r.fault.Trouble("")
		return true
	}
	r.fault.Trouble(wantOf(r.w.host.Lang, r.entry))
	return false
}

func wantOf(l text.Language, e settings.Entry) string {
	switch e.Type {
	case settings.Number:
		return l.T(text.SettingsWindowWantNumber, e.Min, e.Max)
	case settings.Duration:
		return l.T(text.SettingsWindowWantSeconds, int(e.MinDuration.Seconds()), int(e.MaxDuration.Seconds()))
	case settings.Date:
		return l.T(text.SettingsWindowWantDate)
	}
	own := text.SettingsWindowWant(e.Key)
	if s := l.T(own); s != string(own) {
		return s
	}
	return l.T(text.SettingsWindowWantOther)
}

// currentText returns the row's text, in the form of settings.ParseText.
func (r *settingRow) currentText() string { return r.w.currentText(r.entry.Key) }

func (r *settingRow) typed(s string) {
	if r.shown() {
		r.meant = s
		r.check(s)
		r.w.setText(r.entry.Key, s)
	}
}

// resume moves the focus from the row's earlier version, with the text as it was typed if
// that still is the value.
func (r *settingRow) resume(before *settingRow) {
	was, now := entryOf(before.focus), entryOf(r.focus)
	if was != nil && now != nil && sameSetting(r.entry.Key, before.meant, r.meant) {
		now.Text = was.Text
	}
	r.w.moveFocus(before.focus, r.focus)
}

// moveFocus moves focus and caret from a field that is gone to its replacement.
func (w *window) moveFocus(from, to fyne.Focusable) {
	if was, now := entryOf(from), entryOf(to); was != nil && now != nil {
		now.CursorRow, now.CursorColumn = was.CursorRow, was.CursorColumn
		now.SetText(now.Text) // the caret stays within it
	}
	w.win.Canvas().Focus(to)
}

// entryOf returns the entry of a focused field, nil if there is none.
func entryOf(f fyne.Focusable) *widget.Entry {
	switch f := f.(type) {
	case *widgets.Field:
		return &f.Entry
	case *widget.SelectEntry:
		return &f.Entry
	}
	return nil
}

// input makes the field, with the key's text. It sets focus.
func (r *settingRow) input(title string) fyne.CanvasObject {
	switch {
	case r.entry.Type == settings.Flag:
		c := widget.NewCheck(title, nil)
		c.SetChecked(r.currentText() == "true")
		c.OnChanged = func(on bool) { r.typed(strconv.FormatBool(on)) }
		r.focus = c
		return withoutPadding(c)
	case r.entry.Key == "card.monitor":
		return r.choice(append([]string{"active", "primary"}, r.w.host.Welcome.WorkArea.Monitors...))
	case r.entry.Type == settings.Choice:
		return r.choice(r.entry.Choices)
	case r.entry.Type == settings.List && r.entry.Choices != nil:
		o := newOrderedBox(r)
		said := explore.Description{Role: screenreader.Group, Name: title, Help: helpOf(r.w.host.Lang, r.entry.Key)}
		return explore.WithDescription(o.object, func() explore.Description { return said })
	case r.entry.Type == settings.List:
		return r.lines()
	case r.entry.Type == settings.Duration:
		return r.seconds()
	case r.entry.Type == settings.Date:
		return r.date()
	case r.entry.Type == settings.Number:
		e := r.text(r.currentText(), strings.TrimSpace)
		return container.New(widgets.AtMost(numberWidth), e)
	}
	if words := wellKnown[r.entry.Key]; words != nil {
		return r.wordsOr(words)
	}
	return r.text(r.currentText(), strings.TrimSpace)
}

// wellKnown are words with a meaning in settings that also accept other text.
var wellKnown = map[string][]string{"hub.proxy": {"system", "none"}, "phone.call_back": {"tel", "sip", "off"}, "card.hotkey": {settings.Defaults().Card.Hotkey, "off"},
	"card.hotkey_open": {"off"}, "card.hotkey_hear": {"off"}, "card.hotkey_close": {"off"}}

// isHotkey reports whether other programs may use the keys of this setting.
func isHotkey(key string) bool { return strings.HasPrefix(key, "card.hotkey") }

// wordsOr returns a field for one of a few words in display form, or a text.
func (r *settingRow) wordsOr(words []string) fyne.CanvasObject {
	labels := choiceLabels(r.w.host.Lang, r.entry.Key, words)
	e := widget.NewSelectEntry(labels)
	e.SetText(choiceLabel(r.w.host.Lang, r.entry.Key, r.currentText()))
	e.OnChanged = func(s string) {
		s = strings.TrimSpace(s)
		if i := slices.Index(labels, s); i >= 0 {
			s = words[i]
		}
		r.typed(s)
	}
	r.focus = e
	return e
}

// text returns a field to type into, with the value as people read and write it. meant
// converts that to the form of settings.ParseText.
func (r *settingRow) text(shown string, meant func(string) string) *widgets.Field {
	e := widgets.NewField()
	e.Scroll = fyne.ScrollHorizontalOnly
	e.SetText(shown)
	e.OnChanged = func(s string) { r.typed(meant(s)) }
	r.focus = e
	return e
}

// choice returns a field for one of a few words.
func (r *settingRow) choice(words []string) fyne.CanvasObject {
	words = slices.Clone(words)
	now := r.currentText()
	if !slices.Contains(words, now) {
		words = append(words, now) // a monitor that is not connected now
	}
	c := widget.NewSelect(choiceLabels(r.w.host.Lang, r.entry.Key, words), nil)
	c.SetSelectedIndex(slices.Index(words, now))
	c.OnChanged = func(string) {
		if i := c.SelectedIndex(); i >= 0 {
			r.typed(words[i])
		}
	}
	r.focus = c
	return container.New(widgets.AtMost(choiceWidth), c)
}

// choiceLabel returns the label of a value; the value itself if it has none.
func choiceLabel(l text.Language, key, value string) string {
	k := text.SettingsWindowChoice(key, value)
	if s := l.T(k); s != string(k) {
		return s
	}
	return value
}

func choiceLabels(l text.Language, key string, values []string) []string {
	labels := make([]string, len(values))
	for i, v := range values {
		labels[i] = choiceLabel(l, key, v)
	}
	return labels
}

// seconds returns a field for a duration.
func (r *settingRow) seconds() fyne.CanvasObject {
	shown := r.currentText()
	if d, err := time.ParseDuration(shown); err == nil && d%time.Second == 0 {
		shown = strconv.Itoa(int(d.Seconds()))
	}
	e := r.text(shown, func(s string) string {
		if s = strings.TrimSpace(s); s != "" && strings.Trim(s, "0123456789") == "" {
			return s + "s"
		}
		return s
	})
	unit := widgets.NewTextLine(r.w.host.Lang.T(text.SettingsWindowSeconds), base.SizeNameText, base.ColorNamePlaceHolder, false).Truncate()
	return container.New(widgets.Columns(numberWidth+8), widgets.Padded(0, 0, 0, 8, e), container.New(widgets.Middle(), unit))
}

// date returns a field for a date in the format of the language.
func (r *settingRow) date() fyne.CanvasObject {
	e := r.text(dateIn(r.w.host.Lang, r.currentText()), func(s string) string {
		s = strings.TrimSpace(s)
		for _, f := range []string{"2-1-2006", "2/1/2006", "2.1.2006"} { // the day first, in both languages
			if day, err := time.Parse(f, s); err == nil {
				return day.Format(time.DateOnly)
			}
		}
		return s
	})
	e.SetPlaceHolder(r.w.host.Lang.T(text.SettingsWindowDateHint))
	return container.New(widgets.AtMost(dateWidth), e)
}

// dateIn formats a date of the settings for a language; anything else
// is returned unchanged.
func dateIn(l text.Language, s string) string {
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		return l.Date(day)
	}
	return s
}

// lines returns a field for a list, one element per line.
func (r *settingRow) lines() fyne.CanvasObject {
	e := widgets.NewField()
	e.MultiLine = true
	e.SetMinRowsVisible(3)
	e.SetPlaceHolder(r.w.host.Lang.T(text.SettingsWindowListHint))
	e.SetText(strings.ReplaceAll(r.currentText(), ", ", "\n"))
	e.OnChanged = func(s string) {
		var parts []string
		for _, p := range strings.Split(s, "\n") {
			if p = strings.TrimSpace(p); p != "" {
				parts = append(parts, p)
			}
		}
		r.typed(strings.Join(parts, ", "))
	}
	r.focus = e
	return e
}

// orderedBox is a field for a selection of a few words, in order.
type orderedBox struct {
	r        *settingRow
	object   *fyne.Container
	order    []string
	selected map[string]bool
	stops    []fyne.Focusable // where each element's focus moves with it: its button, or its box at the top
}

func newOrderedBox(r *settingRow) *orderedBox {
	o := &orderedBox{r: r, object: widgets.Column(0), selected: map[string]bool{}}
	for _, p := range strings.Split(r.currentText(), ",") {
		if p = strings.TrimSpace(p); p != "" {
			o.order = append(o.order, p)
			o.selected[p] = true
		}
	}
	for _, c := range r.entry.Choices {
		if !o.selected[c] {
			o.order = append(o.order, c)
		}
	}
	o.build()
	return o
}

func (o *orderedBox) changed() {
	on := slices.DeleteFunc(slices.Clone(o.order), func(v string) bool { return !o.selected[v] })
	o.r.typed(strings.Join(on, ", "))
}

func (o *orderedBox) build() {
	l := o.r.w.host.Lang
	o.object.Objects, o.stops = nil, nil
	for i, v := range o.order {
		c := widget.NewCheck(choiceLabel(l, o.r.entry.Key, v), nil)
		c.SetChecked(o.selected[v])
		c.OnChanged = func(on bool) {
			o.selected[v] = on
			o.changed()
		}
		up := widgets.NewButtonWithIcon("", base.MoveUpIcon(), func() { o.up(i) })
		up.Importance, up.Subject = widget.LowImportance, l.T(text.SettingsWindowUp)+": "+choiceLabel(l, o.r.entry.Key, v)
		if i == 0 {
			up.Disable()
		}
		o.stops = append(o.stops, widgets.Either[fyne.Focusable](i == 0, c, up))
		o.object.Add(container.New(widgets.AtMost(choiceWidth), container.NewBorder(nil, nil, nil, up, withoutPadding(c))))
	}
	o.object.Refresh()
}

func (o *orderedBox) up(i int) {
	c := o.r.w.win.Canvas()
	keys := c.Focused() == o.stops[i]
	o.order[i-1], o.order[i] = o.order[i], o.order[i-1]
	o.build()
	o.changed()
	if keys {
		c.Focus(o.stops[i-1])
	}
}

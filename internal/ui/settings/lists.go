package settings

import (
	"slices"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/widgets"
)

// maxRows is how many numbers or links can be edited.
const maxRows = 60

// listBox is a list that can be edited.
type listBox struct {
	w      *window
	list   string // its key
	words  listWords
	object *fyne.Container
	build  func()           // fills it
	stops  []fyne.Focusable // the first field of each row, and the add button
	fields []*widgets.Field // of all rows
	shown  func() bool      // whether the rows made last are on the page
}

// listWords are the intro of a list, the text for an empty one, and the name of the button
// that adds to it.
type listWords struct{ intro, none, add text.Key }

// fill recreates the n elements of a list: the intro, the elements, the text for an empty
// list, the policy that locks it, and buttons. add appends an element to the draft.
func (b *listBox) fill(n int, row func(i int, locked bool) fyne.CanvasObject, add func(), more ...fyne.CanvasObject) {
	w, o, l, by := b.w, b.object, b.w.host.Lang, b.w.lockedBy(b.list)
	b.shown = w.newFields(b.list)
	o.Objects, b.stops, b.fields = nil, nil, nil
	defer o.Refresh()
	o.Add(widgets.Paragraph(l.T(b.words.intro)))
	if n > maxRows {
		o.Add(widgets.Paragraph(l.T(text.SettingsWindowTooLong, n, settings.Path(w.host.Dirs))))
		return
	}
	for i := range n {
		o.Add(row(i, by != ""))
	}
	if n == 0 {
		o.Add(widgets.Paragraph(l.T(b.words.none)))
	}
	if by != "" {
		o.Add(lockedLine(l.T(text.SettingsWindowLocked, by)))
	} else {
		button := widgets.NewButton(l.T(b.words.add), b.redo(n, add))
		more = append([]fyne.CanvasObject{button}, more...)
		b.stops = append(b.stops, button)
	}
	if len(more) > 0 {
		o.Add(widgets.Buttons(more...))
	}
}

// restoreFocus moves the focus from an element that is gone to row i, or to its replacement: the
// row before it, or the button.
func (b *listBox) restoreFocus(i int) {
	if n := len(b.stops); n > 0 {
		c := b.w.win.Canvas()
		c.Content().Refresh() // new elements get their positions only now
		c.Focus(b.stops[max(0, min(i, n-2))])
	}
}

// resume moves the focus from one of the fields of an earlier version to the same field,
// with what was typed there, or to none if it is gone.
func (b *listBox) resume(before []*widgets.Field, focused fyne.Focusable) {
	i := slices.IndexFunc(before, func(f *widgets.Field) bool { return fyne.Focusable(f) == focused })
	if i < 0 {
		return
	}
	was := before[i]
	if len(b.fields) != len(before) || strings.TrimSpace(b.fields[i].Text) != strings.TrimSpace(was.Text) {
		b.w.win.Canvas().Unfocus()
		return
	}
	b.fields[i].SetText(was.Text) // the draft has no spaces at its ends
	b.w.moveFocus(was, b.fields[i])
}

// redo returns do for the button of a row, after which the list is filled again, with the
// focus at row i.
func (b *listBox) redo(i int, do func()) func() {
	shown := b.shown
	return func() {
		if shown() {
			do()
			b.build()
			b.restoreFocus(i)
		}
	}
}

// field returns a field for a text of a row, which of returns from the draft; changed is
// called whenever it has changed. Spaces around it do not count, as in the file.
func (b *listBox) field(of func() *string, locked bool, changed func()) *widgets.Field {
	e, shown := widgets.NewField(), b.shown
	b.fields = append(b.fields, e)
	e.SetText(*of())
	e.OnChanged = func(s string) {
		if shown() {
			*of() = strings.TrimSpace(s)
			changed()
			b.w.edited()
		}
	}
	if locked {
		e.Disable()
	}
	return e
}

// remove returns the button that removes row i, which shows name.
func (b *listBox) remove(i int, name string, locked bool, do func()) *widgets.Button {
	r := widgets.NewQuiet(b.w.host.Lang.T(text.SettingsWindowRemove), b.redo(i, func() {
		do()
		b.w.edited()
	}))
	r.Subject = name
	widgets.SetVisible(r, !locked)
	return r
}

type linesBox struct{ listBox }

func newLinesBox(w *window) *linesBox {
	b := &linesBox{listBox{w: w, list: "line", object: widgets.Column(8),
		words: listWords{text.SettingsWindowLinesIntro, text.SettingsWindowLinesNone, text.SettingsWindowLinesAdd}}}
	add := func() { w.draft.lines = append(w.draft.lines, settings.Line{}) }
	w.lines = b
	b.build = func() { b.fill(len(w.draft.lines), b.row, add) }
	b.build()
	return b
}

func filledLines(all []settings.Line) []settings.Line {
	return slices.DeleteFunc(slices.Clone(all), func(n settings.Line) bool { return n == settings.Line{} })
}

// lineWrong reports whether a line cannot be saved; an empty one is skipped.
func lineWrong(n settings.Line) bool {
	if n == (settings.Line{}) {
		return false
	}
	_, err := settings.Compose(map[string]any{"line": []settings.Line{n}})
	return err != nil
}

func (b *linesBox) row(i int, locked bool) fyne.CanvasObject {
	l, d := b.w.host.Lang, &b.w.draft
	fault := widgets.NewSlot()
	said := func() string { return fault.ContentName }
	check := func() {
		fault.Trouble("")
		if lineWrong(d.lines[i]) {
			fault.Trouble(l.T(text.SettingsWindowWant("line")))
		}
	}
	number := b.field(func() *string { return &d.lines[i].Number }, locked, check)
	name := b.field(func() *string { return &d.lines[i].Name }, locked, check)
	b.stops = append(b.stops, number)
	number.SetPlaceHolder(l.T(text.SettingTitle("line.number")))
	name.SetPlaceHolder(l.T(text.SettingTitle("line.name")))
	remove := b.remove(i, d.lines[i].Number, locked, func() { d.lines = slices.Delete(d.lines, i, i+1) })
	check()
	fields := container.New(widgets.Columns(lineWidth), widgets.Padded(0, 0, 0, 8, explore.WithName(number, l.T(text.SettingTitle("line.number")), "", said)),
		explore.WithName(name, l.T(text.SettingTitle("line.name")), "", nil))
	return widgets.Column(4, container.NewBorder(nil, nil, nil, remove, fields), fault.Container)
}

const lineWidth = 160 // of a telephone number

type phonesBox struct {
	listBox
	shows []func() // show the state of a link and of its secret
}

// draftPhone is a link with the secret typed for it.
type draftPhone struct {
	settings.Softphone
	secret string
}

func draftPhones(all []settings.Softphone) (drafts []draftPhone) {
	for _, p := range all {
		drafts = append(drafts, draftPhone{Softphone: p})
	}
	return drafts
}

func softphones(drafts []draftPhone) (all []settings.Softphone) {
	for _, d := range drafts {
		all = append(all, d.Softphone)
	}
	return all
}

func newPhonesBox(w *window) *phonesBox {
	b := &phonesBox{listBox: listBox{w: w, list: "softphone", object: widgets.Column(12),
		words: listWords{text.SettingsWindowPhonesIntro, text.SettingsWindowPhonesNone, text.SettingsWindowPhonesAdd}}}
	w.phones = b
	recipes := widgets.NewQuiet(w.host.Lang.T(text.SettingsWindowPhonesRecipes), func() { w.host.Show(windowapi.WindowRecipes) })
	row := func(i int, locked bool) fyne.CanvasObject { return newPhoneBox(b, i, locked) }
	b.build = func() {
		b.shows = nil
		b.fill(len(w.draft.phones), row, b.add, recipes)
	}
	b.build()
	return b
}

func (b *phonesBox) showStates() {
	for _, show := range b.shows {
		show()
	}
}

func phonesFine(all []draftPhone) bool {
	for i, p := range all {
		if field, _ := phoneFault(all, i); field != "" || p.Kind == "" {
			return false
		}
	}
	return true
}

// phoneFault returns the field in which a link is wrong, given the others, and
// the text that says so.
func phoneFault(all []draftPhone, i int) (field string, why text.Key) {
	p := all[i]
	if p.Name == "" || slices.ContainsFunc(all[:i], func(o draftPhone) bool { return o.Name == p.Name }) {
		return "name", text.SettingsWindowNameTaken
	}
	return p.Missing(), text.SettingsWindowNeeded
}

// add appends a link of the first kind, with a unique name.
func (b *phonesBox) add() {
	d, kind := &b.w.draft, registry.Links()[0]
	name := kind
	for n := 2; slices.ContainsFunc(d.phones, func(p draftPhone) bool { return p.Name == name }); n++ {
		name = kind + "-" + strconv.Itoa(n)
	}
	d.phones = append(d.phones, draftPhone{Softphone: settings.Softphone{Kind: kind, Name: name}})
	b.w.edited()
}

// phoneBox is one link, with the fields of its kind.
type phoneBox struct {
	b      *phonesBox
	i      int
	faults map[string]*widgets.Slot
	locked bool
}

func newPhoneBox(b *phonesBox, i int, locked bool) fyne.CanvasObject {
	x := &phoneBox{b: b, i: i, faults: map[string]*widgets.Slot{}, locked: locked}
	l, d, p := b.w.host.Lang, &b.w.draft, *x.phone()
	all := registry.Links()
	labels := make([]string, len(all))
	for n, k := range all {
		labels[n] = l.T(text.LinkKind(k))
	}
	kind := widget.NewSelect(labels, nil)
	kind.SetSelectedIndex(slices.Index(all, p.Kind))
	choose := b.redo(i, func() {
		p := x.phone()
		old := p.Kind
		p.Kind = all[kind.SelectedIndex()]
		if p.Name == old { // it was named after its kind
			p.Name = p.Kind
		}
		if !registry.Of(p.Kind).Requires(registry.NeedsSecret) {
			p.secret = "" // there is no field to delete it from
		}
		b.w.edited()
	})
	kind.OnChanged = func(string) { choose() }
	if locked {
		kind.Disable()
	}
	b.stops = append(b.stops, kind)
	remove := b.remove(i, p.Name, locked, func() { d.phones = slices.Delete(d.phones, i, i+1) })
	title := l.T(text.SettingTitle("softphone.kind"))
	content := widgets.Column(8,
		container.NewBorder(nil, nil, nil, container.NewBorder(nil, remove, nil, nil),
			widgets.Column(2, widgets.Caption(title), explore.WithName(container.New(widgets.AtMost(choiceWidth), kind), title, "", nil))),
		x.field("name", func() *string { return &x.phone().Name }),
		x.field("address", func() *string { return &x.phone().Address }))
	its := registry.Of(p.Kind)
	if its.Requires(registry.NeedsExtension) || p.Extension != "" {
		content.Add(x.field("extension", func() *string { return &x.phone().Extension }))
	}
	if its.Requires(registry.NeedsUser) || p.User != "" {
		content.Add(x.field("user", func() *string { return &x.phone().User }))
	}
	if its.Requires(registry.NeedsSecret) {
		content.Add(x.secret())
	}
	content.Add(x.phase())
	x.check()
	return widgets.Framed(content)
}

func (x *phoneBox) phone() *draftPhone { return &x.b.w.draft.phones[x.i] }

// phase shows the state of the link and its reason, or nothing if unknown.
func (x *phoneBox) phase() fyne.CanvasObject {
	said := widgets.Column(0)
	show := func() {
		said.Objects = nil
		if s := x.phaseNow(); s != "" {
			said.Add(widgets.Paragraph(s))
		}
		said.Hidden = len(said.Objects) == 0
		said.Refresh()
	}
	show()
	x.b.shows = append(x.b.shows, show)
	return said
}

func (x *phoneBox) phaseNow() string {
	l, p := x.b.w.host.Lang, x.phone()
	phase, cause := x.b.w.host.Sources.PhaseOf(p.Kind, p.Name)
	if phase == windowapi.LinkUnknown {
		return ""
	}
	s, why := l.T(text.SettingsWindowPhase(phase)), text.LinkTrouble(l, cause)
	if why == "" || phase == windowapi.LinkUp {
		return s
	}
	return s + ". " + why
}

func (x *phoneBox) check() {
	field, why := phoneFault(x.b.w.draft.phones, x.i)
	for name, f := range x.faults {
		f.Trouble("")
		if name == field {
			f.Trouble(x.b.w.host.Lang.T(why))
		}
	}
}

// field returns the field with a name; of returns its value in the draft.
func (x *phoneBox) field(name string, of func() *string) fyne.CanvasObject {
	l := x.b.w.host.Lang
	e := x.b.field(of, x.locked, func() {
		x.b.showStates() // its name or address may be another one
		x.check()
	})
	if name == "address" && !registry.Of(x.phone().Kind).Requires(registry.NeedsAddress) {
		e.SetPlaceHolder(l.T(text.SettingsWindowUsual))
	}
	f := widgets.NewSlot()
	x.faults[name] = f
	title := l.T(text.SettingTitle("softphone." + name))
	return widgets.Column(2, widgets.Caption(title), explore.WithName(e, title, "", func() string { return f.ContentName }), f.Container)
}

// secret returns the field of the link's secret, which is never shown.
func (x *phoneBox) secret() fyne.CanvasObject {
	w, l := x.b.w, x.b.w.host.Lang
	e, shown := w.newSecretField(), x.b.shown
	x.b.fields = append(x.b.fields, e)
	e.SetText(x.phone().secret)
	e.OnChanged = func(s string) {
		if shown() {
			x.phone().secret = s
			w.edited()
		}
	}
	state := widgets.Column(0)
	show := func() {
		said := text.SettingsWindowSecretLooking
		switch p := x.phone(); {
		case x.secretMoved() && p.secret == "":
			said = text.SettingsWindowSecretAgain
		case w.secret == nil:
		default:
			switch k := w.secret.links[p.Name]; k {
			case secret.IsSet:
				said = text.SettingsWindowSecretSet
			case "", secret.NotSet:
				said = text.SettingsWindowSecretNone
			default:
				said = text.SecretState(string(k))
			}
		}
		widgets.Fill(state, widgets.Hint(l.T(said)))
	}
	show()
	x.b.shows = append(x.b.shows, show)
	e.SetPlaceHolder(l.T(text.SettingsWindowSecretEnter))
	return widgets.Column(2, widgets.Caption(l.T(text.SettingsWindowSecret)), state, explore.WithName(e,
		l.T(text.SettingsWindowSecret), "", nil))
}

func (x *phoneBox) secretMoved() bool {
	p := x.phone()
	return slices.ContainsFunc(x.b.w.state.set.Softphones, func(was settings.Softphone) bool {
		if was.Name != p.Name || !registry.Of(was.Kind).Requires(registry.NeedsSecret) {
			return false
		}
		before, err := secret.SoftphoneRef(was.Kind, was.Name, was.Address)
		now, _ := secret.SoftphoneRef(p.Kind, p.Name, p.Address)
		return err == nil && before != now
	})
}

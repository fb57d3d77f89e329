// Package lookup is the window to look up a number that is typed, pasted, or passed on by
// another window with ShowAt.
//
// The resident asks the hub; the window owns the question and its answer, and drops both
// when it closes. Everything runs on Fyne's thread.
package lookup

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

const (
	noticeDelay = 300 * time.Millisecond // "looking up" is mentioned
	fieldWidth  = 124                    // of a field's label
)

// window looks up a number that is typed or pasted. The result lives no
// longer than the window.
type window struct {
	host   *widgets.Host
	win    fyne.Window
	box    *widgets.FilterBox
	button *widgets.Button
	failed *widgets.Slot // what failed
	body   *fyne.Container
	scroll *container.Scroll // around it
	rows   *widgets.Rows     // of several matches, nil while there are none
	seq    int               // of the last question
	asking bool
	found  *windowapi.LookupResult
	copied string   // what was just copied
	copies []func() // show on a button whether that was its text

	openLink func(ctx context.Context, link, number string) error
}

// Open opens the window.
func Open(host *widgets.Host) widgets.Page {
	l := host.Lang
	w := &window{host: host, failed: widgets.NewSlot(), body: container.NewStack(), openLink: host.CallActions().OpenLink}
	w.box = widgets.NewFilterBox(l.T(text.LookupBox))
	w.box.OnDown = func() {
		if w.rows == nil {
			w.sendLookup()
			return
		}
		w.win.Canvas().Focus(w.rows)
	}
	w.box.OnChanged = func(s string) { w.typed() }
	w.button = widgets.NewPrimary(l.T(text.LookupButton), w.sendLookup)
	title := widgets.Title(l.T(text.LookupTitle))
	line := container.NewBorder(nil, nil, nil, widgets.Padded(0, 0, 8, 0, w.button), w.box)
	w.scroll = container.NewVScroll(w.body)
	head := widgets.Padded(20, 12, widgets.Edge, widgets.Edge, widgets.Column(12, title, line, w.failed.Container))
	w.win = host.Window(text.LookupTitle, container.NewBorder(head, nil, nil, nil, w.scroll), fyne.NewSize(560, 520))
	find := &desktop.CustomShortcut{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault}
	w.win.Canvas().AddShortcut(find, func(fyne.Shortcut) { w.win.Canvas().Focus(w.box) })
	w.win.Canvas().AddShortcut(&fyne.ShortcutCopy{}, func(fyne.Shortcut) {
		if w.found != nil && w.found.ClipboardText != "" {
			w.copy(w.found.ClipboardText)
		}
	})
	w.show()
	w.win.Canvas().Focus(w.box)
	return w
}

// Window implements widgets.Page.
func (w *window) Window() fyne.Window { return w.win }

// HandleMessage implements widgets.Page.
func (w *window) HandleMessage(kind string, raw json.RawMessage) {
	switch kind {
	case windowapi.KindLookup:
		var m windowapi.LookupResult
		if w.host.Decode(kind, raw, &m) && m.Entry == 0 && m.Seq == w.seq && w.asking {
			w.asking, w.found = false, &m
			w.show()
		}
	case windowapi.KindCopy:
		if w.copied != "" {
			w.copied = ""
			w.refreshCopyButtons()
			w.fail(w.host.Lang.T(text.CallsTroubleCopy))
		}
	}
}

// ShowAt looks up a number from another window.
func (w *window) ShowAt(number string) {
	w.box.SetText(number)
	w.sendLookup()
}

// typed drops the answer when the number changes: a name must never be next to a
// number that is not its own.
func (w *window) typed() {
	if w.found != nil || w.asking {
		w.seq = w.host.NextLookup()
		w.found, w.asking = nil, false
		w.fail("")
		w.show()
	}
}

func (w *window) sendLookup() {
	number := strings.TrimSpace(w.box.Text)
	if number == "" {
		return
	}
	if len(number) > widgets.MaxNumberLen {
		number = strings.ToValidUTF8(number[:widgets.MaxNumberLen], "")
	}
	w.seq = w.host.NextLookup()
	w.asking, w.found = true, nil
	w.fail("")
	widgets.Fill(w.body) // "looking up" is mentioned when it takes a while
	w.host.Send(windowapi.KindLookup, windowapi.Lookup{Seq: w.seq, Text: number})
	seq := w.seq
	w.afterUnanswered(noticeDelay, seq, w.show)
	w.afterUnanswered(widgets.LookupTimeout, seq, func() {
		w.asking = false
		w.fail(w.host.Lang.T(text.LookupSilent))
		w.show()
	})
}

// fail shows what failed, until the next action; "" for nothing.
func (w *window) fail(sentence string) {
	w.failed.Trouble(sentence)
	w.win.Content().Refresh()
}

// afterUnanswered calls do unless there is an answer, or another question, by then.
func (w *window) afterUnanswered(t time.Duration, seq int, do func()) {
	w.host.Later(t, func() {
		if w.asking && w.seq == seq && w.host.Page(windowapi.WindowLookup) == widgets.Page(w) {
			do()
		}
	})
}

func (w *window) copy(s string) {
	w.fail("")
	w.host.Send(windowapi.KindCopy, windowapi.Copy{Text: s})
	widgets.ShowFor(w.host, widgets.CopiedFor, &w.copied, s, w.refreshCopyButtons)
}

// refreshCopyButtons leaves the buttons where they are, with the keyboard on one of them.
func (w *window) refreshCopyButtons() {
	for _, show := range w.copies {
		show()
	}
}

func (w *window) open(k windowapi.Contact) {
	w.fail("")
	number, seq := w.found.Number, w.seq
	w.host.Go(func(ctx context.Context) {
		err := w.openLink(ctx, k.Link, number)
		w.host.ReadHistory()
		if err != nil {
			w.host.Post(func() {
				if w.seq == seq {
					w.fail(callactions.Describe(w.host.Lang, err))
				}
			})
		}
	})
}

func (w *window) show() {
	one := w.found != nil && len(w.found.Contacts) == 1 && w.found.Contacts[0].Link != ""
	w.button.Importance = widgets.Either(one, widget.MediumImportance, widget.HighImportance) // one primary button a window
	w.button.Refresh()
	widgets.Fill(w.body, w.content())
}

func (w *window) content() fyne.CanvasObject {
	l := w.host.Lang
	w.rows, w.copies = nil, nil
	page := widgets.Column(8)
	switch f := w.found; {
	case w.asking:
		page.Add(widgets.NewTextLine(l.T(text.LookupSearching), base.SizeNameText, base.ColorNamePlaceHolder, false).Truncate())
	case f == nil && w.failed.ContentName != "":
	case f == nil:
		page.Add(widgets.Subtitle(l.T(text.LookupStart)))
		page.Add(container.New(widgets.AtMost(widgets.TextWidth), widgets.Paragraph(l.T(text.LookupStartHint))))
	default:
		w.answer(page, f)
	}
	return widgets.Padded(8, 24, widgets.Edge, widgets.Edge, page)
}

// answer displays the result of a lookup, in the words of the card.
func (w *window) answer(page *fyne.Container, f *windowapi.LookupResult) {
	l := w.host.Lang
	big := func(s string) { // also announced
		page.Add(explore.WithDescription(widgets.BigLine(s), func() explore.Description {
			return explore.Description{Role: screenreader.News, Name: strings.Join(slices.Compact([]string{s, f.NumberDisplay}), ", "), Leaf: true}
		}))
	}
	say := func(s string) { page.Add(container.New(widgets.AtMost(widgets.TextWidth), widgets.Paragraph(s))) }
	number := func() {
		if f.NumberDisplay != "" {
			page.Add(widgets.NewTextLine(f.NumberDisplay, theme.SizeRow, base.ColorNameForeground, false).Truncate())
		}
	}
	buttons := widgets.Buttons()
	relation := "" // to be copied
	switch f.Outcome {
	case history.OutcomeFound:
		k := f.Contacts[0]
		name := nameOf(l, k)
		if f.Possible {
			name = l.T(text.CardPossible, name)
		}
		big(name)
		number()
		if f.Possible {
			say(l.T(text.CardPossibleWhy))
		}
		page.Add(widgets.Gap(0))
		w.fields(page, k)
		if k.Link == "" {
			say(l.T(text.CardNoLink))
		} else {
			buttons.Add(widgets.NewPrimary(w.host.OpenWords(), func() { w.open(k) }))
		}
		relation = k.Relation
	case history.OutcomeSeveral:
		big(l.N(text.CardSeveral, len(f.Contacts)+f.MoreContacts))
		number()
		if f.Possible {
			say(l.T(text.CardPossibleWhy))
		}
		w.matches(f)
		page.Add(widgets.Padded(4, 0, 0, 0, w.rows))
		if f.MoreContacts > 0 {
			say(l.N(text.LookupMore, f.MoreContacts))
		}
	case windowapi.LookupNumbers:
		big(l.N(text.LookupNumbers, len(f.Numbers)))
		for _, n := range f.Numbers {
			page.Add(container.NewHBox(widgets.NewButton(n, func() { w.ShowAt(n) })))
		}
	case history.OutcomeFailed:
		big(f.NumberDisplay)
		page.Add(widgets.Trouble(l.T(text.CardFailed) + " " + l.T(text.Failure(f.Failure))))
		if contact.Failure(f.Failure).NeedsAdmin() {
			say(l.T(text.CardTell, f.Support))
		}
		buttons.Add(widgets.NewButton(l.T(text.CardButtonRetry), w.sendLookup))
	case windowapi.LookupNoResident:
		say(l.T(text.WindowNeedsResident))
	default:
		title, why := notLookedUp(l, f)
		big(title)
		if why == "" {
			number()
		} else {
			say(why)
		}
	}
	if f.ClipboardText != "" {
		buttons.Add(w.copyButton(l.T(text.CardButtonCopy), f.ClipboardText))
	}
	if relation != "" {
		buttons.Add(w.copyButton(l.T(text.LookupCopyRelation), relation))
	}
	if len(buttons.Objects) > 0 {
		page.Add(widgets.Gap(0))
		page.Add(buttons)
	}
}

// notLookedUp returns whose number it is, or why there is nobody; for our own
// lines the name is enough.
func notLookedUp(l text.Language, f *windowapi.LookupResult) (title, why string) {
	switch f.Outcome {
	case history.OutcomeInternal:
		return l.T(text.CardExtension, f.NumberDisplay), l.T(text.LookupInternal)
	case history.OutcomeShort:
		return f.NumberDisplay, l.T(text.CardShort)
	case history.OutcomeOwn:
		if f.LineName != "" {
			return l.T(text.CardOwnNamed, f.LineName), ""
		}
		return l.T(text.CardOwn), ""
	case windowapi.LookupNever:
		return f.NumberDisplay, l.T(text.CardNever)
	case history.OutcomeNobody:
		return f.NumberDisplay, l.T(text.LookupNone)
	case windowapi.LookupOff:
		return l.T(text.LookupOff), l.T(text.LookupOffHint)
	case windowapi.LookupNoNumber:
		return l.T(text.LookupWithheld), l.T(text.LookupNoNumberHint)
	}
	return l.T(text.LookupWithheld), l.T(text.LookupWithheldHint) // or a newer resident's outcome
}

func nameOf(l text.Language, k windowapi.Contact) string {
	return cmp.Or(k.Name, l.T(text.CardUnnamed))
}

// copyButton returns a button that copies s and confirms it for a moment.
func (w *window) copyButton(label, s string) *widgets.Button {
	b := widgets.NewButton(label, func() { w.copy(s) })
	w.copies = append(w.copies, func() {
		b.SetText(widgets.Either(w.copied == s, w.host.Lang.T(text.CardButtonCopied), label))
	})
	return b
}

func (w *window) fields(page *fyne.Container, k windowapi.Contact) {
	l := w.host.Lang
	modified := ""
	if k.Modified != "" {
		modified = l.T(text.CardFieldModifiedBy, k.Modified)
	}
	rows := widgets.Column(4)
	for _, f := range [][2]string{{l.T(text.CardFieldRelation), contact.GroupDigits(k.Relation)}, {l.T(text.CardFieldAddress), k.Address},
		{l.T(text.CardFieldProducer), k.Producer}, {l.T(text.CardFieldModified), modified}} {
		if f[1] != "" {
			label := widgets.NewTextLine(f[0], theme.SizeHint, base.ColorNamePlaceHolder, false)
			rows.Add(container.New(widgets.Columns(fieldWidth), container.NewVBox(label), widgets.Hint(f[1])))
		}
	}
	page.Add(rows)
}

// matches displays all contacts with the number, to choose from.
func (w *window) matches(f *windowapi.LookupResult) {
	w.rows = widgets.NewRows(w.host.Lang.N(text.CardSeveral, len(f.Contacts)+f.MoreContacts), 0, w.scroll)
	for _, k := range f.Contacts {
		w.rows.AddUnfocusable(widget.NewSeparator())
		w.rows.Add(w.match(k), func() {
			if k.Link != "" {
				w.open(k)
			}
		})
	}
	w.rows.AddUnfocusable(widget.NewSeparator())
}

// match displays one of several contacts. None is preselected.
func (w *window) match(k windowapi.Contact) fyne.CanvasObject {
	l := w.host.Lang
	name := widgets.Bold(nameOf(l, k), base.SizeNameText)
	if k.ChosenEarlier {
		name = container.NewBorder(nil, nil, nil, widgets.NewTextLine(l.T(text.CardEarlier), base.SizeNameCaptionText, base.ColorNamePlaceHolder, false), name)
	}
	detail := widgets.Small(widgets.Join(contact.GroupDigits(k.Relation), k.Address, k.Producer))
	open := widgets.NewButton(l.T(text.CardButtonOpenRow), func() { w.open(k) })
	open.Subject = nameOf(l, k)
	if k.Link == "" {
		open.Disable()
	}
	words := widgets.Column(0, name, detail)
	return widgets.Padded(8, 8, 0, 0, widgets.WithButton(words, open, 12))
}

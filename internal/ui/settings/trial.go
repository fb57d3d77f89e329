package settings

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/settings"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/theme"
)

// testSilent is how long a test's end is waited for: a little more than it may
// take.
const testSilent = 75 * time.Second

// trialSteps are the steps of a test, in their order.
var trialSteps = []string{"name", "tls", "token", "scopes", "lookup"}

// trialBox tests the hub as it stands in the window.
type trialBox struct {
	w       *window
	object  *fyne.Container
	number  *field
	start   *kit.Button
	steps   *stepList
	end     *fyne.Container
	seq     int
	running bool
	result  *deskapi.SettingsTested
	old     bool // something was changed since
	numbers string
}

func newTrialBox(w *window) *trialBox {
	l := w.d.Lang
	b := &trialBox{w: w, number: w.newField(), steps: newStepList(l), end: newColumn(8)}
	b.number.SetPlaceHolder(l.T(text.PrefsTestNumber))
	b.number.OnSubmitted = func(string) { b.toggle() }
	b.start = kit.NewButton(l.T(text.PrefsTestStart), b.toggle)
	line := container.NewBorder(nil, nil, nil, container.New(layout.NewCustomPaddedLayout(0, 0, 8, 0), b.start), b.number)
	content := newColumn(8)
	content.Add(kit.Bold(l.T(text.PrefsTest), base.SizeNameText))
	content.Add(kit.Paragraph(l.T(text.PrefsTestHelp)))
	content.Add(line)
	content.Add(b.steps.object)
	content.Add(b.end)
	b.object = container.NewStack(kit.Framed(content))
	b.show()
	return b
}

// resume goes on where the box of before was.
func (b *trialBox) resume(old *trialBox) {
	b.number.SetText(old.number.Text)
	b.seq, b.running, b.result, b.old, b.numbers = old.seq, old.running, old.result, old.old, old.numbers
	b.steps.resume(old.steps)
	b.show()
}

// toggle starts the test, or ends the one that runs.
func (b *trialBox) toggle() {
	w := b.w
	if b.running {
		b.running = false
		b.seq++
		b.steps.clear()
		w.d.Send(deskapi.KindSettingsStop, nil)
		b.show()
		return
	}
	b.seq++
	b.steps.begin(b.seq)
	b.running, b.result, b.old = true, nil, false
	b.numbers = b.number.Text
	number := b.numbers
	if len(number) > kit.MaxTyped {
		number = number[:kit.MaxTyped]
	}
	var changes []deskapi.SettingsChange
	for _, c := range w.changes() { // what is wrong elsewhere is no reason not to test
		if _, err := settings.ParseText(c.Key, c.Text); err == nil || c.Reset || testedKey(c.Key) {
			changes = append(changes, c)
		}
	}
	w.d.Send(deskapi.KindSettingsTest, deskapi.SettingsTest{Seq: b.seq, Changes: changes, Secret: w.draft.secret, Number: number})
	b.show()
	seq := b.seq
	w.d.After(testSilent, func() {
		w.d.Post(func() {
			if b.running && b.seq == seq && w.trial == b {
				b.tested(deskapi.SettingsTested{Seq: seq, Why: w.d.Lang.T(text.PrefsTestSilent)})
			}
		})
	})
}

// testedKey tells whether a test depends on a key.
func testedKey(key string) bool { return len(key) > 4 && (key[:4] == "hub." || key[:6] == "phone.") }

// tested takes the end of a test.
func (b *trialBox) tested(m deskapi.SettingsTested) {
	if m.Seq != b.seq || !b.running {
		return
	}
	b.running, b.result = false, &m
	b.steps.end()
	b.show()
	if b.w.shown == sectionHub && b.w.file == nil {
		b.w.reveal(b.end)
	}
}

// edited is called when something in the window was changed.
func (b *trialBox) edited() {
	if b.result != nil && !b.old {
		b.old = true
		b.show()
	}
}

// savedNow is called when what was tested has been saved.
func (b *trialBox) savedNow() { b.show() }

// adopt puts a value that worked in the place of that of the window.
func (b *trialBox) adopt() {
	w := b.w
	for _, c := range b.result.Better {
		w.draft.texts[c.Key] = c.Text
		if sameSetting(c.Key, c.Text, w.value(c.Key).Text) {
			delete(w.draft.texts, c.Key)
		}
	}
	b.result.Better = nil
	w.draft.said, w.draft.bad = "", false
	w.rebuild()
}

// show shows how the test ended.
func (b *trialBox) show() {
	l := b.w.d.Lang
	label := text.PrefsTestStart
	if b.running {
		label = text.PrefsTestStop
	}
	b.start.SetText(l.T(label))
	b.end.Objects = nil
	if m := b.result; m != nil {
		switch {
		case m.Why != "":
			b.end.Add(kit.Trouble(m.Why))
		case !m.OK:
			b.end.Add(kit.Trouble(l.T(text.PrefsTestFailed)))
		case b.numbers == "":
			b.end.Add(good(l.T(text.PrefsTestPassedNoNumber)))
		case b.w.unsaved():
			b.end.Add(good(l.T(text.PrefsTestPassedSave)))
		default:
			b.end.Add(good(l.T(text.PrefsTestPassed)))
		}
		if len(m.Better) > 0 {
			b.end.Add(b.better(m.Better))
		}
		if b.old {
			b.end.Add(kit.Paragraph(l.T(text.PrefsTestOld)))
		}
	}
	b.end.Refresh()
}

// better offers values that worked.
func (b *trialBox) better(all []deskapi.SettingsChange) fyne.CanvasObject {
	l := b.w.d.Lang
	lines := newColumn(4)
	lines.Add(kit.Plain(l.T(text.PrefsBetter), theme.SizeHint, widget.MediumImportance))
	for _, c := range all {
		v := choiceLabel(l, c.Key, c.Text)
		if c.Text == "" {
			v = l.T(text.PrefsBetterEmpty)
		}
		lines.Add(kit.Plain(l.T(text.SettingTitle(c.Key))+": "+v, theme.SizeHint, widget.MediumImportance))
	}
	lines.Add(container.NewHBox(kit.NewButton(l.T(text.PrefsBetterTake), b.adopt)))
	return lines
}

// stepList shows the steps of a test as they come.
type stepList struct {
	l      text.Language
	object *fyne.Container
	seq    int // of the test
	seen   map[string]deskapi.SettingsStep
}

func newStepList(l text.Language) *stepList {
	return &stepList{l: l, object: newColumn(8), seen: map[string]deskapi.SettingsStep{}}
}

func (s *stepList) resume(old *stepList) {
	s.seq, s.seen = old.seq, old.seen
	s.show()
}

func (s *stepList) clear() { s.begin(0) }

// begin waits for the steps of a test.
func (s *stepList) begin(seq int) {
	s.seq, s.seen = seq, map[string]deskapi.SettingsStep{}
	s.show()
}

// step takes a step of the test that is waited for.
func (s *stepList) step(m deskapi.SettingsStep) {
	if m.Seq != s.seq || s.seq == 0 || !slices.Contains(trialSteps, m.Step) {
		return
	}
	s.seen[m.Step] = m
	s.show()
}

// end takes steps off that never ended.
func (s *stepList) end() {
	for k, m := range s.seen {
		if m.State == "running" {
			delete(s.seen, k)
		}
	}
	s.show()
}

func (s *stepList) show() {
	s.object.Objects = nil
	for _, name := range trialSteps {
		if m, ok := s.seen[name]; ok {
			s.object.Add(s.line(m))
		}
	}
	s.object.Hidden = len(s.object.Objects) == 0
	s.object.Refresh()
}

// stepMarks are the shapes of states.
var stepMarks = map[string]kit.Mark{"running": kit.MarkRing, "ok": kit.MarkDot, "failed": kit.MarkTrouble, "off": kit.MarkDash}

// line is a step: its name, how it went, and what to do.
func (s *stepList) line(m deskapi.SettingsStep) fyne.CanvasObject {
	l := s.l
	said := newColumn(2)
	sentence := m.Sentence
	if m.State == "running" {
		sentence = l.T(text.PrefsTestRunning)
	}
	importance := widget.MediumImportance
	switch m.State {
	case "failed":
		importance = widget.WarningImportance
	case "off", "running":
		importance = widget.LowImportance
	}
	said.Add(kit.Plain(sentence, theme.SizeHint, importance))
	if m.Said != "" {
		said.Add(kit.Plain(l.T(text.PrefsHubSays, m.Said), theme.SizeHint, widget.MediumImportance))
	}
	if m.Do != "" {
		said.Add(kit.Plain(m.Do, theme.SizeHint, widget.MediumImportance))
	}
	if m.Detail != "" {
		said.Add(muted(m.Detail))
	}
	name := container.NewVBox(kit.NewWords(l.T(text.SetupStep(m.Step)), theme.SizeHint, base.ColorNamePlaceHolder, false).Cutting())
	return marked(stepMarks[m.State], container.New(kit.Columns(stepNameWidth), name, said))
}

// stepNameWidth is for the longest name of a step.
const stepNameWidth = 148

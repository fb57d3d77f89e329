package settings

import (
	"context"
	"errors"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// step is the result of one test step, in words.
type step struct {
	name, state string // as in package hubtrial
	sentence    string // the result
	detail      string // for administrators
	hubMessage  string // by the hub, in its own words: external text
	advice      string // what to do, and who does it
}

// outcome is the result of a test.
type outcome struct {
	ok     bool
	why    string // why it could not be started
	better []value
}

// value is one that worked where the window's value did not.
type value struct{ key, text string }

// trialBox tests the hub as entered in the window.
type trialBox struct {
	w       *window
	object  fyne.CanvasObject
	number  *widgets.Field
	start   *widgets.Button
	steps   *stepList
	end     *fyne.Container
	running bool
	result  *outcome
	old     bool   // something has changed since
	tried   string // the number that was tested
}

func newTrialBox(w *window) *trialBox {
	l := w.host.Lang
	b := &trialBox{w: w, number: widgets.NewField(), steps: newStepList(l), end: widgets.Column(8)}
	b.number.SetPlaceHolder(l.T(text.SettingsWindowTestNumber))
	b.number.OnSubmitted = func(string) { b.toggle() }
	b.start = widgets.NewButton(l.T(text.SettingsWindowTestStart), b.toggle)
	line := container.NewBorder(nil, nil, nil, widgets.Padded(0, 0, 8, 0, b.start), explore.WithName(b.number, l.T(text.SettingsWindowTestNumber), "", nil))
	b.object = widgets.Framed(widgets.Column(8,
		widgets.Bold(l.T(text.SettingsWindowTest), base.SizeNameText),
		widgets.Paragraph(l.T(text.SettingsWindowTestHelp)),
		line, b.steps.object, b.end))
	return b
}

// toggle starts the test, or stops a running one.
func (b *trialBox) toggle() {
	w := b.w
	if b.running {
		w.background.test()
		b.running = false
		b.steps.begin()
		b.show()
		return
	}
	b.begin()
	want, bad := w.changes()
	typed, dirs, l, number := w.draft.secret, w.host.Dirs, w.host.Lang, b.tried
	if len(number) > widgets.MaxNumberLen {
		number = number[:widgets.MaxNumberLen]
	}
	if slices.ContainsFunc(bad, testedKey) { // errors elsewhere do not prevent testing
		b.showOutcome(outcome{why: l.T(text.SettingsWindowTestBad)})
		return
	}
	w.background.test = w.runInBackground(func(ctx context.Context, post func(func(*window))) {
		end := runTrial(ctx, dirs, l, want, typed, number, func(s step) { post(func(w *window) { w.trial.steps.step(s) }) })
		post(func(w *window) { w.trial.showOutcome(end) })
	})
}

func (b *trialBox) begin() {
	b.steps.begin()
	b.running, b.result, b.old, b.tried = true, nil, false, b.number.Text
	b.show()
}

// testedKey reports whether a test depends on a key.
func testedKey(key string) bool {
	return strings.HasPrefix(key, "hub.") || strings.HasPrefix(key, "phone.")
}

// runTrial tests the hub as it would be with changes, without saving them. typed is the secret;
// "" means the one stored for exactly that address and client.
func runTrial(ctx context.Context, d profile.Dirs, l text.Language, changes map[string]any, typed, number string, say func(step)) outcome {
	s, _ := settings.Load(d)
	for key := range changes {
		if s.Locked(key) {
			return outcome{why: l.T(text.SettingsWindowTestBad)}
		}
	}
	next, err := s.With(changes)
	if err != nil {
		return outcome{why: l.T(text.SettingsWindowTestBad)}
	}
	if missing := next.Hub.Missing(); len(missing) > 0 {
		return outcome{why: l.T(text.SettingsWindowTestMissing, l.T(text.SettingTitle(missing[0])))}
	}
	value, why := secretToTry(ctx, d, l, next.Hub, typed)
	if why != "" {
		return outcome{why: why}
	}
	others := slices.DeleteFunc([]string{"hub.basic_auth_encoding", "hub.scope_parameter", "hub.contact_scopes", "hub.relation_number_field"}, s.Locked)
	t := hubtrial.Trial{Dirs: d, Settings: next, Hub: next.Hub, Secret: value, Number: number, KeysToVary: others}
	better, ok := t.Run(ctx, func(st hubtrial.Step) { say(describeStep(l, st, next.Support.Contact)) })
	return outcome{ok: ok, better: inOrder(others, better)}
}

// inOrder returns the values of keys, in their order.
func inOrder(keys []string, values map[string]string) (all []value) {
	for _, key := range keys {
		if v, there := values[key]; there {
			all = append(all, value{key, v})
		}
	}
	return all
}

// secretToTry returns the secret typed, otherwise the stored one.
func secretToTry(ctx context.Context, d profile.Dirs, l text.Language, h settings.Hub, typed string) (value, why string) {
	if typed != "" {
		value, err := secret.ReadSecret(strings.NewReader(typed))
		if err != nil {
			return "", secretSentence(l, err)
		}
		return value, ""
	}
	ref, err := secret.HubRef(h.BaseURL, h.ClientID)
	if err != nil {
		return "", l.T(text.SettingsWindowSecretNoAddress)
	}
	ctx, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	value, err = secret.Open(h.SecretStore, d).Get(ctx, ref)
	if errors.Is(err, secret.ErrNotSet) {
		return "", l.T(text.SettingsWindowSecretMissing)
	}
	if err != nil {
		return "", secretSentence(l, err)
	}
	return value, ""
}

// describeStep describes the result of a step, what to do and who does it.
func describeStep(l text.Language, st hubtrial.Step, support string) step {
	s := step{name: st.Name, state: st.State}
	switch st.State {
	case hubtrial.StateRunning:
	case hubtrial.StateOff:
		s.sentence = l.T(widgets.Either(st.TestHub, text.SettingsWindowStepTestHub, text.SettingsWindowStepNoNumber))
	case hubtrial.StateOK:
		s.sentence = l.T(text.SettingsWindowStepOK(st.Name))
		if st.Name == hubtrial.StepLookup && st.Found > 0 {
			s.sentence = l.N(text.SettingsWindowStepFound, st.Found, max(1, st.Duration.Milliseconds()))
		}
	case hubtrial.StateFailed:
		s.hubMessage = shortened(st.HubMessage)
		if errors.Is(st.Err, hubtrial.ErrNumber) {
			s.sentence = l.T(text.SettingsWindowStepBadNumber)
			return s
		}
		var known *contact.LookupError
		if !errors.As(st.Err, &known) { // nothing was sent
			s.sentence, s.detail = l.T(text.SettingsWindowTestBad), shortened(st.Err.Error())
			return s
		}
		s.sentence, s.detail = text.Capital(l.T(text.Failure(string(known.Failure)))), shortened(known.Detail)
		s.advice = l.T(text.FailureDo(string(known.Failure)))
		if known.Failure.NeedsAdmin() && support != "" {
			s.advice += " " + l.T(text.SettingsWindowAsk, shortened(support))
		}
	}
	return s
}

// showOutcome handles the end of a test.
func (b *trialBox) showOutcome(m outcome) {
	b.running, b.result = false, &m
	b.steps.end()
	b.show()
	if b.w.shown == sectionHub && b.w.file == nil {
		widgets.Reveal(b.w.scroll, b.end, 48)
	}
}

// edited is called after every change in the window.
func (b *trialBox) edited() {
	if b.result != nil && !b.old {
		b.old = true
		b.show()
	}
}

// adopt replaces the window's values with those that worked.
func (b *trialBox) adopt() {
	w := b.w
	for _, v := range b.result.better {
		w.draft.texts[v.key] = v.text
		if sameSetting(v.key, v.text, w.effectiveText(v.key)) {
			delete(w.draft.texts, v.key)
		}
	}
	b.result.better = nil
	w.draft.message, w.draft.isError = "", false
	w.rebuild()
}

// show shows the result of the test.
func (b *trialBox) show() {
	l := b.w.host.Lang
	b.start.SetText(l.T(widgets.Either(b.running, text.SettingsWindowTestStop, text.SettingsWindowTestStart)))
	b.end.Objects = nil
	if m := b.result; m != nil {
		switch {
		case m.why != "":
			b.end.Add(widgets.Trouble(m.why))
		case !m.ok:
			b.end.Add(widgets.Trouble(l.T(text.SettingsWindowTestFailed)))
		case b.tried == "":
			b.end.Add(successLine(l.T(text.SettingsWindowTestPassedNoNumber)))
		case b.w.unsaved():
			b.end.Add(successLine(l.T(text.SettingsWindowTestPassedSave)))
		default:
			b.end.Add(successLine(l.T(text.SettingsWindowTestPassed)))
		}
		if len(m.better) > 0 {
			b.end.Add(b.better(m.better))
		}
		if b.old {
			b.end.Add(widgets.Paragraph(l.T(text.SettingsWindowTestOld)))
		}
	}
	b.end.Refresh()
}

// better offers values that worked.
func (b *trialBox) better(all []value) fyne.CanvasObject {
	l := b.w.host.Lang
	lines := widgets.Column(4)
	lines.Add(widgets.Hint(l.T(text.SettingsWindowBetter)))
	for _, c := range all {
		v := choiceLabel(l, c.key, c.text)
		if c.text == "" {
			v = l.T(text.SettingsWindowBetterEmpty)
		}
		lines.Add(widgets.Hint(l.T(text.SettingTitle(c.key)) + ": " + v))
	}
	lines.Add(container.NewHBox(widgets.NewButton(l.T(text.SettingsWindowBetterTake), b.adopt)))
	return lines
}

// stepList shows the steps of a test as they complete.
type stepList struct {
	l      text.Language
	object *fyne.Container
	seen   []step // in order
}

func newStepList(l text.Language) *stepList {
	s := &stepList{l: l, object: widgets.Column(8)}
	s.begin()
	return s
}

// begin resets the list for a new test.
func (s *stepList) begin() {
	s.seen = nil
	s.show()
}

// step shows the result of a step, which is running or the last one.
func (s *stepList) step(m step) {
	s.drop()
	s.seen = append(s.seen, m)
	s.show()
}

// end removes a step that never completed.
func (s *stepList) end() {
	s.drop()
	s.show()
}

// drop removes the running step.
func (s *stepList) drop() {
	s.seen = slices.DeleteFunc(s.seen, func(m step) bool { return m.state == hubtrial.StateRunning })
}

func (s *stepList) show() {
	s.object.Objects = nil
	for _, m := range s.seen {
		s.object.Add(s.line(m))
	}
	s.object.Hidden = len(s.object.Objects) == 0
	s.object.Refresh()
}

// stepMarks are the shapes of states.
var stepMarks = map[string]widgets.Mark{hubtrial.StateRunning: widgets.MarkRing, hubtrial.StateOK: widgets.MarkDot, hubtrial.StateFailed: widgets.MarkTrouble, hubtrial.StateOff: widgets.MarkDash}

// line shows a step: its name, its result, and what to do.
func (s *stepList) line(m step) fyne.CanvasObject {
	l := s.l
	said := widgets.Column(2)
	sentence := m.sentence
	if m.state == hubtrial.StateRunning {
		sentence = l.T(text.SettingsWindowTestRunning)
	}
	importance := widget.MediumImportance
	switch m.state {
	case hubtrial.StateFailed:
		importance = widget.WarningImportance
	case hubtrial.StateOff, hubtrial.StateRunning:
		importance = widget.LowImportance
	}
	said.Add(widgets.Plain(sentence, theme.SizeHint, importance))
	if m.hubMessage != "" {
		said.Add(widgets.Hint(l.T(text.SettingsWindowHubSays, m.hubMessage)))
	}
	if m.advice != "" {
		said.Add(widgets.Hint(m.advice))
	}
	if m.detail != "" {
		said.Add(widgets.Small(m.detail))
	}
	name := container.NewVBox(widgets.NewTextLine(l.T(text.SetupStep(m.name)), theme.SizeHint, base.ColorNamePlaceHolder, false).Truncate())
	return widgets.WithMark(stepMarks[m.state], widgets.HintMarkTop, container.New(widgets.Columns(stepNameWidth), name, said))
}

// stepNameWidth fits the longest name of a step.
const stepNameWidth = 148

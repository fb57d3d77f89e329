package settings

import (
	"cmp"
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

type outcome struct {
	ok     bool
	why    string            // why it could not be started
	better map[string]string // values of varied keys that worked where the window's did not
}

// varied are the keys for which other values are tried, in the order of their offer.
var varied = []string{"hub.basic_auth_encoding", "hub.scope_parameter", "hub.contact_scopes", "hub.relation_number_field"}

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
		b.steps.begin("")
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
		end := runTrial(ctx, dirs, l, want, typed, number, func(st hubtrial.Step) { post(func(w *window) { w.trial.steps.step(st) }) })
		post(func(w *window) { w.trial.showOutcome(end) })
	})
}

func (b *trialBox) begin() {
	b.steps.begin(b.w.currentText("support.contact"))
	b.running, b.result, b.old, b.tried = true, nil, false, b.number.Text
	b.show()
}

// testedKey reports whether a test depends on a key.
func testedKey(key string) bool {
	return strings.HasPrefix(key, "hub.") || strings.HasPrefix(key, "phone.")
}

// runTrial tests the hub as it would be with changes, without saving them. typed is the secret;
// "" means the one stored for exactly that address and client.
func runTrial(ctx context.Context, d profile.Dirs, l text.Language, changes map[string]any, typed, number string, say func(hubtrial.Step)) outcome {
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
	t := hubtrial.Trial{Dirs: d, Settings: next, Hub: next.Hub, Secret: value, Number: number,
		KeysToVary: slices.DeleteFunc(slices.Clone(varied), s.Locked)}
	better, ok := t.Run(ctx, say)
	return outcome{ok: ok, better: better}
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
	for key, v := range b.result.better {
		w.draft.texts[key] = v
		if sameSetting(key, v, w.effectiveText(key)) {
			delete(w.draft.texts, key)
		}
	}
	b.result.better = nil
	w.draft.message, w.draft.isError = "", false
	w.rebuild()
}

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

func (b *trialBox) better(all map[string]string) fyne.CanvasObject {
	l := b.w.host.Lang
	lines := widgets.Column(4)
	lines.Add(widgets.Hint(l.T(text.SettingsWindowBetter)))
	for _, key := range varied {
		if v, there := all[key]; there {
			v = cmp.Or(choiceLabel(l, key, v), l.T(text.SettingsWindowBetterEmpty))
			lines.Add(widgets.Hint(l.T(text.SettingTitle(key)) + ": " + v))
		}
	}
	lines.Add(container.NewHBox(widgets.NewButton(l.T(text.SettingsWindowBetterTake), b.adopt)))
	return lines
}

// stepList shows the steps of a test as they complete.
type stepList struct {
	l       text.Language
	support string // whom to contact
	object  *fyne.Container
	seen    []hubtrial.Step // in order
}

func newStepList(l text.Language) *stepList {
	s := &stepList{l: l, object: widgets.Column(8)}
	s.begin("")
	return s
}

// begin resets the list for a new test.
func (s *stepList) begin(support string) {
	s.seen, s.support = nil, support
	s.show()
}

// step shows the result of a step, which is running or the last one.
func (s *stepList) step(st hubtrial.Step) {
	s.drop()
	s.seen = append(s.seen, st)
	s.show()
}

// end removes a step that never completed.
func (s *stepList) end() {
	s.drop()
	s.show()
}

func (s *stepList) drop() {
	s.seen = slices.DeleteFunc(s.seen, func(st hubtrial.Step) bool { return st.State == hubtrial.StateRunning })
}

func (s *stepList) show() {
	s.object.Objects = nil
	for _, st := range s.seen {
		s.object.Add(s.line(st))
	}
	s.object.Hidden = len(s.object.Objects) == 0
	s.object.Refresh()
}

var stepMarks = map[string]widgets.Mark{hubtrial.StateRunning: widgets.MarkRing, hubtrial.StateOK: widgets.MarkDot, hubtrial.StateFailed: widgets.MarkTrouble, hubtrial.StateOff: widgets.MarkDash}

// line shows a step: its name, its result, what to do and who does it.
func (s *stepList) line(st hubtrial.Step) fyne.CanvasObject {
	l := s.l
	sentence, importance := "", widget.LowImportance
	var more []fyne.CanvasObject
	switch st.State {
	case hubtrial.StateRunning:
		sentence = l.T(text.SettingsWindowTestRunning)
	case hubtrial.StateOff:
		sentence = l.T(widgets.Either(st.TestHub, text.SettingsWindowStepTestHub, text.SettingsWindowStepNoNumber))
	case hubtrial.StateOK:
		sentence, importance = l.T(text.SettingsWindowStepOK(st.Name)), widget.MediumImportance
		if st.Name == hubtrial.StepLookup && st.Found > 0 {
			sentence = l.N(text.SettingsWindowStepFound, st.Found, max(1, st.Duration.Milliseconds()))
		}
	case hubtrial.StateFailed:
		importance = widget.WarningImportance
		sentence, more = s.failure(st)
	}
	said := widgets.Column(2, widgets.Plain(sentence, theme.SizeHint, importance))
	said.Objects = append(said.Objects, more...)
	name := container.NewVBox(widgets.NewTextLine(l.T(text.SetupStep(st.Name)), theme.SizeHint, base.ColorNamePlaceHolder, false).Truncate())
	return widgets.WithMark(stepMarks[st.State], widgets.HintMarkTop, container.New(widgets.Columns(stepNameWidth), name, said))
}

// failure says why a step failed, and shows what the hub says, what to do, and details for administrators.
func (s *stepList) failure(st hubtrial.Step) (sentence string, more []fyne.CanvasObject) {
	l := s.l
	if st.HubMessage != "" { // in its own words: external text
		more = append(more, widgets.Hint(l.T(text.SettingsWindowHubSays, shortened(st.HubMessage))))
	}
	if errors.Is(st.Err, hubtrial.ErrNumber) {
		return l.T(text.SettingsWindowStepBadNumber), more
	}
	known, sent := errors.AsType[*contact.LookupError](st.Err)
	if !sent {
		return l.T(text.SettingsWindowTestBad), append(more, widgets.Small(shortened(st.Err.Error())))
	}
	advice := l.T(text.FailureDo(string(known.Failure)))
	if known.Failure.NeedsAdmin() && s.support != "" {
		advice += " " + l.T(text.SettingsWindowAsk, shortened(s.support))
	}
	more = append(more, widgets.Hint(advice))
	if known.Detail != "" {
		more = append(more, widgets.Small(shortened(known.Detail)))
	}
	return text.Capital(l.T(text.Failure(string(known.Failure)))), more
}

// stepNameWidth fits the longest name of a step.
const stepNameWidth = 148

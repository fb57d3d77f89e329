package settings

import (
	"time"

	"fyne.io/fyne/v2"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/widgets"
)

// secretDelay is how long an address must be unchanged before its secret is looked up.
const secretDelay = 400 * time.Millisecond

// secretBox is the field of the hub's secret. The secret can be set but is never shown:
// only that one exists, and since when.
type secretBox struct {
	w              *window
	object         *fyne.Container
	state          *fyne.Container
	entry          *widgets.Field
	addressChanges int // how often the address has changed
}

func newSecretBox(w *window) *secretBox {
	l := w.host.Lang
	b := &secretBox{w: w, state: widgets.Column(4), entry: w.newSecretField()}
	b.entry.SetText(w.draft.secret)
	shown := w.newFields(sectionHub)
	b.entry.OnChanged = func(s string) {
		if shown() {
			w.draft.secret = s
			w.edited()
			b.show()
		}
	}
	b.object = widgets.Column(4,
		fieldLabel(l.T(text.SettingsWindowSecret)), b.state,
		explore.WithName(b.entry, l.T(text.SettingsWindowSecret), "", nil),
		widgets.Paragraph(l.T(text.SettingsWindowSecretHelp)))
	b.show()
	return b
}

// addressChanged is called when address, client or store have changed: they
// have a different secret.
func (b *secretBox) addressChanged() {
	b.addressChanges++
	mine := b.addressChanges
	b.show()
	b.w.host.Later(secretDelay, func() {
		if b.addressChanges == mine && b.w.host.Page(windowapi.WindowSettings) == widgets.Page(b.w) {
			b.w.loadSecrets()
		}
	})
}

// secretMoved reports whether the saved secret belongs to another address or client
// than those in the window.
func (w *window) secretMoved() bool {
	was, err := secret.HubRef(w.effectiveText("hub.base_url"), w.effectiveText("hub.client_id"))
	if err != nil {
		return false // there was none
	}
	now, err := secret.HubRef(w.currentText("hub.base_url"), w.currentText("hub.client_id"))
	return err != nil || was != now
}

func (b *secretBox) show() {
	w, l := b.w, b.w.host.Lang
	k := w.secret
	known := k != nil && k.base == w.currentText("hub.base_url") && k.client == w.currentText("hub.client_id")
	b.state.Objects = nil
	b.entry.SetPlaceHolder(l.T(text.SettingsWindowSecretEnter))
	say := func(s string) { b.state.Add(widgets.BodyText(s)) }
	switch {
	case !known && w.secretMoved() && w.draft.secret == "":
		b.state.Add(widgets.Trouble(l.T(text.SettingsWindowSecretAgain)))
	case !known:
		say(l.T(text.SettingsWindowSecretLooking))
	case k.state == secret.NotSet:
		say(l.T(text.SettingsWindowSecretNone))
		if w.secretMoved() && w.draft.secret == "" {
			b.state.Add(widgets.Trouble(l.T(text.SettingsWindowSecretAgain)))
		}
	case k.state == secret.IsSet, k.state == secret.IsWaiting:
		b.entry.SetPlaceHolder(l.T(text.SettingsWindowSecretNew))
		say(savedOn(l, k))
	case k.state == secret.NoStore:
		b.state.Add(widgets.Trouble(l.T(text.SettingsWindowSecretNoStore)))
	default:
		b.state.Add(widgets.Trouble(l.T(text.SecretState(string(k.state)))))
	}
	b.state.Refresh()
}

// savedOn says since when there has been a secret.
func savedOn(l text.Language, k *keptSecrets) string {
	switch {
	case k.state == secret.IsWaiting:
		return l.T(text.SettingsWindowSecretWaiting)
	case k.storedAt.IsZero():
		return l.T(text.SettingsWindowSecretSet)
	}
	return l.T(text.SettingsWindowSecretOn, l.Date(k.storedAt))
}

func (w *window) setSecrets(k keptSecrets) {
	w.secret = &k
	w.phones.showStates()
	w.hubBox.show()
}

package start

import (
	"context"
	"errors"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"wiebelt/internal/config/hubtrial"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// joining is the value of w.asked while a code is being used.
const joining = "relay"

// newCode returns an empty field; Enter acts like the button.
func (w *window) newCode() *widgets.Field {
	f := widgets.NewField()
	f.SetPlaceHolder(w.host.Lang.T(text.StartJoinCode))
	f.OnSubmitted = func(string) { w.useCode() }
	return f
}

// fillJoin asks for the code if there is a relay to join.
func (w *window) fillJoin() {
	w.join.Objects = nil
	if w.state.join {
		l, busy := w.host.Lang, w.asked == joining
		button := widgets.NewPrimary(l.T(widgets.Either(busy, text.StartJoinBusy, text.StartJoinDo)), w.useCode)
		widgets.SetEnabled(button, !busy)
		body := widgets.Column(8, widgets.Bold(l.T(text.StartJoin), theme.SizeStart),
			widgets.Paragraph(l.T(text.StartJoinIntro)), w.code, container.NewHBox(button))
		if w.notJoined != "" {
			body.Add(widgets.Trouble(w.notJoined))
		}
		w.join.Objects = []fyne.CanvasObject{widgets.NewFrame(widgets.Padded(12, 12, 16, 16, body), true)}
	}
	w.join.Refresh()
}

// useCode joins the relay named in the settings.
func (w *window) useCode() {
	code := strings.TrimSpace(w.code.Text)
	if code == "" || w.asked == joining {
		return
	}
	w.asked, w.notJoined = joining, ""
	w.fillJoin()
	host, l := w.host, w.host.Lang
	why := ""
	w.after(func(ctx context.Context) string {
		before := host.Settings()
		err := hubtrial.Join(ctx, host.Dirs, before, hubtrial.Relay{Code: code})
		var said *text.Error
		store := secret.StateOf(err)
		switch {
		case err == nil:
		case errors.As(err, &said):
			why = l.Error(said)
		case store != secret.Failed:
			why = l.T(text.SecretState(string(store)))
		default:
			host.Log.Warn("the relay was not joined", "why", err)
			why = l.T(text.StartFailed, l.Support(before.Support.Contact))
		}
		return ""
	}, func() {
		if w.notJoined = why; why == "" {
			w.code.SetText("")
			host.Changed(windowapi.ChangedSecret)
		}
	})
}

package resident

import (
	"context"
	"encoding/json"
	"time"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/callactions"
)

// forget deletes what is stored about callers: in the history, among the remembered
// choices, and in the menu.
func (r *Resident) forget(ctx context.Context, raw json.RawMessage) windowapi.Forgotten {
	var m windowapi.Forget
	if json.Unmarshal(raw, &m) != nil || (m.All && m.Number != "") || ((m.All || m.Number != "") == (m.Days != nil)) || m.Days != nil && *m.Days < 0 {
		return windowapi.Forgotten{Error: "not understood"}
	}
	rules := r.rules(r.set())
	r.forgetRecent(callactions.Gone(rules, m, time.Now()))
	err := callactions.Delete(ctx, r.store, r.chosenBefore, rules, m)
	r.desks.Send(windowapi.KindChanged, windowapi.Changed{What: windowapi.ChangedForgot})
	r.again()
	if err != nil {
		return windowapi.Forgotten{Error: err.Error()} // holds no number and no name
	}
	return windowapi.Forgotten{}
}

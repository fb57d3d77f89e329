package resident

import (
	"context"
	"encoding/json"
	"time"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/kept"
)

// forget deletes what is stored about callers: in the history, among the remembered
// choices, and in the menu.
func (r *Resident) forget(ctx context.Context, raw json.RawMessage) deskapi.Forgotten {
	var m deskapi.Forget
	if json.Unmarshal(raw, &m) != nil || (m.All && m.Number != "") || ((m.All || m.Number != "") == (m.Days != nil)) || m.Days != nil && *m.Days < 0 {
		return deskapi.Forgotten{Error: "not understood"}
	}
	rules := r.rules(r.set())
	r.forgetRecent(kept.Gone(rules, m, time.Now()))
	err := kept.Delete(ctx, r.store, r.chosenBefore, rules, m)
	r.desks.Send(deskapi.KindChanged, deskapi.Changed{What: deskapi.ChangedForgot})
	r.again()
	if err != nil {
		return deskapi.Forgotten{Error: err.Error()} // holds no number and no name
	}
	return deskapi.Forgotten{}
}

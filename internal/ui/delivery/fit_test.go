package delivery

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"wiebelt/assets"
	inspect "wiebelt/internal/delivery/message"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

// findings returns the codes of all findings of the check, from their texts.
func findings(t *testing.T) (all []inspect.Code) {
	t.Helper()
	var texts map[string]any
	must.Do(t, json.Unmarshal(must.Get(assets.Text.ReadFile("text/message.json"))(t), &texts))
	for key := range texts {
		if c, ok := strings.CutPrefix(key, "message.finding."); ok {
			all = append(all, inspect.Code(c))
		}
	}
	return all
}

// deliveryReasons lists all reasons that a row can show.
var deliveryReasons = []string{string(outbox.RefusedByHub), string(outbox.GaveUp), string(outbox.CopyMissing), string(outbox.CopyDamaged), string(outbox.CopyUnreadable),
	string(outbox.NoAnswer), string(outbox.NotAnAnswer), string(outbox.Unclear), string(outbox.Conflict), string(outbox.Interrupted), string(outbox.Recovered),
	string(outbox.Unreachable), string(outbox.RetryLater), string(outbox.OddStatus), string(outbox.SentAlone), string(outbox.CredentialsRefused), string(outbox.Forbidden),
	string(outbox.ProxyLogin), string(outbox.Redirected), string(outbox.Certificate), string(outbox.NotSetUp), "empty", "changed", "not_a_file", "unreadable",
	"duplicate", "no_files", "too_many", outbox.DiskFull, outbox.ReadOnly, outbox.SpoolGone, outbox.StoreBroken, outbox.DiskFailed}

// TestDeliveryWindowFits checks that no word of the window is cut, for every
// state, reason and finding, in either language and at every scale, in the window
// as it opens and in a small one; on the smallest screen its buttons are visible.
func TestDeliveryWindowFits(t *testing.T) {
	const long = "polissen en mutaties van september 2026 voor kantoor Ons Dorp (tweede zending).zip"
	rows := deliveryRows()
	for i := range rows {
		if i%2 == 0 {
			rows[i].Name = long
		}
	}
	add := func(r row) {
		r.ID, r.Name, r.Size, r.Added = "x", "a.zip", 999_000_000, uitest.Noon
		rows = append(rows, r)
	}
	for _, reason := range deliveryReasons {
		add(row{Item: outbox.Item{State: outbox.Refused, Reason: outbox.Reason(reason), Status: 422}})
		if reason == string(outbox.RetryLater) || reason == string(outbox.OddStatus) || reason == string(outbox.Unreachable) {
			add(row{Item: outbox.Item{State: outbox.Waiting, Reason: outbox.Reason(reason), Status: 503, NextTry: uitest.Noon.Add(time.Hour)}})
		}
	}
	for _, c := range findings(t) {
		add(row{Item: outbox.Item{State: outbox.Refused, Reason: outbox.Reason(c)}})
		add(row{Item: outbox.Item{State: outbox.Delivered}, Found: []inspect.Finding{{Code: c, Severity: inspect.Warning}}})
	}
	full := deliveryState()
	full.Support = "Jan van der Meulen (IT), toestel 140, of de servicedesk in Nieuwegein"
	seen := 0
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, scale := range uitest.Scales {
			_, w := openDelivery(t, l)
			for _, size := range []fyne.Size{windowSize, fyne.NewSize(688, 400)} {
				uitest.Scaled(w.win, size, scale)
				fits := func(what string) {
					if scale == 1 && size == windowSize {
						uitest.Fits(t, string(l)+" "+what, w.win)
					}
				}
				for first := 0; first < len(rows); first += 8 {
					part := rows[first:min(first+8, len(rows))]
					s := full
					s.Rows, s.Questions, s.More = part, 3, 12
					q := rows[1]
					q.Name, s.Question = long, &q
					w.setState(s)
					for i, r := range part {
						got := w.wordsOf(r)
						v := newLine(w)
						v.Resize(fyne.NewSize(w.list.Size().Width, widgets.RowHeight))
						v.set(i)
						for _, words := range []*widgets.TextLine{v.Time, v.Day, v.Detail, v.Result} {
							if words.Width() > words.Size().Width {
								t.Errorf("%s at %v in %v: %q needs %v of %v", l, scale, size, words.Text, words.Width(), words.Size().Width)
							}
							seen++
						}
						if got.detail == "" && r.State != windowapi.DeliveryAdding || strings.Contains(got.detail+got.state, "delivery.") || strings.Contains(got.detail, "message.finding") {
							t.Errorf("%s: %q %q is not written: %+v", l, r.State, r.Reason, got)
						}
					}
				}
				for _, held := range deliveryReasons[14:20] {
					s := full
					s.HoldReason = held
					w.setState(s)
					uitest.Uncut(t, string(l)+" "+held, w.win, long)
					fits(held)
				}
				w.setState(state{View: w.view, SetUp: true})
				uitest.Uncut(t, string(l)+" empty", w.win)
				fits("empty")
				w.setState(state{View: w.view, Support: full.Support})
				uitest.Uncut(t, string(l)+" not set up", w.win)
				fits("not set up")
				w.setState(full)
				for i, r := range full.Rows {
					if r.State == windowapi.DeliveryAdding {
						continue
					}
					w.openRow(i)
					w.detail.setReceipts(deliveryReceipts(r.ID))
					uitest.Uncut(t, string(l)+" "+string(r.State), w.win)
					fits(string(r.State))
					w.detail.removing = true
					w.detail.draw()
					uitest.Uncut(t, string(l)+" remove", w.win)
					fits("remove")
					w.back()
				}
				w.chooseFiles()
				uitest.Uncut(t, string(l)+" choose", w.win)
				fits("choose")
				w.back()
			}
			w.win.Close()
		}
	}
	if seen < 1000 {
		t.Errorf("only %d lines were measured", seen)
	}
}

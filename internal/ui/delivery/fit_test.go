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

// deliveryReasons lists all reasons that a row can show, and holdReasons those that hold everything.
var (
	deliveryReasons = []outbox.Reason{outbox.RefusedByHub, outbox.GaveUp, outbox.CopyMissing, outbox.CopyDamaged, outbox.CopyUnreadable,
		outbox.NoAnswer, outbox.ErrorNamed, outbox.NotAnAnswer, outbox.Unclear, outbox.Conflict, outbox.Interrupted, outbox.Recovered,
		outbox.Unreachable, outbox.RetryLater, outbox.OddStatus, outbox.SentAlone, outbox.CredentialsRefused, outbox.Forbidden,
		outbox.ProxyLogin, outbox.Redirected, outbox.Certificate, outbox.NotSetUp, "empty", "changed", "not_a_file", "unreadable",
		"duplicate", "no_files", "too_many", outbox.DiskFull, outbox.ReadOnly, outbox.SpoolGone, outbox.StoreBroken, outbox.DiskFailed}
	holdReasons = []outbox.Reason{outbox.CredentialsRefused, outbox.Forbidden, outbox.ProxyLogin, outbox.Redirected,
		outbox.Certificate, outbox.NotSetUp}
)

// TestDeliveryWindowFits checks that no word of the window is cut, for every
// state, reason and finding, in either language and at every scale, in the window
// as it opens and in a small one.
func TestDeliveryWindowFits(t *testing.T) {
	const long = "polissen en mutaties van september 2026 voor kantoor Ons Dorp (tweede zending).zip"
	full := deliveryState()
	full.Support = "Jan van der Meulen (IT), toestel 140, of de servicedesk in Nieuwegein"
	every, question := full, full.Rows[1]
	every.Rows, every.Questions, every.More, every.Question = deliveryRows(), 3, 12, &question
	question.Name = long
	for i := 0; i < len(every.Rows); i += 2 {
		every.Rows[i].Name = long
	}
	add := func(i outbox.Item, found ...inspect.Finding) {
		i.ID, i.Name, i.Size, i.Added = "x", "a.zip", 999_000_000, uitest.Noon
		every.Rows = append(every.Rows, row{Item: i, Found: found})
	}
	for _, reason := range deliveryReasons {
		add(outbox.Item{State: outbox.Refused, Reason: reason, Status: 422})
		if reason == outbox.RetryLater || reason == outbox.OddStatus || reason == outbox.Unreachable {
			add(outbox.Item{State: outbox.Waiting, Reason: reason, Status: 503, NextTry: uitest.Noon.Add(time.Hour)})
		}
	}
	for _, c := range findings(t) {
		add(outbox.Item{State: outbox.Refused, Reason: outbox.Reason(c)})
		add(outbox.Item{State: outbox.Delivered}, inspect.Finding{Code: c, Severity: inspect.Warning})
	}
	small := fyne.NewSize(688, 400)
	tall := fyne.NewSize(0, float32(len(every.Rows))*(widgets.RowHeight+8)) // shows all rows
	for _, l := range []text.Language{text.Dutch, text.English} {
		_, w := openDelivery(t, l)
		examine := func(what string, more ...fyne.Size) {
			uitest.Examine(t, "delivery-"+string(l)+"-"+what, w.win, append(more, windowSize, small), long)
		}
		w.setState(every)
		examine("every", windowSize.Add(tall), small.Add(tall))
		lines := uitest.All[*line](w.list)
		if len(lines) != len(every.Rows) {
			t.Errorf("%d of %d rows are shown", len(lines), len(every.Rows))
		}
		for _, v := range lines {
			if v.Detail.Text == "" && v.id != "n3" { // n3 is being added
				t.Errorf("%s: row %d does not say why", l, v.n)
			}
		}
		uitest.WantNoTexts(t, w.win, "delivery.", "message.finding")
		states := map[string]state{"empty": {View: w.view, SetUp: true}, "setup": {View: w.view, Support: full.Support}}
		for _, held := range holdReasons {
			s := full
			s.HoldReason = string(held)
			states[s.HoldReason] = s
		}
		for name, s := range states {
			w.setState(s)
			examine(name)
		}
		w.setState(full)
		for i, r := range full.Rows[1:] { // the first is being added
			w.openRow(i + 1)
			w.detail.setReceipts(deliveryReceipts(r.ID))
			examine(r.ID)
			w.detail.removing = true
			w.detail.draw()
			examine(r.ID + "-remove")
			w.back()
		}
		w.chooseFiles()
		examine("chooser")
		w.win.Close()
	}
}

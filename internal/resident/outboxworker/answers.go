package outboxworker

import (
	"encoding/json"
	"slices"
	"strings"

	"wiebelt/internal/delivery/message"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/resident/request"
)

const maxPath = 4096

// Answer performs a request of the delivery window, and replies with the resulting state.
func (d *Worker) Answer(q request.Request) {
	var m windowapi.DeliveryRequest
	if d == nil || !q.Decode(&m) { // the demo delivers nothing
		return
	}
	if len(m.Paths) > 0 && d.isSetUp() {
		d.offer(slices.DeleteFunc(m.Paths, func(p string) bool { return p == "" || len(p) > maxPath || strings.ContainsRune(p, 0) }))
	}
	ok := true
	switch {
	case m.Drop:
		ok = d.drop(m.ID)
	case m.Again:
		ok = d.requeue(m.ID, outbox.DuplicateSend)
	case m.ID != "":
		ok = d.requeue(m.ID, "")
	}
	if m.Read {
		d.mu.Lock()
		d.notice, d.lost = "", 0
		d.mu.Unlock()
		d.report()
	}
	if box := d.current(); box != nil && (m.Release || m.Changed) {
		if m.Release {
			d.senders.Renew()
			if err := box.Release(q.Ctx); err != nil && q.Ctx.Err() == nil {
				d.p.Log.Warn("the outbox does not go on", "why", err)
			}
		}
		box.Wake()
		d.refresh(q.Ctx)
	}
	for i, part := range d.parts() {
		part.Failed = i == 0 && !ok
		q.Reply(windowapi.KindDelivery, part)
	}
}

func (d *Worker) isSetUp() bool {
	h := d.p.Settings().Hub
	return h.Intermediary != "" && len(h.Missing()) == 0
}

// parts returns the state of deliveries, in parts that fit into a message.
func (d *Worker) parts() []windowapi.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := windowapi.Delivery{Trouble: d.openFault, Notice: d.notice, Total: len(d.intake)}
	if d.last != nil && d.last.Trouble != "" {
		now.Trouble = d.last.Trouble
	}
	all, size := []windowapi.Delivery{now}, 0
	for i, c := range d.intake {
		b, err := json.Marshal(c.row)
		if size += len(b); err == nil && size > request.MaxAnswer {
			now.First, size = i, len(b)
			all = append(all, now)
		}
		last := &all[len(all)-1]
		last.Files = append(last.Files, c.row)
	}
	return all
}

// firstFindings returns the first findings, including the worst.
func firstFindings(found []message.Finding) []message.Finding {
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b message.Finding) int { return int(b.Severity) - int(a.Severity) })
	return found[:min(len(found), 20)]
}

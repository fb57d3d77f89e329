package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/message"
	"wiebelt/internal/outbox"
	"wiebelt/internal/resident/ask"
	"wiebelt/internal/text"
)

const (
	maxRows = 100 // that are told at once
	maxSaid = 600 // bytes of what the hub said, in each receipt
	maxPath = 4096
)

// Answer does what the delivery window asks for.
func (d *Deliveries) Answer(q ask.Request) {
	if d == nil {
		return // the demo delivers nothing
	}
	var err error
	switch q.Kind {
	case deskapi.KindDeliveryAsk:
		var m deskapi.DeliveryAsk
		if q.Decode(&m) {
			q.Reply(deskapi.KindDeliveryState, d.state(m))
		}
		return
	case deskapi.KindDeliveryShow:
		var m deskapi.DeliveryItem
		if !q.Decode(&m) {
			return
		}
		var all deskapi.DeliveryReceipts
		if all, err = d.receipts(q.Ctx, m.ID); err == nil {
			q.Reply(deskapi.KindDeliveryReceipts, all)
			return
		}
	case deskapi.KindDeliveryAdd:
		var m deskapi.DeliveryAdd
		if q.Decode(&m) && d.sets() {
			d.offer(slices.DeleteFunc(m.Paths, func(p string) bool { return p == "" || len(p) > maxPath || strings.ContainsRune(p, 0) }))
		}
		return
	case deskapi.KindDeliveryDismiss:
		d.dismiss()
		return
	default:
		err = d.act(q)
		d.refresh(q.Ctx)
		d.changed()
	}
	if err != nil && q.Ctx.Err() == nil {
		q.Reply(deskapi.KindDeliveryFailed, deskapi.DeliveryFailed{Sentence: d.sentence(err)})
	}
}

// sets reports whether deliveries are set up.
func (d *Deliveries) sets() bool {
	h := d.p.Settings().Hub
	return h.Intermediary != "" && len(h.Missing()) == 0
}

// act changes one row, or the queue.
func (d *Deliveries) act(q ask.Request) error {
	var m deskapi.DeliveryResolve // the others are the beginning of it
	if !q.Decode(&m) {
		return nil
	}
	candidate := strings.HasPrefix(m.ID, "n")
	ok := true
	switch q.Kind {
	case deskapi.KindDeliverySend:
		ok = d.again(m.ID, outbox.DuplicateSend)
	case deskapi.KindDeliveryRetry:
		if candidate {
			ok = d.again(m.ID, "")
			break
		}
		return d.with(func(box *outbox.Outbox) error {
			if m.ID != "" {
				if _, err := box.Retry(q.Ctx, m.ID); err != nil {
					return err
				}
			}
			d.senders.anew()
			return box.Release(q.Ctx)
		})
	case deskapi.KindDeliveryResolve:
		return d.with(func(box *outbox.Outbox) error {
			_, err := box.Resolve(q.Ctx, m.ID, m.Delivered, m.Note)
			return err
		})
	case deskapi.KindDeliveryRemove:
		if candidate {
			ok = d.drop(m.ID)
			break
		}
		return d.with(func(box *outbox.Outbox) error { return box.Forget(q.Ctx, m.ID, true) }) // the window has asked
	}
	if !ok {
		return outbox.ErrState
	}
	return nil
}

func (d *Deliveries) with(do func(*outbox.Outbox) error) error {
	box := d.current()
	if box == nil {
		return outbox.ErrNoItem
	}
	return do(box)
}

// sentence says what did not work.
func (d *Deliveries) sentence(err error) string {
	l := d.p.Language()
	var t *outbox.Trouble
	switch {
	case errors.Is(err, outbox.ErrNoItem):
		return l.T(text.MessagesGone)
	case errors.As(err, &t):
		return l.T(text.DeliveryTrouble, l.T(text.DeliveryTroubleOf(t.Kind)), l.T(text.DeliveryTroubleDo(t.Kind)))
	case !errors.Is(err, outbox.ErrState):
		d.p.Log.Warn("the outbox was not changed", "why", err)
	}
	return l.T(text.MessagesState)
}

// rows are all that can be listed, newest first.
func (d *Deliveries) rows() []deskapi.DeliveryRow {
	var all []deskapi.DeliveryRow
	taken := map[string]bool{}
	for _, c := range d.intake {
		if c.taken != nil {
			taken[c.taken.ID] = true
			all = append(all, rowOf(*c.taken))
			continue
		}
		all = append(all, c.row)
	}
	if d.last != nil {
		for _, it := range d.last.Items {
			if !taken[it.ID] {
				all = append(all, rowOf(it))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b deskapi.DeliveryRow) int { return b.Added.Compare(a.Added) })
	return all
}

func rowOf(it outbox.Item) deskapi.DeliveryRow {
	r := deskapi.DeliveryRow{ID: it.ID, Name: ask.Cut(it.Name), Size: it.Size, State: string(it.State), Reason: string(it.Reason), Status: it.Status,
		Added: it.Added, Decided: it.Decided, Next: it.NextTry, Kept: it.Kept}
	found := it.Findings()
	r.Findings = len(found)
	for _, f := range found {
		if f.Severity > r.Severity {
			r.Severity, r.Code = f.Severity, string(f.Code)
		}
	}
	return r
}

// inView reports whether a row belongs to a view.
func inView(r deskapi.DeliveryRow, view string) bool {
	switch r.State {
	case deskapi.DeliveryAdding, string(outbox.Waiting), string(outbox.Sending):
		return view != deskapi.DeliveryAct
	case string(outbox.Delivered):
		return view != deskapi.DeliveryAct && view != deskapi.DeliveryOpen
	}
	return view != deskapi.DeliveryOpen
}

// state is what the window shows: as many rows of a view as fit a message.
func (d *Deliveries) state(want deskapi.DeliveryAsk) deskapi.DeliveryState {
	s := deskapi.DeliveryState{SetUp: d.sets(), Support: d.p.Support(), View: want.View, First: max(want.First, 0)}
	d.mu.Lock()
	defer d.mu.Unlock()
	s.Trouble, s.Notice = d.opened, d.notice
	if n := d.last; n != nil {
		s.Held = string(n.Queue.Held)
		if n.Queue.Resume.After(time.Now()) {
			s.Paused = string(n.Queue.Paused)
		}
		if n.Trouble != "" {
			s.Trouble = n.Trouble
		}
		s.Waiting, s.Delivered = n.Counts[outbox.Waiting]+n.Counts[outbox.Sending], n.Counts[outbox.Delivered]
		s.Refused, s.Uncertain = n.Counts[outbox.Refused], n.Counts[outbox.Uncertain]
		for _, c := range n.Counts {
			s.More += c
		}
		s.More -= len(n.Items)
	}
	size := 0
	for _, r := range d.rows() {
		switch r.State {
		case deskapi.DeliveryAdding:
			s.Adding++
		case deskapi.DeliveryQuestion: // the oldest is asked first
			s.Questions++
			s.Question = &r
		case string(outbox.Refused):
			if strings.HasPrefix(r.ID, "n") { // the outbox does not count it
				s.Refused++
			}
		}
		if inView(r, deskapi.DeliveryOpen) {
			s.Open++
		}
		if inView(r, deskapi.DeliveryAct) {
			s.Act++
		}
		if !inView(r, want.View) {
			continue
		}
		if s.Total >= s.First && len(s.Rows) == s.Total-s.First && len(s.Rows) < min(want.Count, maxRows) {
			b, err := json.Marshal(r)
			if size += len(b); err == nil && size <= ask.MaxAnswer {
				s.Rows = append(s.Rows, r)
			}
		}
		s.Total++
	}
	return s
}

// receipts is all that is known of one file.
func (d *Deliveries) receipts(ctx context.Context, id string) (deskapi.DeliveryReceipts, error) {
	d.mu.Lock()
	for _, c := range d.intake {
		if c.id == id && c.taken == nil {
			defer d.mu.Unlock()
			all := deskapi.DeliveryReceipts{Row: c.row}
			if c.refused != nil {
				all.Findings = few(c.refused.Findings)
			}
			return all, nil
		}
		if c.id == id {
			id = c.taken.ID
		}
	}
	d.mu.Unlock()
	var all deskapi.DeliveryReceipts
	return all, d.with(func(box *outbox.Outbox) error {
		it, err := box.Get(ctx, id)
		if err != nil {
			return err
		}
		said, err := box.Receipts(ctx, it.ID)
		if err != nil {
			return err
		}
		all = deskapi.DeliveryReceipts{Row: rowOf(it), Intermediary: ask.Cut(it.Intermediary), SHA256: it.SHA256, Attempts: it.Attempts, Note: it.Note, Findings: few(it.Findings())}
		size := 0
		for i, r := range slices.Backward(said) {
			m := deskapi.DeliveryReceipt{Ended: r.Ended, Status: r.Status, Reason: string(r.Reason), Body: r.Body, Cut: r.Cut}
			if len(m.Body) > maxSaid {
				m.Body, m.Cut = strings.ToValidUTF8(m.Body[:maxSaid], ""), true
			}
			b, err := json.Marshal(m)
			if size += len(b); err != nil || size > ask.MaxAnswer {
				all.More = i + 1
				break
			}
			all.Receipts = append(all.Receipts, m)
		}
		return nil
	})
}

// few are the first findings, the worst among them.
func few(found []message.Finding) []message.Finding {
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b message.Finding) int { return int(b.Severity) - int(a.Severity) })
	return found[:min(len(found), 20)]
}

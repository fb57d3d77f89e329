package doctor

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/text"
)

// waitsLong is how long a file may wait while a program
// delivers: the hub may be down for some hours at night.
const waitsLong = 4 * time.Hour

// delivery checks the outbox: what is waiting, what needs somebody's attention, and whether
// it is writable. It reads no content.
func (e *exam) delivery(ctx context.Context) []finding {
	dir := fromsettings.OutboxFolder(e.Dirs)
	s, err := outbox.Summarize(ctx, dir)
	if err != nil {
		return outboxErrorFindings(err)
	}
	var all []finding
	for _, path := range []string{dir, filepath.Join(dir, "spool")} {
		if err := e.sys.folder(path); exists(path) && err != nil && !isReadFault(err) {
			all = oneFinding(Fail, "delivery.write")
		}
	}
	if !s.Spool && s.Waiting > 0 {
		all = append(all, countFinding(Fail, "delivery.spool", s.Waiting)...)
	}
	since := s.Oldest.Local().Format("02-01-2006 15:04")
	if s.HoldReason != "" {
		all = append(all, oneFinding(Fail, "delivery.held", text.DeliveryReason(string(s.HoldReason)), s.Waiting, since)...)
	}
	if s.Uncertain > 0 {
		all = append(all, countFinding(Fail, "delivery.uncertain", s.Uncertain)...)
	}
	if s.Kept > 0 {
		all = append(all, countFinding(Warn, "delivery.refused", s.Kept)...)
	}
	if s.Aside {
		all = append(all, oneFinding(Warn, "delivery.aside")...)
	}
	switch {
	case s.Waiting > 0 && !s.Working:
		all = append(all, countFinding(Fail, "delivery.idle", s.Waiting, since)...)
	case s.Waiting > 0 && s.HoldReason == "" && e.now.Sub(s.Oldest) > waitsLong:
		all = append(all, countFinding(Warn, "delivery.late", s.Waiting, since)...)
	case s.Waiting > 0 && s.HoldReason == "":
		all = append(all, countFinding(OK, "delivery.waiting", s.Waiting, since)...)
	case all == nil:
		return oneFinding(OK, "delivery.ok")
	}
	return all
}

// outboxErrorFindings reports why an outbox could not be read.
func outboxErrorFindings(err error) []finding {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return oneFinding(Off, "delivery.none")
	case errors.Is(err, outbox.ErrNewer):
		return oneFinding(Fail, "delivery.newer")
	case errors.Is(err, fs.ErrPermission):
		return oneFinding(Fail, "delivery.write")
	}
	return oneFinding(Fail, "delivery.damaged")
}

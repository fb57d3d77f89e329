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
		return noOutbox(err)
	}
	var all []finding
	for _, path := range []string{dir, filepath.Join(dir, "spool")} {
		if err := e.sys.folder(path); exists(path) && err != nil && !isRead(err) {
			all = say(Fail, "delivery.write")
		}
	}
	if !s.Spool && s.Waiting > 0 {
		all = append(all, sayN(Fail, "delivery.spool", s.Waiting)...)
	}
	since := s.Oldest.Local().Format("02-01-2006 15:04")
	if s.Held != "" {
		all = append(all, say(Fail, "delivery.held", text.DeliveryReason(string(s.Held)), s.Waiting, since)...)
	}
	if s.Uncertain > 0 {
		all = append(all, sayN(Fail, "delivery.uncertain", s.Uncertain)...)
	}
	if s.Kept > 0 {
		all = append(all, sayN(Warn, "delivery.refused", s.Kept)...)
	}
	if s.Aside {
		all = append(all, say(Warn, "delivery.aside")...)
	}
	switch {
	case s.Waiting > 0 && !s.Working:
		all = append(all, sayN(Fail, "delivery.idle", s.Waiting, since)...)
	case s.Waiting > 0 && s.Held == "" && e.now.Sub(s.Oldest) > waitsLong:
		all = append(all, sayN(Warn, "delivery.late", s.Waiting, since)...)
	case s.Waiting > 0 && s.Held == "":
		all = append(all, sayN(OK, "delivery.waiting", s.Waiting, since)...)
	case all == nil:
		return say(OK, "delivery.ok")
	}
	return all
}

// noOutbox reports why an outbox could not be read.
func noOutbox(err error) []finding {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return say(Off, "delivery.none")
	case errors.Is(err, outbox.ErrNewer):
		return say(Fail, "delivery.newer")
	case errors.Is(err, fs.ErrPermission):
		return say(Fail, "delivery.write")
	}
	return say(Fail, "delivery.damaged")
}

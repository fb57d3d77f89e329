package resident

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/health"
	"wiebelt/internal/native/browser"
	"wiebelt/internal/native/session"
)

// presence follows the user's session – locked, quiet, presenting – and what
// depends on it: how much cards show, and the hub's page at the first unlock of
// the day.
func (r *Resident) presence(ctx context.Context) {
	w, err := session.Watch(ctx, r.o.Log)
	if err != nil {
		r.o.Log.Warn("nobody tells whether the screen is locked", "why", err)
		r.openHubAtStart(ctx)
		return
	}
	defer w.Close()
	for {
		s, before := w.State(), r.hiding()
		r.seen.Store(&s)
		if r.hiding() != before { // cards that look the same stay as they are
			r.look()
		}
		if !s.Locked {
			r.openHubAtStart(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-w.Changed():
		}
	}
}

// hiding is why cards show less than usual at this moment.
func (r *Resident) hiding() health.Hiding {
	s := r.seen.Load()
	if s == nil {
		return health.HidingNot
	}
	busy, number := health.HidingQuiet, health.NumberQuiet
	if s.Presenting {
		busy, number = health.HidingPresenting, health.NumberPresenting
	}
	switch mode := r.set().Card.Quiet; {
	case s.Locked:
		return health.HidingLocked
	case !s.Quiet && !s.Presenting:
		return health.HidingNot
	case mode == "hide":
		return busy
	case mode == "number" || s.Presenting: // never a name on a projector
		return number
	}
	return health.HidingNot
}

// openedName is the file that says on which day the hub was opened last.
const openedName = "hub-opened"

// openHubAtStart opens the hub once a day, so that its login is done before the
// first call (hub.open_at_start).
func (r *Resident) openHubAtStart(ctx context.Context) {
	s := r.set()
	if !s.Hub.OpenAtStart || r.o.Demo != nil {
		return
	}
	today, path := time.Now().Format(time.DateOnly), filepath.Join(r.o.Dirs.State, openedName)
	if b, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(b)) == today {
		return
	}
	if err := profile.WriteFile(path, []byte(today+"\n"), 0o600); err != nil {
		r.o.Log.Warn("the hub is not opened", "why", err) // it would be at every unlock
		return
	}
	r.openHub(ctx)
}

// openHub opens the hub's first page.
func (r *Resident) openHub(ctx context.Context) {
	address := r.set().Hub.HubURL
	if r.o.Hub != nil {
		address = r.o.Hub.HubURL
	}
	if address == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := browser.Open(ctx, address); err != nil {
		r.o.Log.Warn("browser not started")
	}
}

// helpFor is how long cards can be seen by remote help once somebody asked.
const helpFor = 15 * time.Minute

// canHideFromCapture reports whether this system can keep a window out of screen
// sharing at all.
func (r *Resident) canHideFromCapture() bool { return runtime.GOOS == "windows" }

// showToHelp lets screen sharing see the cards for a while.
func (r *Resident) showToHelp() {
	r.helped.Store(time.Now().Add(helpFor).Unix())
	r.look()
	time.AfterFunc(helpFor+time.Second, r.look) // nothing happens once the cards have ended
}

// look puts into the cards what depends on the session, the pause and the
// settings.
func (r *Resident) look() {
	r.cards.Set(r.cardConfig())
	select {
	case r.retell <- struct{}{}:
	default:
	}
}

package resident

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/health"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/browser"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/native/session"
	"wiebelt/internal/native/window"
	"wiebelt/internal/resident/cardcorners"
	"wiebelt/internal/resident/hubwatch"
	"wiebelt/internal/resident/notifications"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

// screen is what shows calls, and what is known of who may see them.
type screen struct {
	display  window.Display
	cards    cards
	corners  *cardcorners.Corners
	reader   atomic.Pointer[screenreader.Bridge] // nil without a screen reader
	testCard *testCard
	session  atomic.Pointer[session.State] // of the user; nil if nobody tells
	helped   atomic.Int64                  // until when cards can be seen by remote help, in Unix seconds
}

// cards are what calls are shown with: windows of our own, or notifications.
type cards interface {
	Run(ctx context.Context)
	Set(card.Config) // from any goroutine
}

// openDisplay opens the desktop for cards. Where no window of ours can be put
// there are notifications instead of cards, and a display that can do nothing.
func (r *Resident) openDisplay() error {
	d, err := window.OpenCards()
	switch {
	case errors.Is(err, window.ErrWayland):
		r.o.Log.Warn("this desktop takes no cards: notifications stand in for them", "why", err)
		r.display = notifications.Display{}
		r.facts.change(func(k *known) { k.Cards = health.CardsNotifications })
	case err != nil:
		return fmt.Errorf("%s (%w)", r.lang().T(text.StatusScreen), err)
	default:
		r.display = d
	}
	return nil
}

// makeCards makes what calls are shown with.
func (r *Resident) makeCards() error {
	r.corners = cardcorners.Open(r.o.Dirs, r.o.Log)
	r.testCard = &testCard{Engine: r.engine, changed: r.setCards}
	if r.display == (notifications.Display{}) {
		r.cards = notifications.New(notifications.Params{Engine: r.engine, Config: r.cardConfig(), Able: r.notificationsAble, Log: r.o.Log,
			Calls: func() { r.windows.Show(windowapi.WindowCalls) }})
		return nil
	}
	c, err := card.New(r.cardConfig(), r.testCard, r.display)
	if err != nil {
		return fmt.Errorf("make the cards: %w", err)
	}
	r.cards = c
	return nil
}

// cardConfig is how cards look and where they stand at this moment.
func (r *Resident) cardConfig() card.Config {
	s, now := r.settings(), time.Now()
	c := card.Config{
		Language: r.lang(), Appearance: card.Appearance(s.UI.Theme), FileWord: s.UI.FileWord, Support: s.Support.Contact,
		Fields: s.Card.Fields, Privacy: card.Privacy(s.Card.Privacy), Speech: card.Speech(s.Card.Speech),
		HideFromCapture: s.Card.HideFromCapture && r.helped.Load() < now.Unix(),
		Corner:          card.Corner(s.Card.Corner), Monitor: s.Card.Monitor,
		Corners: r.corners.Of(s), UnderFullScreen: !s.Card.OverFullscreen, Log: r.o.Log,
		Hotkey: s.Card.Hotkey, HotkeyOpen: s.Card.HotkeyOpen, HotkeyHear: s.Card.HotkeyHear, HotkeyClose: s.Card.HotkeyClose,
		Events: card.Events{
			Moved:        func(monitor string, to card.Corner) { r.corners.Moved(r.settings(), monitor, to) },
			HotkeyResult: r.hotkeyResult, Held: r.held, Rested: func() { wake.Up(r.rested) }, Painted: r.o.Painted,
		},
	}
	if b := r.reader.Load(); b != nil {
		c.Explored = b.Show
	}
	switch r.hiding() {
	case health.HidingLocked, health.HidingQuiet, health.HidingPresenting:
		c.Hidden = true
	case health.NumberQuiet, health.NumberPresenting:
		c.Privacy = card.PrivacyNumber
	}
	if !r.facts.pausedUntil(now).IsZero() {
		c.Hidden = true
	}
	return c
}

// setCards puts into the cards what depends on the session, the pause and the
// settings.
func (r *Resident) setCards() { r.cards.Set(r.cardConfig()) }

// note changes what is known, and has the state shown if that is news.
func (r *Resident) note(do func(*known)) {
	if r.facts.change(do) {
		r.requestRefresh()
	}
}

// hotkeyResult is told whether a hotkey works.
func (r *Resident) hotkeyResult(h card.Hotkey, keys string, err error) {
	now := health.HotkeyWorks
	switch {
	case errors.Is(err, window.ErrHotkeyTaken):
		now = health.HotkeyTaken
	case errors.Is(err, window.ErrUnsupported):
		now = health.HotkeyUnsupported
	case err != nil:
		now = health.HotkeyWrong
	}
	r.note(func(k *known) { k.SetHotkey(string(h), keys, now) })
}

// held is told when cards begin or cease to wait for a program that fills the
// screen.
func (r *Resident) held(on bool) {
	r.o.Log.Info("cards wait for a program that fills the screen", "now", on)
	r.note(func(k *known) { k.held = on })
}

// notificationsAble is told whether somebody shows notifications.
func (r *Resident) notificationsAble(able bool) {
	now := health.CardsNone
	if able {
		now = health.CardsNotifications
	}
	r.note(func(k *known) { k.Cards = now })
}

// report says how things are.
func (r *Resident) report(now time.Time) health.Report {
	f := r.facts.of(r.engine.Snapshot())
	f.Hiding = r.hiding()
	if r.facts.read().held && (f.Hiding == health.HidingNot || f.Hiding == health.NumberPresenting) {
		f.Hiding = health.HidingPresenting
	}
	return health.Assess(f, r.lang(), r.settings().Support.Contact, now)
}

// followSession follows the user's session – locked, quiet, presenting – and what
// depends on it: how much cards show, and the hub's page at the first unlock of
// the day.
func (r *Resident) followSession(ctx context.Context) {
	w, err := session.Watch(ctx, r.o.Log)
	if err != nil {
		r.o.Log.Warn("nobody tells whether the screen is locked", "why", err)
		r.openHubAtStart(ctx)
		return
	}
	defer w.Close()
	unread := func() {}
	defer func() { unread() }()
	for {
		s := w.State()
		r.sessionIs(s)
		if s.Reader != (r.reader.Load() != nil) {
			unread()
			if unread = func() {}; s.Reader {
				unread = r.letRead(ctx)
			}
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

// sessionIs has what depends on the user's session follow it.
func (r *Resident) sessionIs(s session.State) {
	before := r.hiding()
	if r.session.Store(&s); r.hiding() == before {
		return // cards that look the same stay as they are
	}
	r.showChange()
}

// autoOpen is when a customer file opens by itself: never where cards show less than
// usual, nor in a pause.
func (r *Resident) autoOpen() engine.AutoOpen {
	if r.hiding() != health.HidingNot || !r.facts.pausedUntil(time.Now()).IsZero() {
		return engine.AutoOpenNever
	}
	return engine.AutoOpen(r.settings().Card.AutoOpen)
}

// letRead shows the cards to screen readers until the end of what it returns.
func (r *Resident) letRead(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	b, done := screenreader.New(), make(chan struct{})
	go func() {
		defer close(done)
		if err := b.Run(ctx); err != nil {
			r.o.Log.Warn("screen readers cannot read the cards", "why", err)
		}
	}()
	r.reader.Store(b)
	r.setCards()
	return func() {
		r.reader.Store(nil)
		r.setCards()
		cancel()
		<-done
	}
}

// hiding is why cards show less than usual at this moment.
func (r *Resident) hiding() health.Hiding {
	s := r.session.Load()
	if s == nil {
		return health.HidingNot
	}
	busy, number := health.HidingQuiet, health.NumberQuiet
	if s.Presenting {
		busy, number = health.HidingPresenting, health.NumberPresenting
	}
	switch mode := r.settings().Card.Quiet; {
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

// showChange has cards and tray show what has just changed for both, and files open by
// themselves as that asks for.
func (r *Resident) showChange() {
	r.engine.Reconfigure(func(p *engine.Params) { p.AutoOpen = r.autoOpen() })
	r.setCards()
	r.requestRefresh()
}

// openedName is the file that says on which day the hub was opened last.
const openedName = "hub-opened"

// openHubAtStart opens the hub once a day, so that its login is done before the
// first call (hub.open_at_start).
func (r *Resident) openHubAtStart(ctx context.Context) {
	if !r.settings().Hub.OpenAtStart || r.o.Demo != nil {
		return
	}
	was, err := hubwatch.OnceADay(filepath.Join(r.o.Dirs.State, openedName), time.Now().Format(time.DateOnly))
	switch {
	case err != nil:
		r.o.Log.Warn("the hub is not opened", "why", err) // it would be at every unlock
	case !was:
		r.openHub(ctx)
	}
}

// openHub opens the hub's first page.
func (r *Resident) openHub(ctx context.Context) {
	address := r.settings().Hub.HubURL
	if r.o.Hub != nil {
		address = r.o.Hub.HubURL
	}
	if address != "" && browse(ctx, address) != nil {
		r.o.Log.Warn("browser not started")
	}
}

func browse(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return browser.Open(ctx, address)
}

// helpFor is how long cards can be seen by remote help once somebody asked.
const helpFor = 15 * time.Minute

// canHideFromCapture: this system can keep a window out of screen sharing at all.
const canHideFromCapture = runtime.GOOS == "windows"

// showToHelp lets screen sharing see the cards for a while.
func (r *Resident) showToHelp() {
	r.helped.Store(time.Now().Add(helpFor).Unix())
	r.showChange()
	time.AfterFunc(helpFor+time.Second, r.showChange) // nothing happens once the cards have ended
}

// pausedName is the file that says until when the user has paused: a pause
// outlives a new version, a log-off and a start, and ends when it was to end.
const pausedName = "paused"

// longestPause is longer than any pause that can be asked for.
const longestPause = 48 * time.Hour

// pause stops cards until a moment; calls are still noted. The zero time ends it.
func (r *Resident) pause(until time.Time) {
	until = until.Round(0) // on the wall: the monotonic clock may stand still in a sleep
	r.facts.change(func(k *known) { k.Paused = until })
	path := filepath.Join(r.o.Dirs.State, pausedName)
	var err error
	if until.IsZero() {
		if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	} else {
		err = profile.WriteFile(path, []byte(until.Format(time.RFC3339)+"\n"), 0o600)
	}
	if err != nil {
		r.o.Log.Warn("the pause does not outlive this program", "why", err)
	}
	r.showChange()
}

// pausedBefore is until when a pause holds that was asked for before this start,
// the zero time for none.
func pausedBefore(d profile.Dirs, now time.Time) time.Time {
	b, err := os.ReadFile(filepath.Join(d.State, pausedName))
	if err != nil || len(b) > 64 {
		return time.Time{}
	}
	until, err := time.Parse(time.RFC3339, strings.TrimSpace(string(b)))
	if err != nil || !until.After(now) || until.Sub(now) > longestPause {
		return time.Time{}
	}
	return until
}

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
	"wiebelt/internal/resident/notifications"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

// screen shows calls, and holds what is known about who may see them.
type screen struct {
	display      window.Display
	cards        cards
	corners      *cardcorners.Corners
	reader       atomic.Pointer[screenreader.Bridge] // nil without a screen reader
	testCard     *testCard
	session      atomic.Pointer[session.State] // of the user; nil if unknown
	captureUntil atomic.Int64                  // until when remote help can see cards, in Unix seconds
}

// cards shows calls: as windows of our own, or as notifications.
type cards interface {
	Run(ctx context.Context)
	ConfigChanged() // from any goroutine
}

// openDisplay opens the desktop for cards. If it accepts none of our windows, notifications
// replace the cards, with a display that supports nothing.
func (r *Resident) openDisplay() error {
	d, err := window.OpenCards()
	switch {
	case errors.Is(err, window.ErrWayland):
		r.o.Log.Warn("this desktop takes no cards: notifications stand in for them", "why", err)
		r.display = notifications.Display{}
		r.facts.change(func(k *knownState) { k.Cards = health.CardsNotifications })
	case err != nil:
		return fmt.Errorf("%s (%w)", r.lang().T(text.StatusScreen), err)
	default:
		r.display = d
	}
	return nil
}

func (r *Resident) makeCards() error {
	r.corners = cardcorners.Open(r.o.Dirs, r.o.Log)
	r.testCard = &testCard{Engine: r.engine, changed: func() { r.cards.ConfigChanged() }}
	if r.display == (notifications.Display{}) {
		r.cards = notifications.New(notifications.Params{Engine: r.engine, Config: r.cardConfig,
			AvailabilityChanged: r.notificationsAble, Log: r.o.Log,
			OpenCallsWindow: func() { r.windows.Show(windowapi.WindowCalls) }})
		return nil
	}
	c, err := card.New(r.cardConfig, r.testCard, r.display)
	if err != nil {
		return fmt.Errorf("make the cards: %w", err)
	}
	r.cards = c
	return nil
}

// cardConfig returns the current look and position of cards. It is called on their goroutine.
func (r *Resident) cardConfig() card.Config {
	s, now := r.settings(), time.Now()
	c := card.Config{
		Language: r.lang(), Appearance: s.UI.Theme, FileWord: s.UI.FileWord, Support: s.Support.Contact,
		Fields: s.Card.Fields, Privacy: card.Privacy(s.Card.Privacy), Speech: card.Speech(s.Card.Speech),
		HideFromCapture: s.Card.HideFromCapture && r.captureUntil.Load() < now.Unix(),
		Corner:          card.Corner(s.Card.Corner), Monitor: s.Card.Monitor,
		Corners: r.corners.Effective(s), UnderFullScreen: !s.Card.OverFullscreen, Log: r.o.Log,
		Hotkeys: map[card.Hotkey]string{card.HotkeyKeyboard: s.Card.Hotkey, card.HotkeyOpen: s.Card.HotkeyOpen,
			card.HotkeyHear: s.Card.HotkeyHear, card.HotkeyClose: s.Card.HotkeyClose},
		Events: card.Events{
			Moved:        func(monitor string, to card.Corner) { r.corners.Moved(r.settings(), monitor, to) },
			HotkeyResult: r.hotkeyResult, HeldBack: r.setCardsWaiting, WentIdle: func() { wake.Up(r.cardsGone) },
		},
	}
	if d := r.o.Demo; d != nil {
		c.Events.Painted = d.Painted
	}
	if b := r.reader.Load(); b != nil {
		c.TreeChanged = b.Show
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

// changeFacts changes what is known, and shows the state if that is news.
func (r *Resident) changeFacts(do func(*knownState)) {
	if r.facts.change(do) {
		r.requestRefresh()
	}
}

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
	r.changeFacts(func(k *knownState) { k.SetHotkey(string(h), keys, now) })
}

// setCardsWaiting records that cards start or stop waiting for a full-screen program.
func (r *Resident) setCardsWaiting(on bool) {
	r.o.Log.Info("cards wait for a program that fills the screen", "now", on)
	r.changeFacts(func(k *knownState) { k.cardsWaiting = on })
	r.engine.Reconfigure(func(p *engine.Params) { p.AutoOpen = r.autoOpen() })
}

func (r *Resident) notificationsAble(able bool) {
	now := health.CardsNone
	if able {
		now = health.CardsNotifications
	}
	r.changeFacts(func(k *knownState) { k.Cards = now })
}

func (r *Resident) report(now time.Time) health.Report {
	f := r.facts.assemble(r.engine.Snapshot())
	f.Hiding = r.hiding()
	if r.facts.read().cardsWaiting && (f.Hiding == health.HidingNot || f.Hiding == health.NumberPresenting) {
		f.Hiding = health.HidingPresenting
	}
	return health.Assess(f, r.lang(), r.settings().Support.Contact, now)
}

// followSession follows the user's session (locked, quiet, presenting) and what depends on
// it: how much cards show, and the hub's page at the first unlock of the day.
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
		r.applySession(s)
		if s.Reader != (r.reader.Load() != nil) {
			unread()
			if unread = func() {}; s.Reader {
				unread = r.startScreenReader(ctx)
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

func (r *Resident) applySession(s session.State) {
	before := r.hiding()
	if r.session.Store(&s); r.hiding() == before {
		return // cards that look the same stay unchanged
	}
	r.showChange()
}

// autoOpen is when a customer file opens by itself: never where cards show less than
// usual, nor in a pause.
func (r *Resident) autoOpen() engine.AutoOpen {
	if r.hiding() != health.HidingNot || r.facts.read().cardsWaiting || !r.facts.pausedUntil(time.Now()).IsZero() {
		return engine.AutoOpenNever
	}
	return engine.AutoOpen(r.settings().Card.AutoOpen)
}

// startScreenReader exposes the cards to screen readers until end is called.
func (r *Resident) startScreenReader(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	b, done := screenreader.New(), make(chan struct{})
	go func() {
		defer close(done)
		if err := b.Run(ctx); err != nil {
			r.o.Log.Warn("screen readers cannot read the cards", "why", err)
		}
	}()
	r.reader.Store(b)
	r.cards.ConfigChanged()
	return func() {
		r.reader.Store(nil)
		r.cards.ConfigChanged()
		cancel()
		<-done
	}
}

// hiding returns why cards currently show less than usual.
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

// showChange updates cards, tray and whether files open by themselves, after
// a change that concerns them all.
func (r *Resident) showChange() {
	r.engine.Reconfigure(func(p *engine.Params) { p.AutoOpen = r.autoOpen() })
	r.cards.ConfigChanged()
	r.requestRefresh()
}

// openedName is the file with the day on which the hub was last opened.
const openedName = "hub-opened"

// onceADay reports whether a file contains that day, and writes the day to it.
func onceADay(path, day string) (was bool, err error) {
	if b, _ := os.ReadFile(path); strings.TrimSpace(string(b)) == day {
		return true, nil
	}
	return false, profile.WriteFile(path, []byte(day+"\n"), 0o600)
}

// openHubAtStart opens the hub once a day, so that the user logs in before the first
// call (hub.open_at_start).
func (r *Resident) openHubAtStart(ctx context.Context) {
	if !r.settings().Hub.OpenAtStart || r.o.Demo != nil {
		return
	}
	was, err := onceADay(filepath.Join(r.o.Dirs.State, openedName), time.Now().Format(time.DateOnly))
	switch {
	case err != nil:
		r.o.Log.Warn("the hub is not opened", "why", err) // otherwise it would open at every unlock
	case !was:
		r.openHub(ctx)
	}
}

func (r *Resident) openHub(ctx context.Context) {
	address := r.settings().Hub.HubURL
	if address != "" && browse(ctx, address) != nil {
		r.o.Log.Warn("browser not started")
	}
}

func browse(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return browser.Open(ctx, address)
}

// captureFor is how long remote help can see cards after the user allowed it.
const captureFor = 15 * time.Minute

// canHideFromCapture reports whether this system can exclude windows from screen sharing.
const canHideFromCapture = runtime.GOOS == "windows"

// allowCapture makes the cards visible to screen sharing for a while.
func (r *Resident) allowCapture() {
	r.captureUntil.Store(time.Now().Add(captureFor).Unix())
	r.showChange()
	time.AfterFunc(captureFor+time.Second, r.showChange) // does nothing once the cards have ended
}

// pausedName is the file with the end of the user's pause: a pause survives a new version,
// a log-off and a restart, and ends as planned.
const pausedName = "paused"

// longestPause exceeds any pause that can be requested.
const longestPause = 48 * time.Hour

// pause stops cards until the given time; calls are still recorded. The zero time ends it.
func (r *Resident) pause(until time.Time) {
	until = until.Round(0) // wall clock: the monotonic clock may stop during sleep
	r.facts.change(func(k *knownState) { k.PausedUntil = until })
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

// storedPause returns the end of a pause requested before this start,
// the zero time for none.
func storedPause(d profile.Dirs, now time.Time) time.Time {
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

package resident

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"wiebelt/internal/health"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/window"
	"wiebelt/internal/resident/notifications"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

// cards are what calls are shown with: windows of our own, or notices.
type cards interface {
	Run(ctx context.Context)
	Set(card.Config) // from any goroutine
}

// shown is what is known of how calls reach the screen and the keyboard the
// cards.
type shown struct {
	mu     sync.Mutex
	cards  health.Cards
	hotkey health.Hotkey
	held   bool // cards wait for a program that fills the screen
}

func (s *shown) get() (c health.Cards, k health.Hotkey, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cards, s.hotkey, s.held
}

// change changes what is known and reports whether it is news.
func (s *shown) change(f func(*shown)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := [3]any{s.cards, s.hotkey, s.held}
	f(s)
	return was != [3]any{s.cards, s.hotkey, s.held}
}

// openDisplay opens the desktop for cards. Where no window of ours can be put
// there are notices instead of cards, and a display that can do nothing.
func (r *Resident) openDisplay() error {
	d, err := window.Open()
	switch {
	case errors.Is(err, window.ErrWayland):
		r.o.Log.Warn("this desktop takes no cards: notifications stand in for them", "why", err)
		r.display, r.shown.cards = notifications.Display{}, health.CardsNotices
	case err != nil:
		return fmt.Errorf("%s (%w)", r.lang().T(text.StatusScreen), err)
	default:
		r.display = d
	}
	return nil
}

// makeCards makes what calls are shown with.
func (r *Resident) makeCards() error {
	if r.display == (notifications.Display{}) {
		r.cards = notifications.New(notifications.Params{Engine: r.engine, Config: r.cardConfig(), Able: r.noticesAble, Log: r.o.Log,
			Calls: func() { r.desks.Show(windowapi.WindowCalls) }})
		return nil
	}
	c, err := card.New(r.cardConfig(), r.exhibit, r.display)
	if err != nil {
		return fmt.Errorf("make the cards: %w", err)
	}
	r.cards = c
	return nil
}

// hotkey is told whether the keyboard can be asked for by card.hotkey.
func (r *Resident) hotkey(err error) {
	now := health.HotkeyWorks
	switch {
	case errors.Is(err, window.ErrHotkeyTaken):
		now = health.HotkeyTaken
	case errors.Is(err, window.ErrUnsupported):
		now = health.HotkeyUnsupported
	case err != nil:
		now = health.HotkeyWrong
	}
	r.news(func(s *shown) { s.hotkey = now })
}

// held is told when cards begin or cease to wait for a program that fills the
// screen.
func (r *Resident) held(on bool) {
	r.o.Log.Info("cards wait for a program that fills the screen", "now", on)
	r.news(func(s *shown) { s.held = on })
}

// noticesAble is told whether somebody shows notifications.
func (r *Resident) noticesAble(able bool) {
	now := health.CardsNone
	if able {
		now = health.CardsNotices
	}
	r.news(func(s *shown) { s.cards = now })
}

// news notes what is shown and has the tray say it.
func (r *Resident) news(f func(*shown)) {
	if !r.shown.change(f) {
		return
	}
	select {
	case r.retell <- struct{}{}:
	default: // it is about to look anyway
	}
}

// tellShown puts into facts what is known of the screen.
func (r *Resident) tellShown(f *health.Facts) {
	held := false
	f.Cards, f.Hotkey, held = r.shown.get()
	f.HotkeyKeys = r.set().Card.Hotkey
	if f.Hiding = r.hiding(); held && (f.Hiding == health.HidingNot || f.Hiding == health.NumberPresenting) {
		f.Hiding = health.HidingPresenting
	}
}

package window

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/native/desktopbus"
)

// portal follows what the desktop reports through xdg-desktop-portal: whether it is dark,
// whether it uses high contrast, and, on Wayland, that a hotkey was pressed. Desktops without
// a portal lack only that. We never start it.
type portal struct {
	post    func(func()) // calls a function on the goroutine that notifies windows
	changed func()       // notifies them that the appearance has changed
	cancel  context.CancelFunc
	work    sync.WaitGroup
	look    atomic.Pointer[look]

	mu         sync.Mutex
	conn       *dbus.Conn
	owner      string
	ownerKnown bool // it is known who the owner is, or that there is none
	last       int
	answers    map[dbus.ObjectPath]chan answer
	hotkeys    []*portalHotkey
	ctx        context.Context
}

type look struct {
	scheme uint32
	Appearance
}

// The values of color-scheme.
const (
	preferDark  = 1
	preferLight = 2
)

type answer struct {
	code    uint32
	results map[string]dbus.Variant
}

const (
	portalName      = "org.freedesktop.portal.Desktop"
	portalPath      = dbus.ObjectPath("/org/freedesktop/portal/desktop")
	portalSettings  = "org.freedesktop.portal.Settings"
	portalShortcuts = "org.freedesktop.portal.GlobalShortcuts"
	portalRequest   = "org.freedesktop.portal.Request"
	portalSession   = "org.freedesktop.portal.Session"
	portalRegistry  = "org.freedesktop.host.portal.Registry"
	appearance      = "org.freedesktop.appearance"
)

func startPortal(post func(func()), changed func()) *portal {
	ctx, cancel := context.WithCancel(context.Background())
	p := &portal{post: post, changed: changed, ctx: ctx, cancel: cancel, answers: map[dbus.ObjectPath]chan answer{}}
	p.look.Store(&look{})
	p.work.Go(p.run)
	return p
}

// stop ends everything that the portal has started, and waits for that.
func (p *portal) stop() {
	p.mu.Lock()
	p.cancel() // from here on nothing new is started
	p.mu.Unlock()
	p.work.Wait()
}

// run is the goroutine that reads from the bus. It ends with the display or with the bus.
func (p *portal) run() {
	defer p.handleOwner(nil, "")
	c, err := desktopbus.Session(p.ctx)
	if err != nil {
		return
	}
	defer c.Close()
	_ = desktopbus.Follower{
		Names: []string{portalName},
		Matches: [][]dbus.MatchOption{
			{dbus.WithMatchSender(portalName), dbus.WithMatchInterface(portalSettings), dbus.WithMatchMember("SettingChanged"),
				dbus.WithMatchArg(0, appearance)},
			{dbus.WithMatchSender(portalName), dbus.WithMatchInterface(portalRequest), dbus.WithMatchMember("Response")},
			{dbus.WithMatchSender(portalName), dbus.WithMatchInterface(portalShortcuts), dbus.WithMatchMember("Activated")},
		},
		OnOwner:  func(_, owner string) { p.handleOwner(c, owner) },
		Query:    func(string) error { return p.read(c) },
		OnSignal: p.handleSignal,
	}.Run(p.ctx, c)
}

// handleOwner requests the hotkeys from a new portal, since those of the previous one are gone.
func (p *portal) handleOwner(c *dbus.Conn, owner string) {
	if owner != "" {
		// Newer portals require the name of our desktop file before anything
		// else; older ones do not have this method.
		_ = desktopbus.Call(p.ctx, c, owner, portalPath, portalRegistry+".Register", desktopbus.AppID, map[string]dbus.Variant{}).Err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn, p.owner, p.ownerKnown = c, owner, true
	for _, w := range p.hotkeys {
		p.begin(w)
	}
}

// handleSignal handles a signal, and returns the name to query for the appearance.
func (p *portal) handleSignal(s *dbus.Signal) (ask string) {
	if s.Sender != p.owner { // any program can send a signal directly to us
		return ""
	}
	switch s.Name {
	case portalSettings + ".SettingChanged":
		return portalName
	case portalRequest + ".Response":
		var a answer
		if dbus.Store(s.Body, &a.code, &a.results) != nil {
			return ""
		}
		p.mu.Lock()
		ch := p.answers[s.Path]
		delete(p.answers, s.Path)
		p.mu.Unlock()
		if ch != nil {
			ch <- a // has room for this one answer
		}
	case portalShortcuts + ".Activated":
		if len(s.Body) < 2 {
			return ""
		}
		var pressed func()
		p.mu.Lock()
		for _, w := range p.hotkeys {
			if w.session != "" && s.Body[0] == w.session {
				pressed = w.pressed
			}
		}
		p.mu.Unlock()
		if pressed != nil {
			p.post(pressed)
		}
	}
	return ""
}

// read queries the appearance. If the portal is gone or does not answer in
// time, the last answer remains in effect.
func (p *portal) read(c *dbus.Conn) error {
	if p.owner == "" {
		return nil
	}
	var values [3]uint32
	for i, key := range []string{"color-scheme", "contrast", "reduced-motion"} {
		var err error
		if values[i], err = p.setting(c, key); desktopbus.TimedOut(err) {
			return err
		}
	}
	now := &look{values[0], Appearance{values[0] == preferDark, values[1] == 1, values[2] == 1}}
	if old := p.look.Swap(now); *old != *now {
		p.post(p.changed)
	}
	return nil
}

// setting returns one value of the appearance; 0 means "no preference".
func (p *portal) setting(c *dbus.Conn, key string) (uint32, error) {
	var v dbus.Variant
	// The newer method ReadOne is not available everywhere; Read wraps the value twice.
	err := desktopbus.Call(p.ctx, c, p.owner, portalPath, portalSettings+".Read", appearance, key).Store(&v)
	if inner, ok := v.Value().(dbus.Variant); ok {
		v = inner
	}
	n, _ := v.Value().(uint32)
	return n, err
}

// portalHotkey is a hotkey requested from every portal that appears.
type portalHotkey struct {
	keys        shortcut
	description string
	pressed     func()
	onResult    func(error)
	session     dbus.ObjectPath    // of the portal that is there; "" before it has made one
	end         context.CancelFunc // cancels the request
}

// hotkey requests keys until they are released.
func (p *portal) hotkey(s shortcut, does string, pressed func(), told func(error)) (release func()) {
	w := &portalHotkey{keys: s, description: does, pressed: pressed, onResult: told, end: func() {}}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hotkeys = append(p.hotkeys, w); p.ownerKnown {
		p.begin(w)
	}
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		w.end()
		p.hotkeys = slices.DeleteFunc(p.hotkeys, func(o *portalHotkey) bool { return o == w })
		if w.session != "" {
			p.conn.Object(p.owner, w.session).Call(portalSession+".Close", dbus.FlagNoAutoStart|dbus.FlagNoReplyExpected)
		}
	})
}

// begin requests a hotkey from the current portal, on its own goroutine, and retries as long
// as the answer is late. It must be called with mu held.
func (p *portal) begin(w *portalHotkey) {
	w.end()
	c, owner := p.conn, p.owner
	ctx, cancel := context.WithCancel(p.ctx)
	if w.session, w.end = "", cancel; ctx.Err() != nil {
		return // stop may be waiting
	}
	p.work.Go(func() {
		for {
			err := p.bind(ctx, c, owner, w)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				err = fmt.Errorf("%w: Wayland: %w", ErrUnsupported, err)
			}
			p.post(func() {
				if ctx.Err() == nil {
					w.onResult(err)
				}
			})
			if !desktopbus.TimedOut(err) || wake.Pause(ctx, 2*desktopbus.CallTimeout) != nil {
				return
			}
		}
	})
}

// shortcutID is the first part of a shortcut's name, followed by its keys: desktops
// remember shortcuts by name.
const shortcutID = "wiebelt"

// bind requests keys from a portal. The desktop may ask the user for permission, and may
// choose other keys. No press is reported before the user has agreed, nor ever if they refuse.
func (p *portal) bind(ctx context.Context, c *dbus.Conn, owner string, w *portalHotkey) error {
	if owner == "" {
		return errors.New("no portal")
	}
	o := c.Object(owner, portalPath)
	first, stop := context.WithTimeout(ctx, 3*desktopbus.CallTimeout)
	defer stop()
	made, err := p.request(first, c, func(token string) *dbus.Call {
		return o.CallWithContext(first, portalShortcuts+".CreateSession", dbus.FlagNoAutoStart, map[string]dbus.Variant{
			"handle_token": dbus.MakeVariant(token), "session_handle_token": dbus.MakeVariant(token),
		})
	})
	if err != nil {
		return fmt.Errorf("no shortcuts: %w", err)
	}
	handle, _ := made["session_handle"].Value().(string)
	session := dbus.ObjectPath(handle)
	if !session.IsValid() {
		return errors.New("the portal makes no session")
	}
	p.mu.Lock()
	if ctx.Err() == nil {
		w.session = session
	}
	p.mu.Unlock()
	type wanted struct {
		ID      string
		Details map[string]dbus.Variant
	}
	keys := w.keys.trigger()
	if _, err = p.request(ctx, c, func(token string) *dbus.Call {
		return o.CallWithContext(ctx, portalShortcuts+".BindShortcuts", dbus.FlagNoAutoStart, session, []wanted{{shortcutID + "-" + strings.ToLower(keys), map[string]dbus.Variant{
			"description": dbus.MakeVariant(w.description), "preferred_trigger": dbus.MakeVariant(keys),
		}}}, "", map[string]dbus.Variant{"handle_token": dbus.MakeVariant(token)})
	}); err != nil {
		return fmt.Errorf("the keys: %w", err)
	}
	return nil
}

// request makes a request and waits for its result. The result is a signal, which may arrive
// before the call has returned.
func (p *portal) request(ctx context.Context, c *dbus.Conn, call func(token string) *dbus.Call) (map[string]dbus.Variant, error) {
	p.mu.Lock()
	p.last++
	token := "wiebelt" + strconv.Itoa(p.last)
	sender := strings.ReplaceAll(strings.TrimPrefix(c.Names()[0], ":"), ".", "_")
	path := dbus.ObjectPath("/org/freedesktop/portal/desktop/request/" + sender + "/" + token)
	ch := make(chan answer, 1)
	p.answers[path] = ch
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.answers, path)
		p.mu.Unlock()
	}()
	if err := call(token).Err; err != nil {
		return nil, err
	}
	select {
	case a := <-ch:
		if a.code != 0 {
			return nil, errors.New("refused")
		}
		return a.results, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

//go:build linux

package session

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/screensaver"
	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/native/xconn"
)

type xServer struct {
	f      *sourceStates
	c      *xgb.Conn
	root   xproto.Window
	active xproto.Window // the last active window

	activeWindow, workspace, workspaceOf, state, fullScreen xproto.Atom
}

func watchServer(ctx context.Context, f *sourceStates, ready func()) error {
	if os.Getenv("DISPLAY") == "" {
		return errors.New("no X server")
	}
	c, err := xconn.Open(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, c.Close)()
	s := &xServer{f: f, c: c, root: xproto.Setup(c).DefaultScreen(c).Root}
	if err := s.prepare(); err != nil {
		return err
	}
	ready()
	for {
		ev, fault := c.WaitForEvent()
		if ev == nil && fault == nil {
			f.update(func(f *sourceStates) { f.server, f.blanked, f.fullScreen = false, false, false })
			return errors.New("the X server has gone")
		}
		switch e := ev.(type) {
		case screensaver.NotifyEvent:
			f.update(func(f *sourceStates) { f.blanked = e.State == screensaver.StateOn })
		case xproto.PropertyNotifyEvent:
			if slices.Contains([]xproto.Atom{s.activeWindow, s.workspace, s.workspaceOf, s.state}, e.Atom) {
				s.checkFullScreen()
			}
		case xproto.MapNotifyEvent, xproto.UnmapNotifyEvent:
			s.checkFullScreen()
		}
	}
}

func (s *xServer) prepare() error {
	if err := xconn.Atoms(s.c, map[string]*xproto.Atom{
		"_NET_ACTIVE_WINDOW": &s.activeWindow, "_NET_CURRENT_DESKTOP": &s.workspace, "_NET_WM_DESKTOP": &s.workspaceOf,
		"_NET_WM_STATE": &s.state, "_NET_WM_STATE_FULLSCREEN": &s.fullScreen,
	}); err != nil {
		return err
	}
	xproto.ChangeWindowAttributes(s.c, s.root, xproto.CwEventMask, []uint32{xproto.EventMaskPropertyChange})
	if s.c.Extensions[xconn.ScreenSaver] != 0 {
		screensaver.SelectInput(s.c, xproto.Drawable(s.root), screensaver.EventNotifyMask)
		if info, err := screensaver.QueryInfo(s.c, xproto.Drawable(s.root)).Reply(); err == nil {
			s.f.update(func(f *sourceStates) { f.server, f.blanked = true, info.State == screensaver.StateOn })
		}
	}
	s.checkFullScreen()
	return nil
}

// checkFullScreen checks whether the active window fills the screen. While no
// window is active, for example because our own card has the focus, it uses
// the last one for as long as that is shown: not minimized, nor on another workspace.
func (s *xServer) checkFullScreen() {
	var now xproto.Window
	if v := s.numbers(s.root, s.activeWindow); len(v) > 0 {
		now = xproto.Window(v[0])
	}
	switch {
	case now == s.active:
	case now != 0:
		s.active = now
		xproto.ChangeWindowAttributes(s.c, s.active, xproto.CwEventMask,
			[]uint32{xproto.EventMaskPropertyChange | xproto.EventMaskStructureNotify})
	case os.Getenv("WAYLAND_DISPLAY") != "":
		s.active = 0 // a window that X does not know is in front
	}
	full := false
	if w, err := xproto.GetWindowAttributes(s.c, s.active).Reply(); err == nil && w.MapState != xproto.MapStateUnmapped {
		here, of := s.numbers(s.root, s.workspace), s.numbers(s.active, s.workspaceOf)
		const every = 0xFFFFFFFF
		elsewhere := len(here) > 0 && len(of) > 0 && of[0] != here[0] && of[0] != every // mutter unmaps nothing there
		full = !elsewhere && slices.Contains(s.numbers(s.active, s.state), uint32(s.fullScreen))
	}
	s.f.update(func(f *sourceStates) { f.fullScreen = full })
}

func (s *xServer) numbers(w xproto.Window, property xproto.Atom) []uint32 {
	const most = 64
	return xconn.Values(xproto.GetProperty(s.c, false, w, property, xproto.GetPropertyTypeAny, 0, most).Reply())
}

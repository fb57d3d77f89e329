package doctor

import (
	"context"
	"os"
	"strings"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"golang.org/x/sys/unix"

	"wiebelt/internal/filetrust"
	"wiebelt/internal/native/session"
	"wiebelt/internal/native/xconn"
)

func hasDesktop() bool {
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// loggedOn also recognises a screen that is not ours: monitoring runs without one.
func loggedOn(ctx context.Context) bool { return hasDesktop() || session.AtScreen(ctx) }

func freeSpace(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}

func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }

func systemName() string {
	b, err := filetrust.ReadPlain("/etc/os-release", 16<<10)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			return strings.Trim(strings.TrimSpace(v), `"'`)
		}
	}
	return ""
}

// windowManager returns the window manager's own name (EWMH, _NET_SUPPORTING_WM_CHECK).
func windowManager(ctx context.Context) string {
	if os.Getenv("DISPLAY") == "" {
		return ""
	}
	c, err := xconn.Open(ctx)
	if err != nil {
		return ""
	}
	defer c.Close()
	defer context.AfterFunc(ctx, c.Close)()
	root := xproto.Setup(c).DefaultScreen(c).Root
	b := property(c, root, "_NET_SUPPORTING_WM_CHECK")
	if len(b) < 4 {
		return ""
	}
	return string(property(c, xproto.Window(xgb.Get32(b)), "_NET_WM_NAME"))
}

func property(c *xgb.Conn, w xproto.Window, name string) []byte {
	a, err := xproto.InternAtom(c, true, uint16(len(name)), name).Reply()
	if err != nil || a.Atom == xproto.AtomNone {
		return nil
	}
	p, err := xproto.GetProperty(c, false, w, a.Atom, xproto.GetPropertyTypeAny, 0, 64).Reply()
	if err != nil {
		return nil
	}
	return p.Value
}

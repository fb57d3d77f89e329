package screenreader

import (
	"bufio"
	"context"
	"fmt"
	"image"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"wiebelt/internal/native/win32"
	"wiebelt/internal/testutil/must"
)

var testClass = win32.Class("WiebeltTest", func(hwnd, what, wParam, lParam uintptr) uintptr {
	switch what {
	case 0x3D: // WM_GETOBJECT
		if r, ok := Answer(hwnd, wParam, lParam); ok {
			return r
		}
	case win32.WMClose:
		Detach(hwnd)
		win32.Destroy(hwnd)
		return 0
	case win32.WMDestroy:
		win32.Quit()
		return 0
	}
	return win32.Default(hwnd, what, wParam, lParam)
})

// openWindow makes a window on a thread of its own that ends with the test.
func openWindow(t *testing.T) (hwnd uintptr) {
	t.Helper()
	made, done := make(chan uintptr), make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		name, err := testClass()
		h := uintptr(0)
		if err == nil {
			const popup, topmost = 0x90000000, 8
			h, err = win32.Create(name, "test", popup, topmost)
		}
		if err != nil {
			t.Error(err)
		}
		made <- h
		win32.Loop()
	}()
	hwnd = <-made
	t.Cleanup(func() { win32.Post(hwnd, win32.WMClose, 0, 0); <-done })
	return hwnd
}

func testCard(news ID, name string, focused bool) *Node {
	button := &Node{ID: 4, Role: Button, Name: "Relatie openen", Bounds: image.Rect(110, 250, 200, 280), Focused: focused}
	return &Node{ID: 1, Role: Card, Name: name, Bounds: image.Rect(100, 200, 400, 300), Focused: focused, Children: []*Node{
		{ID: news, Role: News, Name: name, Bounds: image.Rect(110, 210, 300, 230)},
		{ID: 3, Role: List, Name: "2 relaties", Bounds: image.Rect(110, 235, 390, 290), Children: []*Node{
			{ID: 5, Role: Item, Name: "A. Bakker", About: "2 van 3", Position: [2]int{2, 3}, Bounds: image.Rect(110, 240, 390, 290), Children: []*Node{button}},
		}},
		{ID: 6, Role: Button, Name: "Kaart sluiten", Bounds: image.Rect(380, 205, 395, 220), Off: true},
		{ID: 8, Role: Entry, Name: "Zoeken", Value: "vis", About: "in deze relaties", Bounds: image.Rect(310, 205, 370, 220)},
		{ID: 9, Role: 200, Name: "iets anders", Bounds: image.Rect(371, 205, 379, 220)},
	}}
}

// begin runs a bridge to the end of the test.
func begin(t *testing.T) *Bridge {
	t.Helper()
	b := New()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	t.Cleanup(func() { cancel(); must.Do(t, <-ended) })
	for running.Load() != b {
		runtime.Gosched()
	}
	return b
}

// shows has a tree taken up.
func (b *Bridge) shows(t Tree) {
	b.Show(t)
	for v := b.now.Load(); len(v.Cards) != len(t.Cards) || len(t.Cards) > 0 && v.Cards[0] != t.Cards[0]; v = b.now.Load() {
		runtime.Gosched()
	}
}

// TestServe shows a card to a client in another process until standard input ends.
func TestServe(t *testing.T) {
	if os.Getenv("WIEBELT_SERVE") == "" {
		t.Skip("started by TestWindows")
	}
	b := begin(t)
	Attach(openWindow(t), 1)
	b.shows(Tree{Cards: []*Node{testCard(2, "Inkomend", false)}, Press: func(id ID) { fmt.Println("pressed", id) }})
	fmt.Println("ready")
	for sc := bufio.NewScanner(os.Stdin); sc.Scan(); {
		cmd := strings.TrimSpace(sc.Text())
		switch cmd {
		case "listening":
			fmt.Println("ok", cmd, listening())
		}
	}
}

var _ = syscall.SyscallN
var _ = unsafe.Pointer(nil)
var _ = windows.GUID{}

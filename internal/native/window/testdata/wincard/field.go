package main

import (
	"fmt"
	"image"
	"runtime"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"

	"wiebelt/internal/native/window"
)

// typed is a frame that stores typed text and reports it on Enter. It prints "up" whenever
// a text key is released.
type typed struct{ text string }

func (f *typed) FrameKey(e window.KeyEvent) {
	f.text += e.Text
	switch {
	case e.Key == window.KeyEnter && e.Down:
		fmt.Printf("typed %q\n", f.text)
	case !e.Down && (e.Letter != 0 || e.Key == window.KeySpace):
		fmt.Println("up")
	}
}

func (*typed) FramePointer(image.Point)                                       {}
func (*typed) FrameLeft()                                                     {}
func (*typed) FrameButton(image.Point, window.Button, bool, window.Modifiers) {}
func (*typed) FrameScrolled(image.Point, float32, float32)                    {}
func (*typed) FrameFocus(bool)                                                {}
func (*typed) FrameClosing()                                                  {}
func (*typed) FrameDropped(image.Point, []string)                             {}

func (*typed) FrameDisplayChanged()          { fmt.Println("frame: changed") }
func (*typed) FrameResized(size image.Point) { fmt.Println("frame: resized", size) }

var frame window.Frame

// ours opens a frame of ours.
func ours(d window.Display) (err error) {
	frame, err = d.(window.Desktop).NewFrame(&typed{}, window.FrameOptions{Title: "ours", Size: image.Pt(600, 60)})
	if err != nil {
		return err
	}
	return frame.Show()
}

// frameWindow returns our frame's window.
func frameWindow() uintptr {
	title, _ := windows.UTF16PtrFromString("ours")
	hwnd, _, _ := user32.NewProc("FindWindowW").Call(0, uintptr(unsafe.Pointer(title)))
	return hwnd
}

// rescale sends our frame the message that Windows sends when its scale changes, suggesting a
// rectangle smaller than the minimum size so far, and returns where the frame is afterwards.
func rescale(r image.Rectangle) image.Rectangle {
	hwnd := frameWindow()
	_ = frame.SetLimits(r.Size())
	at := [4]int32{int32(r.Min.X), int32(r.Min.Y), int32(r.Max.X), int32(r.Max.Y)}
	const dpiChanged, dpi = 0x2E0, 144
	user32.NewProc("SendMessageW").Call(hwnd, dpiChanged, dpi<<16|dpi, uintptr(unsafe.Pointer(&at)))
	user32.NewProc("GetWindowRect").Call(hwnd, uintptr(unsafe.Pointer(&at)))
	return image.Rect(int(at[0]), int(at[1]), int(at[2]), int(at[3]))
}

// maximize maximizes our frame and asks for another size.
func maximize() error {
	const maximize = 3
	user32.NewProc("ShowWindow").Call(frameWindow(), maximize)
	fmt.Println("frame: full")
	return frame.Resize(image.Pt(300, 200))
}

// system opens a window with a system text field that does the same as typed.
func system() error {
	failed := make(chan error)
	go func() {
		runtime.LockOSThread()
		static, _ := windows.UTF16PtrFromString("Static")
		title, _ := windows.UTF16PtrFromString("system")
		const overlapped, visible = 0x00CF0000, 0x10000000
		top, _, err := user32.NewProc("CreateWindowExW").Call(0, uintptr(unsafe.Pointer(static)), uintptr(unsafe.Pointer(title)),
			overlapped|visible, 0, 0, 1, 1, 0, 0, 0, 0)
		if top == 0 {
			failed <- err
			return
		}
		edit, _ := windows.UTF16PtrFromString("Edit")
		// wine's field crashes when it draws "˝", so make it draw dots.
		const child, scrollsAlong, dots = 0x40000000, 0x80, 0x20
		field, _, err := user32.NewProc("CreateWindowExW").Call(0, uintptr(unsafe.Pointer(edit)), 0,
			child|visible|scrollsAlong|dots, 0, 0, 580, 40, top, 0, 0, 0)
		if field == 0 {
			failed <- err
			return
		}
		user32.NewProc("SetWindowPos").Call(top, 0, 0, 300, 600, 100, 0)
		close(failed)
		const keyDown, keyUp, sysKeyUp, lastKey = 0x100, 0x101, 0x105, 0x109
		const enter = 0x0D
		for m := make([]uint64, 8); ; {
			at := uintptr(unsafe.Pointer(&m[0]))
			user32.NewProc("GetMessageW").Call(at, 0, 0, 0)
			if m[0] == uint64(top) && uint32(m[1]) >= keyDown && uint32(m[1]) <= lastKey {
				user32.NewProc("SetFocus").Call(field)
				m[0] = uint64(field)
			}
			what, key := uint32(m[1]), m[2]
			const toCharacter = 2
			if c, _, _ := user32.NewProc("MapVirtualKeyW").Call(uintptr(key), toCharacter); c&0xFFFF >= ' ' && (what == keyUp || what == sysKeyUp) {
				fmt.Println("up")
			}
			if what == keyDown && key == enter {
				text := make([]uint16, 30_000)
				n, _, _ := user32.NewProc("GetWindowTextW").Call(field, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)))
				fmt.Printf("typed %q\n", string(utf16.Decode(text[:n])))
			}
			user32.NewProc("TranslateMessage").Call(at)
			user32.NewProc("DispatchMessageW").Call(at)
		}
	}()
	return <-failed
}

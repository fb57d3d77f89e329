// Command wincard opens a window like a card's. It is controlled by its standard
// input, for the test that runs it under wine.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/windows"

	"wiebelt/internal/native/window"
)

var user32 = windows.NewLazySystemDLL("user32.dll")

type handler struct{}

func (handler) PointerMoved(p image.Point)                    { fmt.Println("move", p) }
func (handler) PointerLeft()                                  { fmt.Println("left") }
func (handler) PointerPressed(p image.Point, b window.Button) { fmt.Println("press", p, b) }
func (handler) PointerReleased(p image.Point, b window.Button) {
	fmt.Println("release", p, b)
}
func (handler) Scrolled(p image.Point, n int) { fmt.Println("scroll", p, n) }
func (handler) DisplayChanged()               { fmt.Println("changed") }
func (handler) KeyPressed(k window.KeyPress) {
	fmt.Printf("key %d %q ctrl %v shift %v alt %v\n", k.Key, k.Text, k.Ctrl, k.Shift, k.Alt)
}
func (handler) KeyboardGone() { fmt.Println("keyboard gone") }

func plain(w, h int, rgb uint32) *window.Picture {
	pic := window.NewPicture(w, h, nil)
	for i := 0; i < len(pic.Pix); i += 4 {
		pic.Pix[i], pic.Pix[i+1], pic.Pix[i+2] = byte(rgb), byte(rgb>>8), byte(rgb>>16)
	}
	return pic
}

// foreground returns the class of the window that receives keys.
func foreground() string {
	var name [64]uint16
	_, _ = windows.GetClassName(windows.GetForegroundWindow(), &name[0], int32(len(name)))
	return windows.UTF16ToString(name[:])
}

// busy reports whether try waits for the clipboard while another program holds it.
func busy(try func() (string, error)) bool {
	held, over := make(chan bool), make(chan bool)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		user32.NewProc("OpenClipboard").Call(0)
		held <- true
		<-over
		user32.NewProc("CloseClipboard").Call()
		close(held)
	}()
	<-held
	began := time.Now()
	_, err := try()
	took := time.Since(began)
	close(over)
	<-held
	return err != nil && took >= 4*20*time.Millisecond // the duration of five attempts
}

func main() {
	d, err := window.Open()
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	wins := map[int]window.Card{}
	for i := range 2 {
		if wins[i], err = d.NewCard(handler{}); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	release := func() {}
	fmt.Println("ready")
	for sc := bufio.NewScanner(os.Stdin); sc.Scan(); {
		cmd, rest, _ := strings.Cut(strings.TrimSpace(sc.Text()), " ")
		var n, x, y, w, h int
		var c uint32
		var err error
		var more any = ""
		fmt.Sscanf(rest, "%d %d %d %d %d %x", &n, &x, &y, &w, &h, &c)
		switch cmd {
		case "show":
			if err = wins[n].Show(image.Rect(x, y, x+w, y+h), plain(w, h, c)); err == nil {
				err = wins[n].Sync()
			}
		case "update":
			err = wins[n].Update(image.Pt(x, y), plain(w, h, c))
		case "hide":
			err = wins[n].Hide()
		case "close":
			err = wins[n].Close()
		case "onscreen":
			var img *image.RGBA
			if img, err = wins[n].OnScreen(); err == nil {
				p := img.RGBAAt(x, y)
				more = fmt.Sprintf("%v %02x%02x%02x", img.Rect.Size(), p.R, p.G, p.B)
			}
		case "copy":
			err = d.Copy(rest)
		case "busy":
			more = busy(d.Paste)
		case "hotkey":
			var gone func()
			if gone, err = d.Hotkey(rest, "", func() { fmt.Println("pressed") }, nil); err == nil {
				release = gone
			}
			if errors.Is(err, window.ErrHotkeyTaken) {
				err = window.ErrHotkeyTaken
			}
		case "release":
			release()
			release()
		case "foreground":
			more = foreground()
		case "held":
			held := false
			for _, key := range []uintptr{0x10, 0x11, 0x12, 'W'} { // Shift, Ctrl, Alt
				state, _, _ := user32.NewProc("GetAsyncKeyState").Call(key)
				held = held || state&0x8000 != 0
			}
			more = held
		case "take":
			err = wins[n].TakeKeyboard()
		case "give":
			err = wins[n].GiveKeyboardBack()
		case "private":
			err = wins[n].HideFromCapture(true)
		case "fullscreen":
			more = d.FullScreen(d.Monitors()[0].Area)
		case "settings", "colours": // have changed
			const all, abortIfHung = 0xFFFF, 2
			what := map[string]uintptr{"settings": 0x1A, "colours": 0x15}[cmd] // WM_SETTINGCHANGE, WM_SYSCOLORCHANGE
			user32.NewProc("SendMessageTimeoutW").Call(all, what, 0, 0, abortIfHung, 5000, 0)
		case "animate":
			const setClientAreaAnimation, keepAndTell = 0x1043, 3
			if ok, _, why := user32.NewProc("SystemParametersInfoW").Call(setClientAreaAnimation, 0, uintptr(n), keepAndTell); ok == 0 {
				err = why
			}
		case "still":
			more = d.Appearance().LessMotion
		case "monitors":
			more = fmt.Sprintf("%d %d %+v %+v", len(d.Monitors()), d.Active(), d.Monitors()[0], d.Appearance())
		case "ours":
			err = ours(d)
		case "rescale":
			at := rescale(image.Rect(n, x, y, w))
			scale, _ := frame.Scale()
			more = fmt.Sprint(at, " ", scale)
		case "maximize":
			err = maximize()
		case "system":
			err = system()
		case "quit":
			d.Close()
			<-d.Done()
			fmt.Println("ok quit", wins[0].Hide(), d.Copy("x"))
			return
		}
		if err != nil {
			fmt.Println("error", cmd, err)
		} else {
			fmt.Println("ok", cmd, more)
		}
	}
}

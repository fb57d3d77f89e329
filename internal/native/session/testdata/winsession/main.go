// Command winsession prints the state of the session whenever it changes, for the
// test that runs it under wine. It sends Windows' messages to itself: standard input
// has the number of a WM_WTSSESSION_CHANGE.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"

	"wiebelt/internal/native/session"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	w, err := session.Watch(ctx, slog.New(slog.NewTextHandler(os.Stdout, nil)))
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Printf("first %+v %v\n", w.State(), w.Sources())
	go func() {
		for range w.Changed() {
			fmt.Printf("now %+v\n", w.State())
		}
	}()
	user32 := windows.NewLazySystemDLL("user32.dll")
	class, _ := windows.UTF16PtrFromString("WiebeltSession")
	find := func() uintptr {
		h, _, _ := user32.NewProc("FindWindowW").Call(uintptr(unsafe.Pointer(class)), 0)
		return h
	}
	for sc := bufio.NewScanner(os.Stdin); sc.Scan(); {
		n, err := strconv.Atoi(sc.Text())
		if err != nil {
			break
		}
		user32.NewProc("PostMessageW").Call(find(), 0x02B1, uintptr(n), 0)
	}
	cancel()
	w.Close()
	fmt.Println("closed", find())
}

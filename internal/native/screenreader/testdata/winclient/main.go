// Command winclient explores another program's windows over UI Automation, as a screen reader
// does. It is controlled by its standard input, for tests that run it under wine.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/windows"

	"wiebelt/internal/testutil/winetest"
)

// stuckAfter is how long winclient may find nothing before it considers wine hung.
const stuckAfter = 20 * time.Second

// walk prints what the windows of a class contain, on its own thread.
func walk(class string) {
	all, more, done := []winetest.Found{}, make(chan winetest.Found), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := windows.CoInitializeEx(0, windows.COINIT_MULTITHREADED)
		if err == nil {
			err = winetest.Explore(class, func(f winetest.Found) { more <- f })
		}
		done <- err
	}()
	for {
		select {
		case f := <-more:
			all = append(all, f)
		case err := <-done:
			if b, _ := json.Marshal(all); err == nil {
				fmt.Println("ok walk", string(b))
			} else {
				fmt.Println("ok walk", err) // it closed meanwhile
			}
			return
		case <-time.After(stuckAfter):
			fmt.Println("ok walk", winetest.Stuck)
			return
		}
	}
}

func main() {
	fmt.Println("ready")
	for sc := bufio.NewScanner(os.Stdin); sc.Scan(); {
		cmd, rest, _ := strings.Cut(strings.TrimSpace(sc.Text()), " ")
		switch cmd {
		case "walk": // the windows of a class
			walk(rest)
		case "quit":
			return
		}
	}
}

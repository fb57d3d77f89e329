//go:build windows

// Command launch opens each link in a file, a JSON array of strings, like Windows does for
// a browser, and prints the exit codes of what was started, one per line; -1 is a link that
// Windows itself did not open.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// executeInfo is SHELLEXECUTEINFOW.
type executeInfo struct {
	size       uint32
	mask       uint32
	window     uintptr
	verb       *uint16
	file       *uint16
	parameters *uint16
	directory  *uint16
	show       int32
	instance   uintptr
	idList     uintptr
	class      *uint16
	classKey   uintptr
	hotKey     uint32
	icon       uintptr
	process    windows.Handle
}

const (
	keepProcess = 0x40  // SEE_MASK_NOCLOSEPROCESS
	noDialog    = 0x400 // SEE_MASK_FLAG_NO_UI
)

func main() {
	b, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var links []string
	if err := json.Unmarshal(b, &links); err != nil {
		panic(err)
	}
	execute := windows.NewLazySystemDLL("shell32.dll").NewProc("ShellExecuteExW")
	for _, l := range links {
		if strings.IndexByte(l, 0) >= 0 {
			fmt.Println(-1) // no Windows string can contain it
			continue
		}
		file, err := windows.UTF16PtrFromString(l)
		if err != nil {
			panic(err)
		}
		i := executeInfo{mask: keepProcess | noDialog, file: file}
		i.size = uint32(unsafe.Sizeof(i))
		if ok, _, _ := execute.Call(uintptr(unsafe.Pointer(&i))); ok == 0 || i.process == 0 {
			fmt.Println(-1)
			continue
		}
		var code uint32
		if what, _ := windows.WaitForSingleObject(i.process, 20_000); what != windows.WAIT_OBJECT_0 {
			_ = windows.TerminateProcess(i.process, 99)
		}
		if err := windows.GetExitCodeProcess(i.process, &code); err != nil {
			panic(err)
		}
		_ = windows.CloseHandle(i.process)
		fmt.Println(code)
	}
}

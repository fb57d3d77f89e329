package cli

import (
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// endTimeout is how long a terminated program may take to disappear, in milliseconds.
const endTimeout = 5000

// endPrograms terminates every other program that was started from below a
// folder, in all sessions.
func endPrograms(dir string) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	e := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &e); err == nil; err = windows.Process32Next(snapshot, &e) {
		if e.ProcessID != windows.GetCurrentProcessId() {
			endProgram(e.ProcessID, dir)
		}
	}
}

// endProgram terminates a process if it was started from below dir, and
// waits until it is gone.
func endProgram(id uint32, dir string) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.PROCESS_TERMINATE|windows.SYNCHRONIZE, false, id)
	if err != nil {
		return
	}
	defer func() { _ = windows.CloseHandle(h) }()
	name := make([]uint16, windows.MAX_LONG_PATH)
	n := uint32(len(name))
	if windows.QueryFullProcessImageName(h, 0, &name[0], &n) != nil {
		return
	}
	below := dir + string(filepath.Separator)
	if path := windows.UTF16ToString(name[:n]); len(path) > len(below) && strings.EqualFold(path[:len(below)], below) && windows.TerminateProcess(h, 0) == nil {
		_, _ = windows.WaitForSingleObject(h, endTimeout)
	}
}

// renameAtStart makes Windows replace a file with another one at its next start.
func renameAtStart(from, to string) error {
	source, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	target, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	return windows.MoveFileEx(source, target, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_DELAY_UNTIL_REBOOT)
}

package winetest

import (
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/windows"
)

var memoryInfo = windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")

// Usage returns the number of this process's next handle, which is the lowest free one, since
// wine 8 does not count handles, and how many bytes of memory the process uses.
func Usage() (handle uintptr, memory uint64) {
	debug.FreeOSMemory()
	if h, err := windows.CreateEvent(nil, 0, 0, nil); err == nil {
		handle = uintptr(h)
		_ = windows.CloseHandle(h)
	}
	counters := struct { // PROCESS_MEMORY_COUNTERS
		size, faults                                  uint32
		peak, working, quota1, quota2, quota3, quota4 uintptr
		pagefile, peakPagefile                        uintptr
	}{}
	counters.size = uint32(unsafe.Sizeof(counters))
	memoryInfo.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&counters)), uintptr(counters.size))
	return handle, uint64(counters.pagefile)
}

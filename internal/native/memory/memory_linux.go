package memory

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"
)

// Release returns to the system what an idle program does not need: its heap's garbage, and
// the pages of its executable, most of which are read only at the start. They remain in the
// system's cache, and any that are needed again are mapped again, sixteen at a time. Release
// takes some milliseconds. The error says why the pages are still mapped.
func Release() error {
	debug.FreeOSMemory()
	own, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return err
	}
	defer f.Close()
	var from, to uintptr // of a read-only part of the file
	for lines := bufio.NewScanner(f); ; {
		if !lines.Scan() {
			return lines.Err()
		}
		line := lines.Text()
		var a, b uintptr
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &a, &b, &mode); n == 3 {
			if from, to = 0, 0; strings.HasSuffix(line, " "+own) && !strings.Contains(mode, "w") {
				from, to = a, b
			}
			continue
		}
		// A private page in such a part was changed by the loader and exists nowhere else.
		var private int
		if n, _ := fmt.Sscanf(line, "Anonymous: %d kB", &private); n == 1 && private == 0 && to > from {
			if _, _, e := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED); e != 0 {
				return e
			}
		}
	}
}

package memory

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"
)

// Release gives the system what the program does not need while nothing happens: the
// garbage of its heap, and the pages of its own file, most of which only its start
// has read. They stay in the system's cache; whatever is needed again is mapped
// again, sixteen pages at a time. It takes some milliseconds. The error says why the
// pages of the file are still there.
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
	var from, to uintptr // of a part of the file that cannot be written
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
		// A page of its own in such a part was written by the loader: it is nowhere else.
		var private int
		if n, _ := fmt.Sscanf(line, "Anonymous: %d kB", &private); n == 1 && private == 0 && to > from {
			if _, _, e := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED); e != 0 {
				return e
			}
		}
	}
}

package doctor

import (
	"context"
	"fmt"

	"golang.org/x/sys/windows"
)

func hasDesktop() bool { return true }

func freeSpace(dir string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}

// writable: who may do what is in lists that trust reads, and whether we may is
// found out by doing it.
func writable(string) bool { return true }

// systemName asks Windows itself: it tells programs without a manifest a lie.
func systemName() string {
	v := windows.RtlGetVersion()
	return fmt.Sprintf("Windows %d.%d build %d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
}

func windowManager(context.Context) string { return "Windows" }

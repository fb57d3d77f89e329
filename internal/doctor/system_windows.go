package doctor

import (
	"context"
	"fmt"

	"golang.org/x/sys/windows"
)

func hasDesktop() bool { return true }

func loggedOn(context.Context) bool { return true }

func freeSpace(dir string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}

// writable is always true: others' rights are in access control lists, which filetrust
// checks, and our own are only found out by trying.
func writable(string) bool { return true }

// systemName uses RtlGetVersion: other functions return a false version to
// programs without a manifest.
func systemName() string {
	v := windows.RtlGetVersion()
	return fmt.Sprintf("Windows %d.%d build %d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
}

func windowManager(context.Context) string { return "Windows" }

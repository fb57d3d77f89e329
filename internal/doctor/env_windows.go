package doctor

import (
	"context"
	"fmt"

	"golang.org/x/sys/windows"
)

// systemName asks Windows itself: it tells programs without a manifest a lie.
func systemName() string {
	v := windows.RtlGetVersion()
	return fmt.Sprintf("Windows %d.%d build %d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
}

func windowManager(context.Context) string { return "Windows" }

package instance

import (
	"fmt"
	"math"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tokenStatistics is the start of TOKEN_STATISTICS.
type tokenStatistics struct {
	token, logon windows.LUID
	_            [40]byte
}

// logonID identifies this log-on: its number in Windows, and when Windows was started, since
// the numbers then start again.
func logonID() string {
	var s tokenStatistics
	var n uint32
	if err := windows.GetTokenInformation(windows.GetCurrentProcessToken(), windows.TokenStatistics,
		(*byte)(unsafe.Pointer(&s)), uint32(unsafe.Sizeof(s)), &n); err != nil {
		s = tokenStatistics{}
	}
	start := time.Now().Add(-windows.DurationSinceBoot()).Unix()
	return fmt.Sprintf("%d %d %d\n", s.logon.HighPart, s.logon.LowPart, start)
}

// sameLogon compares two identifiers. The clock may have been adjusted a little.
func sameLogon(a, b string) bool {
	var highA, lowA, startA, highB, lowB, startB int64
	if _, err := fmt.Sscan(a, &highA, &lowA, &startA); err != nil {
		return false
	}
	if _, err := fmt.Sscan(b, &highB, &lowB, &startB); err != nil {
		return false
	}
	return highA == highB && lowA == lowB && math.Abs(float64(startA-startB)) < 300
}

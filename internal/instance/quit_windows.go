package instance

import (
	"fmt"
	"math"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tokenStatistics is the beginning of TOKEN_STATISTICS.
type tokenStatistics struct {
	token, logon windows.LUID
	_            [40]byte
}

// logon names this log-on: the number that Windows gave it, and when Windows was
// started, because those numbers begin again then.
func logon() string {
	var s tokenStatistics
	var n uint32
	if err := windows.GetTokenInformation(windows.GetCurrentProcessToken(), windows.TokenStatistics,
		(*byte)(unsafe.Pointer(&s)), uint32(unsafe.Sizeof(s)), &n); err != nil {
		s = tokenStatistics{}
	}
	start := time.Now().Add(-windows.DurationSinceBoot()).Unix()
	return fmt.Sprintf("%d %d %d\n", s.logon.HighPart, s.logon.LowPart, start)
}

// sameLogon compares two names. The clock may have been set a little meanwhile.
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

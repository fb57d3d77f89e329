package localhub

import "golang.org/x/sys/windows"

var errDiskFull error = windows.ERROR_DISK_FULL

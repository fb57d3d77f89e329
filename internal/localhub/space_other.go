//go:build !windows

package localhub

import "syscall"

var errDiskFull error = syscall.EDQUOT

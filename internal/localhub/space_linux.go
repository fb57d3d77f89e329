package localhub

import "syscall"

var errDiskFull error = syscall.EDQUOT

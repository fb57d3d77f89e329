package xtest

import "syscall"

// child makes the kernel kill a program with the test process that started it, in
// case that is killed and cannot clean up.
func child() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

package xtest

import "syscall"

// child makes the kernel kill a program with the test that started it, in case the test is
// killed and cannot clean up.
func child() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

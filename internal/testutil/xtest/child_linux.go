package xtest

import "syscall"

// child makes the kernel end a program with the test that started it, in case
// that one is killed and cannot clean up.
func child() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

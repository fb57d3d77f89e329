package xtest

import "syscall"

func child() *syscall.SysProcAttr { return nil }

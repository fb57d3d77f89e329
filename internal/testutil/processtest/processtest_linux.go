package processtest

import (
	"os/exec"
	"syscall"
)

// endWithUs makes a process end when the thread that starts it does.
func endWithUs(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

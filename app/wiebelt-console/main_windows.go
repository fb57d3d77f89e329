// Command wiebelt-console is wiebelt.exe, Wiebelt in a terminal. A Windows program either
// has a console or not, so this small one has it: it runs the newest version of the whole
// program, which has none, and passes on its console, streams and exit code. Installing the
// whole program twice would take twice the space.
package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"

	"wiebelt/internal/instance/installed"
)

func main() {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // the whole program gets it too and decides how to end
	exe, err := os.Executable()
	cmd := exec.Command(installed.ProgramIn(filepath.Dir(exe), "wiebeltw.exe"), os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), installed.FromConsoleVar+"=1")
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		endWithParent(cmd.Process.Pid)
		err = cmd.Wait()
	}
	if x := (*exec.ExitError)(nil); errors.As(err, &x) {
		os.Exit(x.ExitCode())
	}
	if err != nil {
		_, _ = os.Stderr.WriteString("wiebelt: " + err.Error() + "\n")
		os.Exit(1)
	}
}

// endWithParent makes a process end if we are terminated, but not the processes it starts.
// Errors are ignored: nothing else depends on it.
func endWithParent(pid int) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	h, open := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err == nil && open == nil {
		_ = windows.AssignProcessToJobObject(job, h)
	}
}

// Command wiebelt-console is wiebelt.exe, Wiebelt in a terminal: a program of Windows
// has a console or has none, so this small one has it, runs the whole program, which has
// none, in the newest version, and gives it its console, its streams and its end. Two
// whole programs would be twice as much to install.
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
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // the whole program hears it too, and ends as it likes
	exe, err := os.Executable()
	cmd := exec.Command(installed.In(filepath.Dir(exe), "wiebeltw.exe"), os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), installed.FromConsole+"=1")
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		endsWithUs(cmd.Process.Pid)
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

// endsWithUs has a process end when we are ended from outside, and not those that it
// starts. Without it we go on: nothing else needs it.
func endsWithUs(pid int) {
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

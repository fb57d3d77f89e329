package detect

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// ThisSystem returns this computer.
func ThisSystem() System {
	home, _ := os.UserHomeDir()
	s := System{Processes: processes, Listens: dials, Home: home}
	if dir := os.Getenv("APPDATA"); filepath.IsAbs(dir) {
		s.Baresip = filepath.Join(dir, ".baresip")
		s.MicroSIP = filepath.Join(dir, "MicroSIP", "microsip.ini")
	}
	return s
}

// processes lists the programs of this session; other users' programs on a terminal
// server do not count.
func processes() []Process {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	var mine uint32
	known := windows.ProcessIdToSessionId(windows.GetCurrentProcessId(), &mine) == nil
	e := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	var all []Process
	for err = windows.Process32First(snapshot, &e); err == nil && len(all) < maxProcesses; err = windows.Process32Next(snapshot, &e) {
		var session uint32
		if known && (windows.ProcessIdToSessionId(e.ProcessID, &session) != nil || session != mine) {
			continue
		}
		all = append(all, Process{Name: windows.UTF16ToString(e.ExeFile[:])})
	}
	if err != nil && !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return nil
	}
	return all
}

const dialTime = 300 * time.Millisecond

// dials reports whether a connection can be made.
func dials(ctx context.Context, at netip.AddrPort) bool {
	d := net.Dialer{Timeout: dialTime}
	c, err := d.DialContext(ctx, "tcp", at.String())
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

package detect

import (
	"bytes"
	"context"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"wiebelt/internal/softphone/link"
)

const (
	maxLine    = 16 << 10 // limit for a command line, in bytes
	maxEnviron = 128 << 10
)

// ThisSystem returns this computer.
func ThisSystem() System {
	home, _ := os.UserHomeDir()
	return System{Processes: processes, Listens: listens, PassiveListens: true, Home: home, Baresip: filepath.Join(home, ".baresip")}
}

// processes reads /proc. It omits other users' programs and those with another home folder:
// their phones' settings are not this user's.
func processes() []Process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxProcesses)
	me := uint32(os.Getuid())
	var all []Process
	for _, n := range names {
		if _, err := strconv.Atoi(n); err != nil {
			continue
		}
		var st syscall.Stat_t
		if syscall.Stat("/proc/"+n, &st) != nil || st.Uid != me {
			continue
		}
		args := fields("/proc/"+n+"/cmdline", maxLine)
		if args[0] == "" || hasOtherHome(fields("/proc/"+n+"/environ", maxEnviron)) {
			continue
		}
		all = append(all, Process{Name: filepath.Base(args[0]), Args: args[1:]})
	}
	return all
}

// fields reads a list from /proc; it returns at least one field.
func fields(path string, most int64) []string {
	f, err := os.Open(path)
	if err != nil {
		return []string{""}
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, most))
	return strings.Split(string(bytes.TrimRight(b, "\x00")), "\x00")
}

func hasOtherHome(environment []string) bool {
	for _, v := range environment {
		if home, ok := strings.CutPrefix(v, "HOME="); ok {
			return filepath.Clean(home) != filepath.Clean(os.Getenv("HOME"))
		}
	}
	return false
}

// listens asks the kernel, so the phone is not contacted. Another user's listener does not count.
func listens(_ context.Context, at netip.AddrPort) bool {
	socket, ours := link.ListeningSocket(at)
	return socket != "" && ours
}

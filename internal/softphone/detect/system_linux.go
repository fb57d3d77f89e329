package detect

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	maxLine    = 16 << 10 // bytes of a command line that are read
	maxEnviron = 128 << 10
	maxTable   = 1 << 20 // bytes of the table of sockets
)

// This gives the computer we run on.
func This() System {
	home, _ := os.UserHomeDir()
	return System{Processes: processes, Listens: listens, Home: home}
}

// processes reads /proc, other users' programs apart and those that were given
// another home folder: their phones' settings are not this user's.
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
		if args[0] == "" || elsewhere(fields("/proc/"+n+"/environ", maxEnviron)) {
			continue
		}
		all = append(all, Process{Name: filepath.Base(args[0]), Args: args[1:]})
	}
	return all
}

// fields reads a list of /proc, at least one field.
func fields(path string, most int64) []string {
	f, err := os.Open(path)
	if err != nil {
		return []string{""}
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, most))
	return strings.Split(string(bytes.TrimRight(b, "\x00")), "\x00")
}

// elsewhere reports whether an environment names another home folder than ours.
func elsewhere(environment []string) bool {
	for _, v := range environment {
		if home, ok := strings.CutPrefix(v, "HOME="); ok {
			return filepath.Clean(home) != filepath.Clean(os.Getenv("HOME"))
		}
	}
	return false
}

// listens reads the kernel's table of sockets (proc_net_tcp), so that the phone
// hears nothing of it.
func listens(_ context.Context, at netip.AddrPort) bool {
	for _, table := range [...]string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		found := listed(io.LimitReader(f, maxTable), at)
		f.Close()
		if found {
			return true
		}
	}
	return false
}

// listed looks for a socket that listens: "sl local_address rem_address st …",
// the address as "0100007F:115C" in words of four bytes in this computer's order.
func listed(table io.Reader, at netip.AddrPort) bool {
	rows := bufio.NewScanner(table)
	for rows.Scan() {
		row := strings.Fields(rows.Text())
		if len(row) < 4 || row[3] != "0A" {
			continue
		}
		host, port, _ := strings.Cut(row[1], ":")
		if p, err := hex.DecodeString(port); err != nil || len(p) != 2 || uint16(p[0])<<8|uint16(p[1]) != at.Port() {
			continue
		}
		b, err := hex.DecodeString(host)
		if err != nil || len(b)%4 != 0 {
			continue
		}
		for i := 0; i < len(b); i += 4 {
			b[i], b[i+1], b[i+2], b[i+3] = b[i+3], b[i+2], b[i+1], b[i]
		}
		if a, ok := netip.AddrFromSlice(b); ok && (a.Unmap() == at.Addr() || a.IsUnspecified()) {
			return true
		}
	}
	return false
}

package link

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// maxTable limits how much of the system's socket table is read, in bytes; listening
// sockets come first.
const maxTable = 1 << 20

// ListeningSocket identifies the socket that listens at an address of this computer: a different
// one is another process, however soon it started. "" means unknown, or no listener.
// The table (proc_net_tcp in the kernel's documentation) numbers each socket; the
// listener is not contacted. ours is false if the socket belongs to another user; the
// system's (root's) counts as ours.
func ListeningSocket(at netip.AddrPort) (socket string, ours bool) {
	var all []string
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	ours, me := true, strconv.Itoa(os.Getuid())
	for _, table := range [...]string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		rows := bufio.NewScanner(io.LimitReader(f, maxTable))
		for rows.Scan() {
			// sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode …
			row := strings.Fields(rows.Text())
			if len(row) < 10 || row[3] == "st" {
				continue // header
			}
			if row[3] != "0A" {
				break // end of the listening ones
			}
			if a, ok := tableAddress(row[1]); ok && a.Port() == at.Port() && (a.Addr() == at.Addr() || a.Addr().IsUnspecified()) {
				all = append(all, row[9])
				ours = ours && (row[7] == me || row[7] == "0")
			}
		}
		f.Close()
	}
	return strings.Join(all, " "), ours
}

// tableAddress reads "0100007F:115C": the address in words of four bytes, each in
// this computer's order, and the port.
func tableAddress(s string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(s, ":")
	b, err := hex.DecodeString(host)
	p, perr := hex.DecodeString(port)
	if err != nil || perr != nil || len(b)%4 != 0 || len(p) != 2 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	a, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(a.Unmap(), binary.BigEndian.Uint16(p)), ok
}

package link

import (
	"net"
	"net/netip"
	"testing"

	"wiebelt/internal/testutil/must"
)

func TestListening(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "0.0.0.0:0"} {
		l, err := net.Listen("tcp", address)
		must.Do(t, err)
		at := l.Addr().(*net.TCPAddr).AddrPort()
		if at.Addr().Unmap().IsUnspecified() {
			at = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), at.Port())
		}
		first, ours := ListeningSocket(at)
		c := must.Get(net.Dial("tcp", at.String()))(t) // a connection is not a listener
		if again, _ := ListeningSocket(at); first == "" || again != first || !ours {
			t.Errorf("%s: %q, then %q", address, first, again)
		}
		if s, _ := ListeningSocket(netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), at.Port())); s != "" && address != "0.0.0.0:0" {
			t.Errorf("%s: %q at another address", address, s)
		}
		l.Close()
		c.Close()
		if s, _ := ListeningSocket(at); s != "" {
			t.Errorf("%s: %q after its end", address, s)
		}
		if l, err = net.Listen("tcp", at.String()); err != nil {
			t.Fatal(err)
		}
		if again, _ := ListeningSocket(at); again == "" || again == first {
			t.Errorf("%s: %q, and %q before", address, again, first)
		}
		l.Close()
	}
	for _, s := range []string{"", ":", "0100007F", "0100007F:", ":115C", "010000:115C", "xy:115C", "0100007F:115", "0100007F00000000:115C"} {
		if _, ok := tableAddress(s); ok {
			t.Errorf("%q is an address", s)
		}
	}
}

package phonetest

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// StartKamailio starts an exchange in front of a phone of this package: calls to its
// address ring there. more names a configuration file with a route for requests and
// one for replies, WIEBELT and WIEBELT_REPLY.
func StartKamailio(t testing.TB, phone, more string) (sipAddr string) {
	t.Helper()
	b, ok := phones.Load(phone)
	if !ok {
		t.Fatal("no phone of this package")
	}
	own := must.Get(os.ReadFile(more))(t)
	started(t, func() error {
		dir, port := t.TempDir(), freePort(t, 1)
		sipAddr = local(port)
		file := filepath.Join(dir, "kamailio.cfg")
		must.Do(t, os.WriteFile(file, fmt.Appendf(nil, kamailio, sipAddr, filepath.Base(more), phone), 0o600))
		must.Do(t, os.WriteFile(filepath.Join(dir, filepath.Base(more)), own, 0o600))
		p := must.Get(run(dir, nil, "kamailio", "-DD", "-E", "-f", file, "-Y", dir, "-m", "32", "-M", "4"))(t)
		t.Cleanup(func() { // it ends its processes itself
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
			select {
			case <-p.done:
			case <-time.After(startTime):
				t.Error("Kamailio does not end")
				p.kill()
			}
		})
		return p.until(p.said("the exchange is ready"))
	})
	phones.Store(sipAddr, b)
	t.Cleanup(func() { phones.Delete(sipAddr) })
	return sipAddr
}

// kamailio is a minimal configuration for passing calls to a phone, modelled on Debian's.
const kamailio = `#!KAMAILIO
debug=1
log_stderror=yes
children=2
disable_tcp=yes
listen=udp:%s
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "rr.so"
loadmodule "pv.so"
loadmodule "textops.so"
loadmodule "siputils.so"
loadmodule "xlog.so"
include_file "%s"

request_route {
	if (is_method("CANCEL")) {
		if (t_check_trans()) t_relay();
		exit;
	}
	if (has_totag()) {
		loose_route();
		t_relay();
		exit;
	}
	record_route();
	route(WIEBELT);
	$du = "sip:%s";
	t_on_reply("MANAGE_REPLY");
	t_relay();
}

onreply_route[MANAGE_REPLY] {
	route(WIEBELT_REPLY);
}

event_route[core:worker-one-init] {
	xlog("L_ERR", "the exchange is ready\n");
}
`

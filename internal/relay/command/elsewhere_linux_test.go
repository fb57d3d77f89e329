package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"wiebelt/internal/guide"
	"wiebelt/internal/relay/certificates"
	"wiebelt/internal/relay/credentials"
	"wiebelt/internal/relay/node"
	"wiebelt/internal/relay/server"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

// TestElsewhere: a relay that uses external NATS servers works like one with its
// own, with the account and the two keys that it was given; the guide lists the
// permissions these need.
func TestElsewhere(t *testing.T) {
	theirs := must.Get(credentials.New("kantoor"))(t) // whose account has a key for users, with these rights
	authority := must.Get(certificates.New("NATS", time.Now()))(t)
	n := must.Get(node.Start(node.Config{Name: "n1", Dir: t.TempDir(), Host: "127.0.0.1", TLS: authority.ServerTLS([]string{"127.0.0.1"})}, theirs))(t)
	t.Cleanup(n.Close)
	who := must.Get(theirs.Server())(t)
	b := must.Get(theirs.Encode())(t)
	var seeds map[string]string
	must.Do(t, json.Unmarshal(b, &seeds))
	dir := t.TempDir()
	keys, ca := filepath.Join(dir, "keys.txt"), filepath.Join(dir, "nats.pem")
	must.Do(t, os.WriteFile(ca, authority.Public(), 0o600))
	o := &office{t, filepath.Join(dir, "relay")}
	args := []string{"init", "kantoor", "--reached", "127.0.0.1", "--host", "127.0.0.1", "--web-port", freePorts(t)[0], "--admin", "127.0.0.1:0",
		"--nats-url", fmt.Sprintf("tls://127.0.0.1:%d", n.Port()), "--nats-ca", ca, "--nats-keys", keys}
	for _, wrong := range []string{"", who.Account, who.Account + "\n" + seeds["account"] + "\n" + seeds["operator"], seeds["account"] + "\n" + seeds["account"] + "\n" + seeds["signing"]} {
		must.Do(t, os.WriteFile(keys, []byte(wrong), 0o600))
		if code, _, errOut := o.command(args...); code != exitUsage || !strings.Contains(errOut, "three lines") || strings.Contains(errOut, seeds["account"]) {
			t.Errorf("exit %d: %s", code, errOut)
		}
	}
	must.Do(t, os.WriteFile(keys, []byte(who.Account+"\n"+seeds["account"]+"\n"+seeds["signing"]+"\n"), 0o600))
	o.must(args...)
	p := &process{t: t, dir: o.dir}
	p.load()
	p.start()
	table := filepath.Join(dir, "users.csv")
	must.Do(t, os.WriteFile(table, []byte("user,extensions\nuser0,1000\n"), 0o600))
	row := strings.Split(strings.TrimSpace(strings.Split(o.must("user", "import", table), "\n")[1]), ",")
	s := &site{t: t, relays: []*process{p, p, p}, secret: p.secret(), calls: map[string]*ringing{}}
	d := s.desk(0, row[2])
	s.desks = []*station{d}
	p.until("he has joined", func(s server.Status) bool { return s.Computers == 1 && s.Fault == "" })
	s.ring(1)
	d.until("a call rings", func() bool { return len(d.shown) == 1 })
	s.over()
	d.until("it has ended", func() bool { return len(d.shown) == 0 })
	o.ends(exitDone, []string{"user", "remove", "user0"}, "work until then: U")
	p.until("he is removed", func(s server.Status) bool { return s.Users == 0 })
	publicKey := func(creds string) string {
		pair := must.Get(nkeys.ParseDecoratedUserNKey([]byte(creds)))(t)
		return must.Get(pair.PublicKey())(t)
	}
	first := publicKey(o.must("publisher", "add", "kamailio"))
	code, creds, notice := o.command("publisher", "add", "kamailio")
	second := publicKey(creds)
	if code != exitDone || !strings.Contains(notice, "until then: "+first) || strings.Contains(notice, second) {
		t.Errorf("%s replaces %s: exit %d: %s", second, first, code, notice)
	}
	if said := o.must("publisher", "remove", "kamailio"); !strings.HasSuffix(said, "work until then: "+second+"\n") {
		t.Errorf("%s, after %s", said, first)
	}
	o.must("user", "add", "user1")
	o.ends(exitDone, []string{"user", "remove", "user1"}, "cannot connect any more") // without a key
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, page := range guide.Help(l) {
			publish, subscribe := credentials.Rights("office")
			for _, right := range append(publish, subscribe...) {
				if page.ID == "relay" && !strings.Contains(page.Text, "    "+right+"\n") {
					t.Errorf("%s: the guide lacks %s", l, right)
				}
			}
		}
	}
}

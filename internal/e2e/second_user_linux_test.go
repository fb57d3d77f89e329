package e2e

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
)

// nobody is a user unrelated to Wiebelt.
const nobody = 65534

// second is a user of the same computer who is neither root nor the account that
// delivers.
const second = 65001

// attempts holds what the second user tries, each a bash script that exits
// with 0 if it worked. P is the profile of a running resident, H the folder of
// a running hub, S the profile of a running delivery service, W its watched
// folder, in which everybody may put files; MINE is the user's own folder.
var attempts = []struct{ name, script string }{
	{"desk: list the profile's runtime folder", `ls "$P/run"`},
	{"desk: read the settings", `cat "$P/settings.toml"`},
	{"desk: read the tokens", `cat "$P/tokens.json"`},
	{"desk: read the history", `cat "$P/history.db"`},
	{"desk: read the history's newest pages", `cat "$P/history.db-wal"`},
	{"desk: read the secrets", `cat "$P"/secrets/*`},
	{"desk: read the log", `cat "$P"/log/*`},
	{"desk: read where the listener is", `cat "$P/run/listener.json"`},
	{"desk: write the settings", `echo 'audit = "off"' >> "$P/settings.toml"`},
	{"desk: put other settings in their place", `cp /etc/hostname "$MINE/settings.toml" && mv -f "$MINE/settings.toml" "$P/settings.toml"`},
	{"desk: put a file into the profile", `touch "$P/outbox.db"`},
	{"desk: put a link into the profile", `ln -s /etc/passwd "$P/policy.toml"`},
	{"desk: rename the profile", `mv "$P" "$MINE/profile"`},
	{"desk: open the profile", `chmod 0777 "$P"`},
	{"desk: empty the history", `: > "$P/history.db"`},
	{"desk: remove the tokens", `rm -f "$P/tokens.json" && [ ! -e "$P/tokens.json" ]`},
	{"desk: a second name for the tokens", `ln "$P/tokens.json" "$MINE/tokens.json"`},
	{"desk: lay a call into the inbox", `echo '{"way":"command","state":"ringing","number":"0698760011"}' > "$P/run/inbox/0-0.call"`},
	{"desk: put a socket in its place", `rm -f "$P/run/wiebelt.sock" && [ ! -e "$P/run/wiebelt.sock" ]`},
	{"desk: ring on its profile", `"$BIN" ring --no-start --profile "$P" -- 0698760011`},
	{"desk: read its settings by command", `"$BIN" settings --profile "$P" --json`},
	{"desk: renew its tokens", `"$BIN" settings --renew-tokens --profile "$P"`},
	{"desk: forget its calls", `"$BIN" forget --all --yes --profile "$P" || "$BIN" forget --all --profile "$P"`},
	{"desk: read its environment", `cat /proc/$PID/environ`},
	{"desk: read its memory", `head -c 1 /proc/$PID/mem || cat /proc/$PID/maps`},
	{"desk: see its open files", `ls /proc/$PID/fd/`},
	{"desk: its working folder", `cd /proc/$PID/cwd`},
	{"desk: end it", `kill $PID`},
	{"desk: report a call without a key", `http $PORT GET '/v1/call?number=0698760011'`},
	{"desk: report a call with a guessed key", `http $PORT GET '/v1/call/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA?number=0698760011'`},
	{"desk: take its port", `timeout 1 "$BIN" hub --listen 127.0.0.1:$PORT --demo`},
	{"hub: list its folder", `ls "$H"`},
	{"hub: read its database", `cat "$H/hub.db"`},
	{"hub: read its newest pages", `cat "$H/hub.db-wal"`},
	{"hub: write its database", `echo x >> "$H/hub.db"`},
	{"hub: put another in its place", `cp /etc/hostname "$MINE/hub.db" && mv -f "$MINE/hub.db" "$H/hub.db"`},
	{"hub: open its lock", `: < "$H/hub.lock"`},
	{"hub: put a message into its box", `mkdir -p "$H/messages" && touch "$H/messages/x.zip"`},
	{"hub: add a user", `echo password-of-mine | "$BIN" hub user add --data "$H" second`},
	{"hub: read its messages by command", `"$BIN" hub messages --data "$H"`},
	{"hub: look up without a token", `http $HPORT GET '/contacts?search=0698760011'`},
	{"hub: its page without a log-in", `http $HPORT GET /messages`},
	{"hub: a token with a guessed secret", `http $HPORT POST /identity/token`},
	{"hub: read its environment", `cat /proc/$HPID/environ`},
	{"hub: end it", `kill $HPID`},
	{"service: read its settings", `cat "$S/settings.toml"`},
	{"service: read its secrets", `cat "$S"/secrets/*`},
	{"service: read its outbox", `cat "$S"/outbox/*`},
	{"service: put a copy into its spool", `cp "$MINE/x.zip" "$S/outbox/spool/x.zip"`},
	{"service: list what it delivers", `"$BIN" deliver list --profile "$S"`},
	{"service: deliver in its name", `"$BIN" deliver --profile "$S" "$MINE/x.zip"`},
	{"service: forget what it delivers", `"$BIN" deliver forget --all --profile "$S"`},
	{"service: read its environment", `cat /proc/$DPID/environ`},
	{"service: end it", `kill $DPID`},
	{"watch: a second name for the service's settings", `ln "$S/settings.toml" "$W/second.zip"`},
	{"watch: write into the folder of what was sent", `touch "$W/sent/mine.zip"`},
	{"watch: write into the folder of what was refused", `touch "$W/refused/refused.zip.txt"`},
}

// planted creates what the second user may put into the watched folder and must
// lead nowhere: links, pipes and folders aimed at the service's secret files.
const planted = `ln -s "$S/settings.toml" "$W/link.zip"
ln -s /etc/hostname "$W/out.zip"
mkfifo "$W/pipe.zip"
mkdir "$W/folder.zip"
ln -s "$S/settings.toml" "$W/refused.zip.txt"
echo 'no ZIP file' > "$W/refused.zip"`

// TestSecondUser: a second user of the computer tries every file, socket, port and folder
// of the running programs, and reads the list of processes while calls are handed over.
func TestSecondUser(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	s := newSender(t)
	hubDir := filepath.Join(t.TempDir(), "hub")
	hub := startHubProcess(t, "--data", hubDir)
	must.Do(t, os.Chmod(s.in, 0o777)) // like a folder shared by a group
	watch := s.command("deliver", "--watch", s.in)
	said := &logtest.Buffer{}
	watch.Stdout, watch.Stderr = said, said
	must.Do(t, watch.Start())
	t.Cleanup(func() {
		_ = watch.Process.Signal(syscall.SIGTERM)
		_ = watch.Wait()
	})
	o.Until("the service watches", func() bool { return strings.Contains(said.String(), s.in) })
	// A first message, so that every folder is there.
	s.file("first.zip", contractZIP(t, 1))
	o.Until("the first is delivered", func() bool {
		_, err := os.Stat(filepath.Join(s.in, "sent", "first.zip"))
		return len(s.box()) == 1 && err == nil
	}, func() []any { return []any{said.String()} })

	// Everybody may enter the parents; only what Wiebelt itself protects may count.
	mine := must.Get(os.MkdirTemp("", "wiebelt-second-"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(mine) })
	bin := filepath.Join(mine, "wiebelt")
	must.Do(t, writeProgram(bin, must.Get(os.ReadFile(o.bin))(t)))
	must.Do(t, os.WriteFile(filepath.Join(mine, "x.zip"), contractZIP(t, 2), 0o644))
	must.Do(t, os.Chown(mine, second, second))
	for _, dir := range []string{filepath.Dir(o.profile), filepath.Dir(hubDir), filepath.Dir(filepath.Dir(hubDir)), filepath.Dir(s.dir)} {
		must.Do(t, os.Chmod(dir, 0o755))
	}
	kept := []string{filepath.Join(o.profile, "settings.toml"), filepath.Join(o.profile, "tokens.json"),
		filepath.Join(s.dir, "settings.toml"), filepath.Join(s.in, "sent", "first.zip")}
	before := sums(t, kept)
	h := must.Get(url.Parse(hub.baseURL))(t)
	_, hubPort, _ := net.SplitHostPort(h.Host)
	env := []string{"PATH=/usr/sbin:/usr/bin:/bin", "HOME=" + mine, "MINE=" + mine, "BIN=" + bin, "P=" + o.profile, "H=" + hubDir, "S=" + s.dir, "W=" + s.in,
		fmt.Sprint("PORT=", o.at().Port), "HPORT=" + hubPort, "HHOST=" + h.Hostname(), fmt.Sprint("PID=", o.resident.Process.Pid),
		fmt.Sprint("HPID=", hub.cmd.Process.Pid), fmt.Sprint("DPID=", watch.Process.Pid)}
	as := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Env = "/", env
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: second, Gid: second}, Pdeathsig: syscall.SIGKILL}
		return cmd
	}
	const http = `http() { host=127.0.0.1; [ "$1" = "$HPORT" ] && host=$HHOST
exec 3<>/dev/tcp/$host/$1 || exit 1
printf '%s %s HTTP/1.1\r\nHost: %s:%s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$2" "$3" "$host" "$1" >&3
head -1 <&3 | grep -q ' 2[0-9][0-9] '; }
`
	// Whatever this user is allowed to do succeeds, which shows that the scripts could work.
	if out, err := as("bash", "-c", http+`[ $(id -u) = 65001 ] && [ -r "$MINE/x.zip" ] && "$BIN" version && http $HPORT GET /login && touch "$W/x" && rm "$W/x"`).CombinedOutput(); err != nil {
		t.Fatalf("what he may do: %v: %s", err, out)
	}
	for _, a := range attempts {
		var out bytes.Buffer
		cmd := as("bash", "-c", http+a.script)
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		switch {
		case err == nil:
			t.Errorf("%s: worked: %.300s", a.name, out.String())
		case cmd.ProcessState.ExitCode() == 127: // bash found no such program
			t.Errorf("%s: nothing was tried: %.300s", a.name, out.String())
		}
	}

	// Bait in the watched folder. The last one shows that all were seen.
	if out, err := as("bash", "-ec", planted).CombinedOutput(); err != nil {
		t.Fatalf("bait: %v: %s", err, out)
	}
	s.file("last.zip", contractZIP(t, 3))
	o.Until("the last is delivered and the planted refused", func() bool {
		_, err := os.Lstat(filepath.Join(s.in, "refused", "refused.zip"))
		return len(s.box()) == 2 && err == nil
	}, func() []any { return []any{said.String()} })
	if after := sums(t, kept); !slices.Equal(after, before) {
		t.Errorf("changed: %v", kept)
	}
	for _, name := range []string{"link.zip", "out.zip", "pipe.zip", "folder.zip"} {
		if _, err := os.Lstat(filepath.Join(s.in, name)); err != nil {
			t.Errorf("%s was taken: %v", name, err)
		}
	}

	// Calls by the recipes that show nothing, while the user reads the list of processes.
	calls := len(callsOf(t, o))
	const handed, number, name = 6, "0698760011", "Jansen"
	observer := as("bash", "-c", `while read -r -t 0.001 line; [ $? -gt 128 ]; do for f in /proc/[0-9]*; do
{ IFS= read -r -d '' a && IFS= read -r -d '' b; } 2>/dev/null < $f/cmdline || continue
[[ "$a $b" == */wiebelt\ ring ]] || continue
line=$(tr '\0' ' ' 2>/dev/null < $f/cmdline); [[ "$line " == *" $P "* ]] && echo "${f#/proc/} $line"
done; done`)
	end := must.Get(observer.StdinPipe())(t)
	seen := &logtest.Buffer{}
	observer.Stdout = seen
	must.Do(t, observer.Start())
	for n := range handed {
		for _, state := range []string{"ringing", "ended"} {
			id := fmt.Sprint("second-", n)
			cmd := o.wiebelt("ring", "--stdin")
			in := must.Get(cmd.StdinPipe())(t)
			if n%2 == 1 {
				cmd.Env = append(cmd.Env, "WIEBELT_NUMBER="+number, "WIEBELT_NAME="+name)
			}
			must.Do(t, cmd.Start())
			o.Until("he has seen it", func() bool { return strings.Contains(seen.String(), fmt.Sprintf("%d ", cmd.Process.Pid)) })
			fields := "state=" + state + "\nid=" + id + "\n"
			if n%2 == 0 {
				fields += "number=" + number + "\nname=" + name + "\n"
			}
			_, _ = io.WriteString(in, fields)
			_ = in.Close()
			if err := cmd.Wait(); err != nil {
				t.Fatalf("ring: %v", err)
			}
		}
	}
	_ = end.Close()
	_ = observer.Wait()
	o.Until("all in the history", func() bool { return len(callsOf(t, o)) == calls+handed }, func() []any { return []any{len(callsOf(t, o))} })
	all := seen.String()
	if strings.Contains(all, number[1:]) || strings.Contains(all, name) || regexp.MustCompile(`[A-Za-z0-9_-]{43}`).MatchString(all) {
		t.Errorf("he saw of the calls: %.500s", all)
	}
}

func sums(t *testing.T, files []string) (all []string) {
	t.Helper()
	for _, f := range files {
		b, err := os.ReadFile(f)
		info, statErr := os.Stat(f)
		if err != nil || statErr != nil {
			t.Fatal(err, statErr)
		}
		all = append(all, fmt.Sprintf("%x %v", sha256.Sum256(b), info.Mode()))
	}
	return all
}

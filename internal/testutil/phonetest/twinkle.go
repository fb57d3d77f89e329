package phonetest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"wiebelt/internal/testutil/must"
)

// Twinkle is a running softphone that runs a program on call events. It listens on every
// address, so it runs in its own network namespace, with only loopback.
type Twinkle struct {
	dir     string
	process *process
	keys    io.WriteCloser
}

// StartTwinkle starts the phone, which ends with the test. It runs program, with its
// arguments, when a call arrives, is answered, or ends.
func StartTwinkle(t testing.TB, program string) *Twinkle {
	t.Helper()
	w := &Twinkle{dir: t.TempDir()}
	home := filepath.Join(w.dir, ".twinkle")
	must.Do(t, os.Mkdir(home, 0o700))
	profile := "user_name=103\nuser_domain=127.0.0.1\nregister_at_startup=no\n"
	for _, when := range []string{"incoming_call", "in_call_answered", "in_call_failed", "local_release", "remote_release"} {
		profile += "script_" + when + "=" + program + "\n"
	}
	for name, content := range map[string]string{
		// No ring tone: answering frees memory that the playing thread still uses,
		// which crashes Twinkle on a busy machine.
		"twinkle.sys": "sip_port=5064\nstart_user_profile=t1\nplay_ringtone=no\nvalidate_audio_dev=no\n", "t1.cfg": profile,
	} {
		must.Do(t, os.WriteFile(filepath.Join(home, name), []byte(content), 0o600))
	}
	// A null sound card, since answering requires one.
	must.Do(t, os.WriteFile(filepath.Join(w.dir, ".asoundrc"), []byte("pcm.!default { type null }\n"), 0o600))
	out, in, err := os.Pipe()
	must.Do(t, err)
	w.keys = in
	p, err := run(w.dir, out, "unshare", "-rn", "sh", "-c", "ip link set lo up && exec twinkle-console")
	out.Close()
	must.Do(t, err)
	w.process = p
	t.Cleanup(func() {
		p.kill()
		in.Close()
	})
	w.until(t, p.said("Local IP:"))
	return w
}

func (w *Twinkle) until(t testing.TB, is func() bool) {
	t.Helper()
	must.Do(t, w.process.until(is))
}

// Call places a call, answers or refuses it as the scenario says, and waits
// until it is over.
func (w *Twinkle) Call(t testing.TB, s Scenario) {
	t.Helper()
	rings := w.process.says("ncoming call")
	r := s.call(t, "127.0.0.1:5064", "103", "nsenter", "-t", fmt.Sprint(w.process.cmd.Process.Pid), "-U", "-n", "--preserve-credentials")
	if s.Answer || s.Reject {
		w.until(t, rings)
		command := "reject\n"
		if s.Answer {
			command = "answer\n"
		}
		must.Get(io.WriteString(w.keys, command))(t)
	}
	r.Wait()
	if t.Failed() {
		t.Log(w.process.out.String())
	}
}

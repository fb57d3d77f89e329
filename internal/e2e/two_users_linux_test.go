package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestTwoUsers: two users of one computer run Wiebelt at the same time. Each has their own
// port, token and cards, and never sees what the other's phone reports.
func TestTwoUsers(t *testing.T) {
	t.Parallel()
	var users []*office
	var become [][]string
	for i := range 2 {
		o := prepare(t, "[card]\nafter_call = \"1s\"\n\n[listener]\nenabled = true") // the port is chosen at the first start
		// A program that both may run, from a folder that neither may write.
		dir := must.Get(os.MkdirTemp("", "wiebelt-shared-"))(t)
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		b := must.Get(os.ReadFile(o.bin))(t)
		o.bin = filepath.Join(dir, "wiebelt")
		must.Do(t, writeProgram(o.bin, b))
		must.Do(t, os.Chmod(dir, 0o755))
		uid := nobody - 2 - i
		must.Do(t, filepath.WalkDir(o.profile, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, uid, uid))
		}))
		for _, dir := range []string{filepath.Dir(o.profile), o.Dir} { // the tests' own, above
			must.Do(t, os.Chmod(dir, 0o755))
		}
		as := []string{"setpriv", "--reuid", strconv.Itoa(uid), "--regid", strconv.Itoa(uid), "--clear-groups"}
		o.start(as...)
		users, become = append(users, o), append(become, as)
	}
	a, b := users[0].at(), users[1].at()
	if a.Port == b.Port || a.Token == b.Token || a.PID == b.PID {
		t.Fatalf("not their own: ports %d and %d", a.Port, b.Port)
	}
	calls := []int{0, 0}
	for n, i := range []int{0, 1, 0, 0} {
		o := users[i]
		for _, state := range []string{"ringing", "ended"} {
			cmd := o.wiebelt("ring", "--id", strconv.Itoa(n), "--state", state, "--", "0698760011")
			args := append(become[i], cmd.Args...)
			if out, err := o.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("ring: %v: %s", err, out)
			}
			if state == "ringing" {
				o.Until("a card", func() bool { return !o.empty() })
				if !users[1-i].empty() {
					t.Error("the other one has a card")
				}
			}
		}
		o.Until("no card", o.empty)
		calls[i]++
		for j, u := range users {
			u.Until("their own calls", func() bool { return len(callsOf(t, u)) == calls[j] }, func() []any { return []any{j, len(callsOf(t, u))} })
		}
	}
}

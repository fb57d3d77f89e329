package xtest

import (
	"os/exec"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestNoneLeft: the end of a test waits for a program that outlives it.
func TestNoneLeft(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", "echo; read nothing; sleep 0.3 # "+dir)
	t.Run("test", func(t *testing.T) {
		NoneLeft(t, dir)
		in, err := cmd.StdinPipe()
		must.Do(t, err)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil { // until then its arguments are not to be seen
			_, err = out.Read(make([]byte, 1))
		}
		must.Do(t, err)
		t.Cleanup(func() { in.Close() })
		if left := processesOf(dir); len(left) != 1 || left[cmd.Process.Pid] != "sh" {
			t.Errorf("left running: %v", left)
		}
	})
	if left := processesOf(dir); len(left) != 0 {
		t.Errorf("left running after its test: %v", left)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

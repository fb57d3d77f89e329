package xtest

import (
	"os/exec"
	"testing"
)

// TestNoneLeft: the end of a test waits for a program that outlives it.
func TestNoneLeft(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", "read nothing; sleep 0.3 # "+dir)
	t.Run("test", func(t *testing.T) {
		NoneLeft(t, dir)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close() })
		if left := told(dir); len(left) != 1 || left[cmd.Process.Pid] != "sh" {
			t.Errorf("left running: %v", left)
		}
	})
	if left := told(dir); len(left) != 0 {
		t.Errorf("left running after its test: %v", left)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

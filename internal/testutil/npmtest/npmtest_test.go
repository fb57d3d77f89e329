package npmtest

import (
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Several ask at one time, and get a node that runs.
func TestNode(t *testing.T) {
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			out, err := exec.CommandContext(t.Context(), Node(t), "--version").Output()
			if err != nil || !strings.HasPrefix(string(out), "v2") {
				t.Errorf("%s %v", out, err)
			}
		})
	}
	wait.Wait()
}

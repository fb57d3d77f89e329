//go:build unix

package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"wiebelt/internal/call"
	"wiebelt/internal/instance"
	"wiebelt/internal/profile"
	"wiebelt/internal/resident"
)

// killer is a resident that tells the program that calls it to end before it
// takes the call.
type killer struct {
	program chan *os.Process
	taken   chan call.Event
}

func (k *killer) Ring(e call.Event) error {
	p := <-k.program
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if err := p.Signal(s); err != nil {
			return err
		}
	}
	k.taken <- e
	return nil
}

func (k *killer) Peer(context.Context, instance.Hello, *instance.Conn) {}

// TestHandOverIsFinished: a phone that ends the program it started does not take
// the call back.
func TestHandOverIsFinished(t *testing.T) {
	dir := t.TempDir()
	d, err := profile.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := resident.Instance(d, "test", "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	one, err := instance.Acquire(cfg)
	if err != nil {
		t.Fatal(err)
	}
	k := &killer{make(chan *os.Process, 1), make(chan call.Event, 1)}
	ctx, stop := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() { _ = one.Serve(ctx, k) })
	defer func() {
		stop()
		serving.Wait()
		_ = one.Close()
	}()
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWiebeltProcess$")
	cmd.Env = append(os.Environ(), "WIEBELT_PROCESS_ARGS="+strings.Join([]string{"ring", "--profile", dir, "--no-start", "--", "0698760011"}, "\n"))
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	k.program <- cmd.Process
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &said)
	}
	if e := <-k.taken; e.Number != "0698760011" {
		t.Error("another call was taken")
	}
}

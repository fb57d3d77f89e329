package localhub_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/messagetest"
)

// TestHubProcess is the hub that TestKillDuringUploads ends; on its own it does
// nothing.
func TestHubProcess(t *testing.T) {
	dir := os.Getenv("HUB_PROCESS_DIR")
	if dir == "" {
		return
	}
	h := start(t, localhub.Config{Dir: dir})
	fmt.Println("ready " + h.BaseURL() + " " + token(t, h))
	_, _ = io.Copy(io.Discard, os.Stdin) // until the other end is gone
}

// process is a hub in a process of its own.
type process struct {
	cmd         *exec.Cmd
	base, token string
	in          io.WriteCloser
}

func startProcess(t *testing.T, dir string) *process {
	t.Helper()
	p := &process{cmd: exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHubProcess$", "-test.timeout=5m")}
	p.cmd.Env = append(os.Environ(), "HUB_PROCESS_DIR="+dir)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal("the hub did not start: ", err)
		}
		if f := strings.Fields(line); len(f) == 3 && f[0] == "ready" {
			p.base, p.token = f[1], f[2]
			go func() { _, _ = io.Copy(io.Discard, r) }() // ends with the process
			return p
		}
	}
}

// kill ends the process at once, as a power cut would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	_ = p.in.Close()
}

// noise is text that does not pack well.
func noise(random *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return string(b)
}

// Whatever was answered with success is there and intact after kill -9, and
// nothing is listed that is not whole.
func TestKillDuringUploads(t *testing.T) {
	rounds := 10
	if os.Getenv("SOAK") != "" {
		rounds = 200
	}
	const uploads, workers = 200, 8
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	promised := map[string]string{} // checksum by id, over all rounds
	whole := map[string]bool{}
	interrupted := 0
	for round := range rounds {
		p := startProcess(t, dir)
		var mu sync.Mutex
		next, answered, stopAfter := 0, 0, random.IntN(uploads)
		padding := noise(random, 1+random.IntN(20_000))
		reached := make(chan struct{})
		if stopAfter == 0 {
			close(reached)
		}
		var wait sync.WaitGroup
		for range workers {
			wait.Go(func() {
				tr := &http.Transport{}
				defer tr.CloseIdleConnections()
				c := &http.Client{Transport: tr, Timeout: time.Minute}
				for {
					mu.Lock()
					n := next
					next++
					mu.Unlock()
					if n >= uploads {
						return
					}
					m := messagetest.ZIP(t, "bericht.xml", fmt.Sprint(round, "/", n), "bijlage.txt", padding)
					a, err := send(t, c, "POST", p.base+"/transaction/intermediary", messagetest.Request(m), "Authorization", "Bearer "+p.token, "Content-Type", "application/json")
					if err != nil {
						return // killed
					}
					if a.status != http.StatusOK {
						t.Errorf("status %d", a.status)
						return
					}
					r := receipts(t, a)[0]
					mu.Lock()
					promised[r.ID] = sumOf(m)
					if answered++; answered == stopAfter {
						close(reached)
					}
					mu.Unlock()
				}
			})
		}
		<-reached
		p.kill()
		wait.Wait()
		if answered < uploads {
			interrupted++
		}
		h, err := localhub.Start(t.Context(), localhub.Config{Dir: dir})
		if err != nil {
			t.Fatalf("round %d (seed %d): %v", round, seed, err)
		}
		there := map[string]string{}
		for _, m := range box(t, h) {
			there[m.ID] = m.SHA256
			if whole[m.ID] && round < rounds-1 {
				continue
			}
			whole[m.ID] = true
			if err := h.CopyMessage(m, io.Discard); err != nil {
				t.Errorf("round %d (seed %d): a listed message is not whole: %v", round, seed, err)
			}
		}
		for id, sum := range promised {
			if there[id] != sum {
				t.Errorf("round %d (seed %d): a message that was promised is not there", round, seed)
			}
		}
		if left := len(files(t, dir)); left != len(there) {
			t.Errorf("round %d (seed %d): %d files for %d messages", round, seed, left, len(there))
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d rounds, %d of them interrupted, %d messages promised, all there", rounds, interrupted, len(promised))
	if interrupted < rounds/2 {
		t.Errorf("only %d of %d rounds were interrupted", interrupted, rounds)
	}
}

package outbox

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/must"
)

// noise returns a ZIP file whose contents compress badly.
func noise(random *rand.Rand, seed uint64, i int) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "bericht.bin", Method: zip.Store})
	orExit(err)
	fmt.Fprintln(w, seed, i)
	raw := make([]byte, random.IntN(200_000))
	for i := range raw {
		raw[i] = byte(random.Uint32())
	}
	_, err = w.Write(raw)
	orExit(errors.Join(err, z.Close()))
	return b.Bytes()
}

// process is one of the processes of process_test.go.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // its output; closed at its end
}

func startProcess(t *testing.T, what, dir, at string, seed uint64) *process {
	t.Helper()
	p := &process{cmd: exec.CommandContext(t.Context(), os.Args[0]), lines: make(chan string, 1000)}
	p.cmd.Env = append(os.Environ(), processEnv+"="+what, dirEnv+"="+dir, hubEnv+"="+at, seedEnv+"="+fmt.Sprint(seed))
	p.cmd.Stderr = os.Stderr
	var err error
	p.in = must.Get(p.cmd.StdinPipe())(t)
	out, err := p.cmd.StdoutPipe()
	must.Do(t, err)
	must.Do(t, p.cmd.Start())
	t.Cleanup(p.kill)
	go func() {
		defer close(p.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return // a line cut off by the kill confirms nothing
			}
			p.lines <- strings.TrimSpace(line)
		}
	}()
	return p
}

// kill terminates the process at once, like a power failure.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	_ = p.in.Close()
	for range p.lines {
	}
}

// TestKillClientAndHub kills both at random moments, again and again, and checks
// that everything accepted arrives, and no more arrives twice than there were kills.
func TestKillClientAndHub(t *testing.T) {
	rounds := 25
	if os.Getenv("SOAK") != "" {
		rounds = 200
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	root := t.TempDir()
	hubDir, dir := filepath.Join(root, "hub"), filepath.Join(root, "outbox")
	taken := map[string]string{} // checksum by id
	at := "127.0.0.1:0"
	for round := range rounds {
		h := startProcess(t, "hub", hubDir, at, random.Uint64())
		ready := <-h.lines
		base, ok := strings.CutPrefix(ready, "ready ")
		if !ok {
			t.Fatalf("round %d (seed %d): the hub did not start: %q", round, seed, ready)
		}
		at = strings.TrimPrefix(base, "http://")
		c := startProcess(t, "client", dir, base, random.Uint64())
		note := func(line string) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "taken" {
				taken[f[1]] = f[2]
			}
		}
		for range 1 + random.IntN(filesARound) {
			line, open := <-c.lines
			if !open {
				t.Fatalf("round %d (seed %d): the client ended by itself", round, seed)
			}
			note(line)
		}
		// From here on, wait for a random moment rather than for an event.
		moment := time.After(time.Duration(random.Int64N(int64(40 * time.Millisecond))))
		<-moment
		first, second := c, h
		if random.IntN(2) == 0 {
			first, second = h, c
		}
		_ = first.cmd.Process.Kill()
		moment = time.After(time.Duration(random.Int64N(int64(10 * time.Millisecond))))
		<-moment
		_ = second.cmd.Process.Kill()
		for line := range c.lines {
			note(line)
		}
		c.kill()
		h.kill()
	}

	h, client := startHub(t, localhub.Config{Dir: hubDir})
	b := open(t, Options{Dir: dir, Hub: to(client), Policy: Policy{Uncertain: UncertainRetry}})
	if b.AsidePath() != "" {
		t.Error("the database was damaged")
	}
	work(t, b)
	items := until(t, b, allOver)
	for _, it := range items {
		if it.State == Uncertain { // its delivery was uncertain four times: a user checks
			must.Get(b.Resolve(t.Context(), it.ID, box(t, h)[it.SHA256], "looked"))(t)
		}
	}
	until(t, b, allOver)
	there := box(t, h)
	repeated, doubts := 0, 0
	for id, sum := range taken {
		it, err := b.Get(t.Context(), id)
		if err != nil || it.State != Delivered || it.SHA256 != sum || !there[sum] {
			t.Errorf("seed %d: a file that was taken: %v, %s, at the hub: %v", seed, err, it.State, there[sum])
			continue
		}
		all := must.Get(b.Receipts(t.Context(), id))(t)
		for _, r := range all {
			if strings.Contains(r.Body, `"repeated":true`) {
				repeated++
			}
			if r.Class == "unknown" {
				doubts++
			}
		}
	}
	if repeated > 2*rounds {
		t.Errorf("%d duplicates after %d kills", repeated, 2*rounds)
	}
	if len(taken) < rounds || doubts == 0 {
		t.Errorf("nothing was interrupted: %d files, %d doubts", len(taken), doubts)
	}
	s, err := b.Snapshot(t.Context())
	if err != nil || len(there) != s.Counts[Delivered] || len(s.Counts) != 1 {
		t.Errorf("%d messages, %v, %v", len(there), s.Counts, err)
	}
}

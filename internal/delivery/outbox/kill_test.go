package outbox

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

// noise returns a ZIP file whose contents compress badly.
func noise(t must.Test, random *rand.Rand, seed uint64, i int) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w := must.Get(z.CreateHeader(&zip.FileHeader{Name: "bericht.bin", Method: zip.Store}))(t)
	fmt.Fprintln(w, seed, i)
	raw := make([]byte, random.IntN(200_000))
	for i := range raw {
		raw[i] = byte(random.Uint32())
	}
	must.Get(w.Write(raw))(t)
	must.Do(t, z.Close())
	return b.Bytes()
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
		h := processtest.Start(t, "hub", hubDir, at, fmt.Sprint(random.Uint64()))
		ready := <-h.Lines
		base, ok := strings.CutPrefix(ready, "ready ")
		if !ok {
			t.Fatalf("round %d (seed %d): the hub did not start: %q", round, seed, ready)
		}
		at = strings.TrimPrefix(base, "http://")
		c := processtest.Start(t, "client", dir, base, fmt.Sprint(random.Uint64()))
		note := func(line string) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "taken" {
				taken[f[1]] = f[2]
			}
		}
		for range 1 + random.IntN(filesARound) {
			line, open := <-c.Lines
			if !open {
				t.Fatalf("round %d (seed %d): the client ended by itself: %v", round, seed, c.Wait())
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
		first.Kill()
		moment = time.After(time.Duration(random.Int64N(int64(10 * time.Millisecond))))
		<-moment
		second.Kill()
		for line := range c.Lines {
			note(line)
		}
		_, _ = c.Wait(), h.Wait()
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

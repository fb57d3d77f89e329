package history

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

const writerEnv = "WIEBELT_HISTORY_TEST_WRITER"

// TestMain is also the process that gets killed: it writes entries to the file named in
// the environment and acknowledges each on its standard output.
func TestMain(m *testing.M) {
	if path := os.Getenv(writerEnv); path != "" {
		writeForever(path)
	}
	if path := os.Getenv(besideEnv); path != "" {
		changeAll(path)
	}
	os.Exit(m.Run())
}

func writeForever(path string) {
	s, err := Open(path, KeepFull, 7, time.Now)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if s.State().Notice != NoticeNone {
		fmt.Fprintln(os.Stderr, "the file was damaged")
		os.Exit(1)
	}
	for i := 0; ; i++ {
		e := known(time.Now())
		e.ID, err = s.Put(context.Background(), e)
		if err == nil && i%3 == 0 { // a call that continues is written again
			e.Result = ResultAnsweredElsewhere
			_, err = s.Put(context.Background(), e)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(e.ID, e.Result)
	}
}

// TestKilledWriterLosesNothing checks that a writer killed at
// any moment loses nothing it acknowledged.
func TestKilledWriterLosesNothing(t *testing.T) {
	rounds := 25
	if os.Getenv("SOAK") != "" {
		rounds = 200
	}
	path := filepath.Join(t.TempDir(), "h.db")
	said := map[int64]string{}
	for round := range rounds {
		acknowledged(t, path, rand.IntN(2*500/rounds)+500/rounds, said)
		whole(t, path)
		kept := map[int64]string{}
		for _, e := range read(t, path) {
			kept[e.ID] = e.Result
		}
		for id, result := range said {
			if kept[id] != result {
				t.Fatalf("round %d: entry %d was acknowledged as %q and reads %q", round, id, result, kept[id])
			}
		}
	}
	if len(said) < 300 { // each is written once or twice
		t.Errorf("only %d entries", len(said))
	}
}

// whole checks that a reader finds the file and its indexes sound.
func whole(t *testing.T, path string) {
	t.Helper()
	r := must.Get(OpenReadOnly(t.Context(), path))(t)
	defer r.Close()
	var said string
	if err := r.db.QueryRow("PRAGMA integrity_check").Scan(&said); err != nil || said != "ok" {
		t.Fatalf("the file is not sound: %s, %v", said, err)
	}
}

// acknowledged runs a writer, kills it after n acknowledgements,
// and adds everything that it had printed to said.
func acknowledged(t *testing.T, path string, n int, said map[int64]string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), writerEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	lines := 0
	for in := bufio.NewScanner(out); in.Scan(); {
		var id int64
		var result string
		// A line cut off by the kill acknowledges nothing.
		if k, err := fmt.Sscan(in.Text(), &id, &result); err != nil || k != 2 ||
			result != ResultAnswered && result != ResultAnsweredElsewhere || in.Text() != strconv.FormatInt(id, 10)+" "+result {
			continue
		}
		said[id] = result
		if lines++; lines == n {
			must.Do(t, cmd.Process.Kill())
		}
	}
	err = cmd.Wait()
	if lines < n {
		t.Fatalf("the writer ended by itself after %d of %d entries: %v", lines, n, err)
	}
}

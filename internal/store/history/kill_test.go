package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

func TestMain(m *testing.M) {
	processtest.Main(processtest.Roles{"writer": writeForever, "beside": changeAll})
	os.Exit(m.Run())
}

// writeForever writes entries to the file named by its argument and acknowledges each
// on its standard output.
func writeForever(t must.Test, args []string) {
	s := must.Get(Open(args[0], KeepFull, 7, time.Now))(t)
	if s.State().Notice != NoticeNone {
		t.Fatal("the file was damaged")
	}
	for i := 0; ; i++ {
		e := known(time.Now())
		e.ID = must.Get(s.Put(context.Background(), e))(t)
		if i%3 == 0 { // a call that continues is written again
			e.Result = ResultAnsweredElsewhere
			must.Get(s.Put(context.Background(), e))(t)
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
	p := processtest.Start(t, "writer", path)
	lines := 0
	for line := range p.Lines {
		var id int64
		var result string
		must.Get(fmt.Sscan(line, &id, &result))(t)
		said[id] = result
		if lines++; lines == n {
			p.Kill()
		}
	}
	if lines < n {
		t.Fatalf("the writer ended by itself after %d of %d entries: %v", lines, n, p.Wait())
	}
}

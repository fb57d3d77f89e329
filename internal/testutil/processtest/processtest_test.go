package processtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) {
	Main(Roles{
		"printer": func(_ must.Test, args []string) {
			fmt.Printf("%s\n%s\ncut", args[0], args[1])
			_, _ = io.Copy(io.Discard, os.Stdin)
		},
		"failing": func(t must.Test, _ []string) { must.Do(t, errors.New("on purpose")) },
	})
	os.Exit(m.Run())
}

func TestLines(t *testing.T) {
	p := Start(t, "printer", "one", "two")
	got := []string{<-p.Lines, <-p.Lines}
	p.Kill()
	for line := range p.Lines {
		got = append(got, line)
	}
	if !slices.Equal(got, []string{"one", "two"}) || p.Wait() == nil {
		t.Errorf("%q, %v", got, p.Wait())
	}
}

func TestError(t *testing.T) {
	if err := Start(t, "failing").Wait(); err == nil || err.Error() != "exit status 1" {
		t.Error(err)
	}
}

func TestAlone(t *testing.T) {
	const word = "WIEBELT_TEST_WORD"
	ends, _ := t.Deadline()
	if Alone(t, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, word+"="+ends.Format(time.RFC3339)) }) {
		if first := must.Get(time.Parse(time.RFC3339, os.Getenv(word)))(t); !first.IsZero() && !ends.Before(first) {
			t.Errorf("it may take until %v, the first process until %v", ends, first)
		}
	}
}

// TestSilent checks that a silent process is killed only while somebody waits for it.
func TestSilent(t *testing.T) {
	defer func(was time.Duration) { patience = was }(patience)
	patience = time.Nanosecond
	p := StartCommand(t, Command(t.Context(), "printer", "one", "two"))
	if one, two := <-p.Lines, <-p.Lines; one != "one" || two != "two" {
		t.Errorf("%q, %q", one, two)
	}
	for what, err := range map[string]error{"awaited": p.Wait(), "read": Start(t, "printer", "one", "two").Wait()} {
		if err == nil || !strings.Contains(err.Error(), "killed: silent") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

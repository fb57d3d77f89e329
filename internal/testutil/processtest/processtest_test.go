package processtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"

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
	if Alone(t, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, word+"=said") }) && os.Getenv(word) != "said" {
		t.Error("it was not prepared")
	}
}

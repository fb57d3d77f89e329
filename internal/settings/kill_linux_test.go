package settings

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/profile"
)

const saverKey = "WIEBELT_TEST_SAVER"

// With saverKey set, this program saves one set of settings after the other and
// says the number of each that is on the disk.
func init() {
	dir := os.Getenv(saverKey)
	if dir == "" {
		return
	}
	d, err := profile.Find(dir)
	for n := 1; err == nil; n++ {
		if err = Set(d, saved(n)); err == nil {
			_, err = fmt.Println(n)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// saved are the settings of one save, which belong together.
func saved(n int) map[string]any {
	return map[string]any{
		"history.days":    n%365 + 1,
		"support.contact": fmt.Sprint(n, " ", strings.Repeat(string(rune('a'+n%26)), n%150)),
		"line":            []Line{{Number: "0201234567", Name: strconv.Itoa(n)}},
	}
}

// TestKillDuringSave: whenever the program is ended while it saves, the file is
// the old one or the new one, whole.
func TestKillDuringSave(t *testing.T) {
	rounds := 25
	if os.Getenv("SOAK") != "" {
		rounds = 200
	}
	d := dirs(t, "# ours\n[ui]\nlanguage = \"nl\" # stays\n")
	for range rounds {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), saverKey+"="+d.Config)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() {
			t.Fatal("nothing was saved")
		}
		kill := time.AfterFunc(time.Duration(rand.IntN(30_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		last := lines.Text()
		for lines.Scan() {
			last = lines.Text()
		}
		kill.Stop()
		_ = cmd.Wait()
		n, err := strconv.Atoi(last)
		if err != nil {
			t.Fatal(err)
		}
		s, problems := Load(d)
		got, _, _ := strings.Cut(s.Support.Contact, " ")
		if len(problems) > 0 || got != strconv.Itoa(n) && got != strconv.Itoa(n+1) {
			t.Fatalf("after save %d: %q, %v", n, got, problems)
		}
		m, _ := strconv.Atoi(got)
		want := saved(m)
		if s.History.Days != want["history.days"] || s.Support.Contact != strings.TrimSpace(want["support.contact"].(string)) || len(s.Lines) != 1 || s.Lines[0].Name != got || s.UI.Language != "nl" {
			t.Fatalf("after save %d: half of one and half of another: %+v", n, s)
		}
		if b, err := os.ReadFile(Path(d)); err != nil || !strings.HasPrefix(string(b), "# ours\n") {
			t.Fatalf("what a person wrote is gone: %v", err)
		}
	}
}

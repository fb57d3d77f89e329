package linktest

import (
	"os"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

// Example is a story of testdata: messages, and what is made of them.
type Example struct {
	Name           string
	Messages, Want []string
}

// Examples reads a file of testdata: "== " begins an example, "> " and "! " what is made of
// the messages before, and every other line is a message.
func Examples(t testing.TB, file string) (all []Example) {
	t.Helper()
	for line := range strings.Lines(string(must.Get(os.ReadFile("testdata/" + file))(t))) {
		line = strings.TrimSpace(line)
		mark, rest, _ := strings.Cut(line, " ")
		switch last := len(all) - 1; {
		case mark == "==":
			all = append(all, Example{Name: rest})
		case mark == ">" || mark == "!":
			all[last].Want = append(all[last].Want, rest)
		case line != "":
			all[last].Messages = append(all[last].Messages, line)
		}
	}
	return all
}

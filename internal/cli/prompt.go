package cli

import (
	"bufio"
	"io"
	"slices"
	"strings"

	"wiebelt/internal/commandline"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/text"
)

// secret reads a secret: at a terminal it prompts for one line, without echo; from a pipe
// or file it reads everything, which must be one line too.
func (e *env) secret(question text.Key) (string, error) {
	in, err := commandline.HiddenInput(e.ctx, e.in, e.err, e.lang().T(question))
	if err != nil {
		return "", err
	}
	return secret.ReadSecret(in)
}

// confirm reads an answer; nothing, or an interrupt, means no.
func (e *env) confirm() bool {
	line, _ := commandline.AwaitAnswer(e.ctx, func() (string, error) { return bufio.NewReader(io.LimitReader(e.in, 100)).ReadString('\n') })
	return slices.Contains([]string{"y", "yes", "j", "ja"}, strings.ToLower(strings.TrimSpace(line)))
}

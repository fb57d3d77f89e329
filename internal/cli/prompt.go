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
func (e *env) secret(l text.Language, question text.Key) (string, error) {
	in := e.in
	if f := commandline.Terminal(e.in); f != nil {
		line, err := commandline.ReadHidden(e.ctx, f, e.err, l.T(question))
		if err != nil {
			return "", err
		}
		in = strings.NewReader(line)
	}
	value, err := secret.ReadSecret(in)
	if err != nil {
		return "", secretError(l, err)
	}
	return value, nil
}

// confirm reads an answer; nothing, or an interrupt, means no.
func (e *env) confirm() bool {
	line, _ := commandline.AwaitAnswer(e.ctx, func() (string, error) { return bufio.NewReader(io.LimitReader(e.in, 100)).ReadString('\n') })
	return slices.Contains([]string{"y", "yes", "j", "ja"}, strings.ToLower(strings.TrimSpace(line)))
}

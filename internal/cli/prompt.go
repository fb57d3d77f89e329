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

// secret reads a secret. At a terminal it asks for it: one line, which is not
// shown. From a pipe or a file it is all there is, and one line too.
func (e *env) secret(l text.Language, question text.Key) (string, error) {
	in := e.in
	if f := commandline.Terminal(e.in); f != nil {
		line, err := commandline.Hidden(e.ctx, f, e.err, l.T(question))
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

// agreed reads an answer; nothing, and an interrupt, is no.
func (e *env) agreed() bool {
	line, _ := commandline.Answer(e.ctx, func() (string, error) { return bufio.NewReader(io.LimitReader(e.in, 100)).ReadString('\n') })
	return slices.Contains([]string{"y", "yes", "j", "ja"}, strings.ToLower(strings.TrimSpace(line)))
}

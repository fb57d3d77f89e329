package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/text"
)

// terminal is standard input if somebody sits at it, nil otherwise.
func (e *env) terminal() *os.File {
	if !isTerminal(e.in) {
		return nil
	}
	return e.in.(*os.File)
}

// secret reads a secret. At a terminal it asks for it: one line, which is not
// shown and ends with Enter. From a pipe or a file it is all there is, and one
// line too.
func (e *env) secret(l text.Language, question text.Key) (string, error) {
	in := e.in
	if f := e.terminal(); f != nil {
		line, err := e.hidden(f, l.T(question))
		if errors.Is(err, context.Canceled) {
			return "", fail(exitFailed, text.SecretCancelled)
		}
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

// hidden asks on a terminal for a line that is not shown. It is hidden before the
// question stands there: whoever types ahead is not shown either.
func (e *env) hidden(f *os.File, prompt string) (string, error) {
	was, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(f.Fd()), was) }()
	type answer struct {
		line string
		err  error
	}
	read := make(chan answer, 1)
	go func() { // ends with the answer or the process: a terminal cannot be interrupted
		line, err := term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{f, e.err}, "").ReadPassword(prompt)
		read <- answer{line, err}
	}()
	select {
	case a := <-read:
		if errors.Is(a.err, io.EOF) { // Ctrl+C or Ctrl+D
			_, _ = io.WriteString(e.err, "\r\n")
			return "", context.Canceled
		}
		return a.line, a.err
	case <-e.ctx.Done():
		_, _ = io.WriteString(e.err, "\r\n")
		return "", e.ctx.Err()
	}
}

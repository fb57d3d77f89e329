package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"slices"
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
	line, err := e.answer(func() (string, error) {
		return term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{f, e.err}, "").ReadPassword(prompt)
	})
	if errors.Is(err, io.EOF) { // Ctrl+C or Ctrl+D
		err = context.Canceled
	}
	if err != nil {
		_, _ = io.WriteString(e.err, "\r\n")
	}
	return line, err
}

// agreed reads an answer; nothing, and an interrupt, is no.
func (e *env) agreed(in io.Reader) bool {
	line, _ := e.answer(func() (string, error) { return bufio.NewReader(io.LimitReader(in, 100)).ReadString('\n') })
	return slices.Contains([]string{"y", "yes", "j", "ja"}, strings.ToLower(strings.TrimSpace(line)))
}

// answer is what read gives, unless the command is told to end before. A terminal
// cannot be interrupted: read ends with the answer or the process.
func (e *env) answer(read func() (string, error)) (line string, err error) {
	done := make(chan struct{})
	var typed string
	var failed error
	go func() {
		typed, failed = read()
		close(done)
	}()
	select {
	case <-done:
		return typed, failed
	case <-e.ctx.Done():
		return "", e.ctx.Err()
	}
}

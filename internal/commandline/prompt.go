package commandline

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/term"

	"wiebelt/internal/text"
)

// Terminal is a stream of a program's if it is a terminal, nil otherwise.
func Terminal(stream any) *os.File {
	if o, ok := stream.(*Output); ok {
		stream = o.Writer
	}
	if f, ok := stream.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// Hidden asks on a terminal, by way of out, for a line that is not shown and ends with
// Enter. It is hidden before the question stands there: whoever types ahead is not
// shown either. Whoever thinks better of it, or ends ctx, gets an error that says so.
func Hidden(ctx context.Context, f *os.File, out io.Writer, question string) (string, error) {
	was, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(f.Fd()), was) }()
	line, err := Answer(ctx, func() (string, error) {
		return term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{f, out}, "").ReadPassword(question)
	})
	if err != nil {
		_, _ = io.WriteString(out, "\r\n")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) { // Ctrl+C or Ctrl+D is the end of a raw terminal
		err = text.Errorf(text.SecretCancelled)
	}
	return line, err
}

// Answer is what read gives, unless ctx ends before. A terminal cannot be
// interrupted: read ends with the answer or the process.
func Answer(ctx context.Context, read func() (string, error)) (line string, err error) {
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
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

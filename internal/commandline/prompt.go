package commandline

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"wiebelt/internal/text"
)

// Terminal returns the file of a stream if it is a terminal, nil otherwise.
func Terminal(stream any) *os.File {
	if o, ok := stream.(*Output); ok {
		stream = o.Writer
	}
	if f, ok := stream.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// HiddenInput returns what is to be read in place of in: if that is a terminal, a line that is
// asked for there with a question, which is written to out; otherwise in itself.
func HiddenInput(ctx context.Context, in io.Reader, out io.Writer, question string) (io.Reader, error) {
	f := Terminal(in)
	if f == nil {
		return in, nil
	}
	line, err := readHidden(ctx, f, out, question)
	return strings.NewReader(line), err
}

// readHidden asks on a terminal, writing to out, for a line that is not echoed and ends
// with Enter. Echo is off before the question appears: what is typed ahead is not shown
// either. If the user cancels, or ctx ends, the error says so.
func readHidden(ctx context.Context, f *os.File, out io.Writer, question string) (string, error) {
	was, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(f.Fd()), was) }()
	line, err := AwaitAnswer(ctx, func() (string, error) {
		return term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{f, out}, "").ReadPassword(question)
	})
	if err != nil {
		_, _ = io.WriteString(out, "\r\n")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) { // Ctrl+C or Ctrl+D ends input on a raw terminal
		err = text.Errorf(text.SecretCancelled)
	}
	return line, err
}

// AwaitAnswer returns the result of read, unless ctx ends first. Reading a terminal cannot be
// interrupted: read ends with the answer or the process.
func AwaitAnswer(ctx context.Context, read func() (string, error)) (line string, err error) {
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

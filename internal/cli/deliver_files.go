package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"wiebelt/internal/message"
	"wiebelt/internal/outbox"
	"wiebelt/internal/text"
)

// Limits of what one command takes.
const (
	maxFiles    = 100_000
	maxListLine = 8 << 10
	maxBuilt    = 1000 // attachments
)

// sources are the files that the arguments name.
func (c *deliverSendCmd) sources(p deliverPlace) ([]outbox.Source, error) {
	if c.Watch != "" {
		return nil, nil
	}
	if c.Build {
		return c.built(p)
	}
	paths, err := expand(c.Files)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, &exitError{exitFailed, p.lang.T(text.DeliveryNothing)}
	}
	all := make([]outbox.Source, len(paths))
	for i, path := range paths {
		all[i] = outbox.Source{Path: path, Intermediary: c.intermediary(p), GiveUpAfter: c.MaxAge}
	}
	return all, nil
}

// expand turns arguments into files, each once, in the order given.
func expand(args []string) ([]string, error) {
	var all []string
	seen := map[string]bool{}
	take := func(path string) error {
		abs, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		if !seen[abs] {
			seen[abs] = true
			all = append(all, abs)
		}
		if len(all) > maxFiles {
			return &exitError{exitUsage, fmt.Sprintf("more than %d files at once", maxFiles)}
		}
		return nil
	}
	for _, a := range args {
		list, isList := strings.CutPrefix(a, "@")
		if isList {
			if _, err := os.Lstat(a); err == nil {
				isList = false // a file of that name
			}
		}
		if !isList {
			if err := expandOne(a, take); err != nil {
				return nil, err
			}
			continue
		}
		if err := readList(list, func(line string) error { return expandOne(line, take) }); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// expandOne is one argument or line: a file, a folder or a pattern. Shells of
// Windows leave patterns to us.
func expandOne(a string, take func(string) error) error {
	info, err := os.Stat(a)
	switch {
	case err == nil && info.IsDir():
		return folder(a, take)
	case err == nil:
		return take(a)
	case !strings.ContainsAny(a, "*?["):
		return take(a) // told with the others that it is not there
	}
	found, err := filepath.Glob(a)
	if err != nil {
		return &exitError{exitUsage, "not a pattern: " + a}
	}
	for _, path := range found { // in the order of their names
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			continue
		}
		if err := take(path); err != nil {
			return err
		}
	}
	return nil
}

// folder takes the ZIP files that lie directly in a folder.
func folder(dir string, take func(string) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return &exitError{exitFailed, "the folder cannot be read: " + detailPath(err)}
	}
	for _, x := range entries {
		if !isZIPName(x.Name()) || x.IsDir() {
			continue
		}
		if err := take(filepath.Join(dir, x.Name())); err != nil {
			return err
		}
	}
	return nil
}

func isZIPName(name string) bool {
	return strings.EqualFold(filepath.Ext(name), ".zip") && !strings.HasPrefix(name, ".")
}

// readList reads the lines of a list of files: UTF-8, with or without a mark at
// its beginning; empty lines do not count.
func readList(name string, each func(string) error) error {
	f, err := os.Open(name)
	if err != nil {
		return &exitError{exitFailed, "the list cannot be read: " + detailPath(err)}
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(make([]byte, 4096), maxListLine)
	for n := 1; in.Scan(); n++ {
		line := in.Text()
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !utf8.ValidString(line) || strings.ContainsRune(line, 0) {
			return &exitError{exitFailed, fmt.Sprintf("the list's line %d is not UTF-8", n)}
		}
		if err := each(line); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return &exitError{exitFailed, "the list cannot be read: " + detailPath(err)}
	}
	return nil
}

// built is the one message that --build makes.
func (c *deliverSendCmd) built(p deliverPlace) ([]outbox.Source, error) {
	if len(c.Files) > maxBuilt {
		return nil, &exitError{exitUsage, fmt.Sprintf("--build: at most %d files", maxBuilt)}
	}
	parts := make([]message.Source, len(c.Files))
	for i, name := range c.Files {
		info, err := os.Stat(name)
		if err == nil && !info.Mode().IsRegular() {
			err = errors.New("not a file")
		}
		if err != nil {
			return nil, &exitError{exitFailed, fmt.Sprintf("%s: %s", name, detailPath(err))}
		}
		parts[i] = message.Source{Name: filepath.Base(name), Size: info.Size(), Open: func() (io.ReadCloser, error) { return os.Open(name) }}
	}
	xml, err := filepath.Abs(c.Files[0])
	if err != nil {
		return nil, err
	}
	return []outbox.Source{{Path: strings.TrimSuffix(xml, filepath.Ext(xml)) + ".zip", Intermediary: c.intermediary(p), GiveUpAfter: c.MaxAge,
		Write: func(ctx context.Context, w io.Writer) error {
			spool := &noting{w: w}
			if err := message.Build(ctx, spool, parts[0], parts[1:]); err != nil {
				if spool.err != nil || ctx.Err() != nil {
					return err
				}
				return &outbox.RefusedError{Code: "build", Why: detailPath(err)}
			}
			return nil
		}}}, nil
}

// noting notes the errors of the side that is written.
type noting struct {
	w   io.Writer
	err error
}

func (n *noting) Write(p []byte) (int, error) {
	k, err := n.w.Write(p)
	if err != nil {
		n.err = err
	}
	return k, err
}

// checker looks into a file before it is taken.
type checker func(context.Context, io.ReaderAt, int64) ([]message.Finding, error)

// tryFile checks a file as it would be taken; f gets its size. One that is made
// lies in dir meanwhile.
func tryFile(ctx context.Context, s outbox.Source, dir string, check checker, f *deliverFile) error {
	if s.Write != nil { // made, looked into, and gone
		temp, err := os.CreateTemp(dir, "try-*.zip")
		if err != nil {
			return err
		}
		defer func() { _ = temp.Close(); _ = os.Remove(temp.Name()) }()
		if err := s.Write(ctx, temp); err != nil {
			return err
		}
		return tryOpen(ctx, temp, check, f)
	}
	info, err := os.Stat(s.Path)
	if err != nil {
		return &outbox.RefusedError{Code: "unreadable", Why: detailPath(err)}
	}
	if !info.Mode().IsRegular() {
		return &outbox.RefusedError{Code: "not_a_file", Why: "not a file"}
	}
	file, err := os.Open(s.Path)
	if err != nil {
		return &outbox.RefusedError{Code: "unreadable", Why: detailPath(err)}
	}
	defer file.Close()
	return tryOpen(ctx, file, check, f)
}

func tryOpen(ctx context.Context, file *os.File, check checker, f *deliverFile) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	f.Size = info.Size()
	if f.Size == 0 {
		return &outbox.RefusedError{Code: "empty", Why: "the file is empty"}
	}
	found, err := check(ctx, file, f.Size)
	f.Findings = found
	if err != nil {
		if errors.Is(err, outbox.ErrRefused) || ctx.Err() != nil {
			return err
		}
		var path *fs.PathError
		if errors.As(err, &path) {
			return &outbox.RefusedError{Code: "unreadable", Why: path.Err.Error()}
		}
		return err
	}
	return nil
}

package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"wiebelt/internal/delivery/folderwatch"
	"wiebelt/internal/delivery/message"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/text"
)

// Limits of a single command.
const (
	maxFiles    = 100_000
	maxListLine = 8 << 10
	maxBuilt    = 1000 // attachments
)

func (c *deliverSendCmd) sources(p deliverContext) ([]outbox.Source, error) {
	if c.Watch != "" {
		return nil, nil
	}
	if c.Build {
		return c.buildMessage(p)
	}
	paths, err := expand(c.Files)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, exitError(exitFailed, text.DeliveryNothing)
	}
	all := make([]outbox.Source, len(paths))
	for i, path := range paths {
		all[i] = outbox.Source{Path: path, Intermediary: c.intermediary(p), GiveUpAfter: c.MaxAge}
	}
	return all, nil
}

// expand turns arguments into files, each once, in the order given.
func expand(args []string) ([]string, error) {
	x := expansion{seen: map[string]bool{}}
	for _, a := range args {
		list, isList := strings.CutPrefix(a, "@")
		if isList {
			if _, err := os.Lstat(a); err == nil {
				isList = false // there is a file of that name
			}
		}
		err := error(nil)
		if isList {
			err = x.readList(list)
		} else {
			err = x.expandOne(a, "*?[")
		}
		if err != nil {
			return nil, err
		}
	}
	return x.files, nil
}

type expansion struct {
	files []string
	seen  map[string]bool
}

func (x *expansion) addFile(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if !x.seen[abs] {
		x.seen[abs] = true
		x.files = append(x.files, abs)
	}
	if len(x.files) > maxFiles {
		return usageError(text.DeliveryTooMany, maxFiles)
	}
	return nil
}

// expandOne expands an argument or line: a file, a folder or, if it contains a character
// of wild, a pattern. Windows shells leave patterns to us.
func (x *expansion) expandOne(a, wild string) error {
	info, err := os.Stat(a)
	switch {
	case err == nil && info.IsDir():
		found, err := folderwatch.ZIPs(a)
		if err != nil {
			return exitError(exitFailed, text.DeliveryBadFolder, a, err)
		}
		return x.addFiles(found)
	case err == nil:
		return x.addFile(a)
	case !strings.ContainsAny(a, wild):
		return x.addFile(a) // reported with the others as missing
	}
	found, err := filepath.Glob(a)
	if err != nil {
		return usageError(text.DeliveryBadPattern, a)
	}
	found = slices.DeleteFunc(found, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.IsDir()
	})
	if len(found) == 0 {
		return x.addFile(a) // reported like a missing file
	}
	return x.addFiles(found)
}

func (x *expansion) addFiles(paths []string) error {
	for _, path := range paths {
		if err := x.addFile(path); err != nil {
			return err
		}
	}
	return nil
}

// readList reads a list of files: UTF-8, with or without a byte order mark; empty lines and
// those beginning with # are ignored. Programs write it, so [ in a name is literal.
func (x *expansion) readList(name string) error {
	unread := func(err error) error {
		return exitError(exitFailed, text.DeliveryBadList, name, err)
	}
	f, err := os.Open(name)
	if err != nil {
		return unread(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(make([]byte, 4096), maxListLine)
	for n := 1; in.Scan(); n++ {
		line := in.Text()
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if !utf8.ValidString(line) || strings.ContainsRune(line, 0) {
			return exitError(exitFailed, text.DeliveryBadLine, name, n)
		}
		wild := "*?"
		if strings.Contains(line, "[") {
			wild = ""
		}
		if err := x.expandOne(line, wild); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return unread(err)
	}
	return nil
}

// buildMessage returns the one message that --build makes.
func (c *deliverSendCmd) buildMessage(p deliverContext) ([]outbox.Source, error) {
	if len(c.Files) > maxBuilt {
		return nil, usageError(text.DeliveryTooMany, maxBuilt)
	}
	parts := make([]message.Source, len(c.Files))
	for i, name := range c.Files {
		info, err := os.Stat(name)
		if err == nil && !info.Mode().IsRegular() {
			err = errors.New(p.lang.T(text.DeliveryReason(outbox.CodeNoFile)))
		}
		if err != nil {
			return nil, &failure{exitFailed, errors.New(name + ": " + p.lang.Error(err))}
		}
		parts[i] = message.Source{Name: filepath.Base(name), Size: info.Size(), Open: func() (io.ReadCloser, error) { return os.Open(name) }}
	}
	xml, err := filepath.Abs(c.Files[0])
	if err != nil {
		return nil, err
	}
	return []outbox.Source{{Path: strings.TrimSuffix(xml, filepath.Ext(xml)) + ".zip", Intermediary: c.intermediary(p), GiveUpAfter: c.MaxAge,
		Write: func(ctx context.Context, w io.Writer) error {
			err := message.Build(ctx, w, parts[0], parts[1:])
			if err == nil || ctx.Err() != nil {
				return err
			}
			if b, ok := errors.AsType[*message.BuildError](err); ok {
				return &outbox.RefusedError{Code: string(b.Code), Why: err.Error()}
			}
			return &outbox.RefusedError{Code: "build", Why: filetrust.WithoutPath(err).Error()} // of a file; the spool's own counts before it
		}}}, nil
}

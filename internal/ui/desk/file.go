package desk

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"wiebelt/internal/history"
)

// file is the history on disk, opened when it is there. Only for one goroutine.
type file struct {
	path   string
	reader *history.Reader
}

// read gives every call that is kept, newest first. No file (yet) means no calls.
func (f *file) read(ctx context.Context) ([]history.Entry, error) {
	if f.path == "" {
		return nil, nil
	}
	if f.reader == nil {
		r, err := history.OpenReadOnly(f.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		f.reader = r
	}
	all, err := f.reader.Since(ctx, time.Time{}, historyOf)
	if err != nil {
		f.close() // the file may have been put aside; the next reading opens it anew
	}
	return all, err
}

func (f *file) close() {
	if f.reader != nil {
		_ = f.reader.Close() // nothing was written
		f.reader = nil
	}
}

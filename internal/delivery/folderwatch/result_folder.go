package folderwatch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"wiebelt/internal/filetrust"
)

// lockName is a file in sent, where only we can remove it.
const lockName = ".watch.lock"

type resultFolder struct {
	*filetrust.Shared
	info  fs.FileInfo
	group *int // may read its contents; nil for none
}

// newResultFolder opens one of our own folders, creating it if needed. The group with
// read access to the watched folder gets it here too.
func newResultFolder(in *filetrust.Shared, above fs.FileInfo, name string) (*resultFolder, error) {
	s, err := in.Folder(name)
	if err != nil {
		return nil, err
	}
	p := &resultFolder{Shared: s}
	if p.info, err = s.Root().Stat("."); err == nil {
		err = p.share(above)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return p, nil
}

func (p *resultFolder) write(name, text string) error {
	f, err := p.Create(name)
	if err != nil {
		return err
	}
	if err = p.shareFile(f); err == nil {
		_, err = f.WriteString(text)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = p.Root().Remove(name)
	}
	return err
}

// maxStem leaves room for what freeName and move add to a name of at most 255 bytes.
const maxStem = 240

// freeName returns name, or a variant of it, that neither a file nor its note uses yet.
func (p *resultFolder) freeName(name string) (string, error) {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if len(stem) > maxStem {
		stem = strings.ToValidUTF8(stem[:maxStem], "")
	}
	free := stem + ext
	for n := 2; n < 100_000; n++ {
		_, err := p.Lstat(free)
		_, noteErr := p.Lstat(free + ".txt")
		if errors.Is(err, fs.ErrNotExist) && errors.Is(noteErr, fs.ErrNotExist) {
			return free, nil
		}
		free = fmt.Sprintf("%s-%d%s", stem, n, ext)
	}
	return "", errors.New("too many files of one name")
}

// lock excludes a second watch as long as the file is open.
func (p *resultFolder) lock() (*os.File, error) {
	f, err := p.Root().OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	// Package flock would open it by its path, which others can make lead elsewhere.
	if err := tryLock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

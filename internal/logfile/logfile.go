// Package logfile keeps the program's log on disk: JSON lines, at most three files of 5
// MB, none older than 14 days, without numbers, names, tokens or bodies. Callers log types
// that reveal nothing about people; anything that slips through is removed from every
// line before it is written.
//
// Safe for concurrent use. It starts no goroutine.
package logfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"wiebelt/internal/filetrust"
)

// Limits of what the log keeps.
const (
	maxSize      = 5 << 20
	maxFiles     = 3
	maxAge       = 14 * 24 * time.Hour
	maxCrash     = 1 << 20
	maxFirstLine = 64 << 10  // read of the first line
	renameRetry  = time.Hour // before retrying to rename files
)

// File names in the profile's log folder.
const (
	Name      = "wiebelt.log" // the newest; wiebelt.log.2 is the oldest
	CrashName = "crash.txt"
)

// File is the log of one program.
type File struct {
	dir   string
	now   func() time.Time
	max   int64 // size limit of a file
	mu    sync.Mutex
	f     *os.File
	size  int64
	next  time.Time // when to begin another file, however small this one is
	level slog.LevelVar
}

// Open opens the log in dir, and creates that folder so that nobody else can read it.
func Open(dir, level string) (*File, error) { return open(dir, level, time.Now) }

func open(dir, level string, now func() time.Time) (*File, error) {
	l := &File{dir: dir, now: now, max: maxSize}
	l.SetLevel(level)
	if err := filetrust.Make(dir, filetrust.UserOwned); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	err := l.begin()
	if err == nil && l.now().After(l.next) {
		err = l.rotate()
	}
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	l.deleteOld()
	return l, nil
}

// SetLevel sets the level to a value of the setting log.level. Anything else means "info".
func (l *File) SetLevel(level string) {
	v := slog.LevelInfo
	_ = v.UnmarshalText([]byte(level))
	l.level.Set(v)
}

// Handler returns a handler that writes to the log.
func (l *File) Handler() slog.Handler {
	return slog.NewJSONHandler(l, &slog.HandlerOptions{Level: &l.level, ReplaceAttr: ScrubAttr})
}

// Write writes one line. It is meant for the handler; if the disk
// fails, lines are lost but the program goes on.
func (l *File) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil { // closed, or it could not be opened
		if err := l.begin(); err != nil {
			return 0, err
		}
	}
	if l.size+int64(len(line)) > l.max || l.now().After(l.next) {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(line)
	l.size += int64(n)
	return n, err
}

// rotate begins a new file and deletes the oldest. If a file cannot be renamed, as on
// Windows while another program has it open, the newest one is continued.
func (l *File) rotate() error {
	_ = l.f.Close() // if it is open; the system already has every line
	l.f = nil
	refused := false
	for i := maxFiles - 1; i > 0 && !refused; i-- {
		err := os.Rename(l.path(i-1), l.path(i))
		refused = err != nil && !errors.Is(err, fs.ErrNotExist)
	}
	l.deleteOld()
	err := l.begin()
	if refused {
		l.size, l.next = 0, l.now().Add(renameRetry)
	}
	return err
}

func (l *File) begin() error {
	f, err := filetrust.OpenFile(l.path(0), os.O_CREATE|os.O_APPEND|os.O_RDWR, filetrust.UserOwned)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return err
	}
	began := l.now()
	if info.Size() > 0 {
		began = firstLineTime(f, info)
	}
	l.f, l.size, l.next = f, info.Size(), began.Add(maxAge/maxFiles)
	return nil
}

// firstLineTime returns the time of a file's first line. It returns that of the file's last
// change if the first line has none, or one from a clock that was ahead.
func firstLineTime(f io.ReaderAt, info fs.FileInfo) time.Time {
	var line struct{ Time time.Time }
	if json.NewDecoder(io.NewSectionReader(f, 0, maxFirstLine)).Decode(&line) != nil || line.Time.IsZero() || line.Time.After(info.ModTime()) {
		return info.ModTime()
	}
	return line.Time
}

// deleteOld removes files that are too old. The newest file is rotated before that.
func (l *File) deleteOld() {
	for i := 1; i < maxFiles; i++ {
		if began, err := startTime(l.path(i)); err == nil && l.now().Sub(began) > maxAge {
			_ = os.Remove(l.path(i))
		}
	}
	crash := filepath.Join(l.dir, CrashName)
	if info, err := os.Stat(crash); err == nil && l.now().Sub(info.ModTime()) > maxAge {
		_ = os.Remove(crash)
	}
}

func startTime(path string) (time.Time, error) {
	f, err := filetrust.OpenFile(path, os.O_RDONLY, filetrust.UserOwned)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return time.Time{}, err
	}
	return firstLineTime(f, info), nil
}

func (l *File) path(i int) string {
	p := filepath.Join(l.dir, Name)
	if i > 0 {
		p += fmt.Sprintf(".%d", i)
	}
	return p
}

// CatchCrashes makes the Go runtime write crash reports to a file beside the
// log, in addition to standard error. They contain addresses and function names,
// but no values of ours.
func (l *File) CatchCrashes() error {
	path := filepath.Join(l.dir, CrashName)
	flags := os.O_CREATE | os.O_APPEND | os.O_WRONLY
	if info, err := os.Stat(path); err == nil && info.Size() > maxCrash {
		flags |= os.O_TRUNC
	}
	f, err := filetrust.OpenFile(path, flags, filetrust.UserOwned)
	if err != nil {
		return err
	}
	defer f.Close() // the runtime has its own copy
	return debug.SetCrashOutput(f, debug.CrashOptions{})
}

// Close closes the log. Later lines reopen the file.
func (l *File) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	err := l.f.Close()
	l.f = nil
	return err
}

// Files returns the paths of the log files and the crash report in dir,
// newest first, that exist and are not empty.
func Files(dir string) []string {
	l := &File{dir: dir}
	var found []string
	for i := range maxFiles {
		found = append(found, l.path(i))
	}
	return slices.DeleteFunc(append(found, filepath.Join(dir, CrashName)), func(p string) bool {
		info, err := os.Lstat(p)
		return err != nil || !info.Mode().IsRegular() || info.Size() == 0
	})
}

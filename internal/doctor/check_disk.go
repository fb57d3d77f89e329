package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/logfile"
	"wiebelt/internal/store/history"
)

// Free space, in MB.
const (
	diskLow  = 500
	diskFull = 50
)

// existingAncestor returns dir, or its nearest ancestor that exists.
func existingAncestor(dir string) string {
	for !exists(dir) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
	}
	return dir
}

func (e *exam) disk(context.Context) []finding {
	free, err := e.sys.free(existingAncestor(e.Dirs.State))
	mb := int(min(free>>20, 1<<40))
	switch {
	case err != nil:
		return oneFinding(Off, "disk.unknown")
	case mb < diskFull:
		return oneFinding(Fail, "disk.full", mb)
	case mb < diskLow:
		return oneFinding(Warn, "disk.low", mb)
	}
	return oneFinding(OK, "disk.ok", mb)
}

// folders checks each folder of the profile once.
func (e *exam) folders(context.Context) []finding {
	var all []finding
	seen := map[string]bool{}
	for _, f := range []struct{ name, path string }{
		{"config", e.Dirs.Config}, {"state", e.Dirs.State}, {"run", e.Dirs.Run}, {"log", e.Dirs.Log()},
	} {
		if seen[f.path] {
			continue
		}
		if !exists(f.path) {
			if !e.sys.writable(existingAncestor(f.path)) {
				all = append(all, oneFinding(Fail, "folders.home", f.name)...)
			}
			continue
		}
		seen[f.path] = true
		err := e.sys.folder(f.path)
		bad, _ := errors.AsType[*filetrust.Error](err)
		switch {
		case err == nil:
		case errors.Is(err, fs.ErrPermission):
			all = append(all, oneFinding(Fail, "folders.own", f.name)...)
		case bad == nil || bad.Fault != filetrust.FaultWrite && bad.Fault != filetrust.FaultRead:
			all = append(all, oneFinding(Fail, "folders.owner", f.name)...)
		case bad.Fault == filetrust.FaultWrite:
			all = append(all, oneFinding(Fail, "folders.write", f.name)...)
		case f.name != "config":
			all = append(all, oneFinding(Warn, "folders.read", f.name)...)
		}
	}
	switch {
	case all != nil:
		return all
	case len(seen) == 0:
		return oneFinding(Off, "folders.none")
	}
	return oneFinding(OK, "folders.ok")
}

func (e *exam) program(context.Context) []finding {
	switch err := e.sys.installed(e.Exe); {
	case err == nil:
		return oneFinding(OK, "program.ok")
	case errors.Is(err, filetrust.ErrUntrusted):
		return oneFinding(Fail, "program.write")
	}
	return oneFinding(Off, "program.unknown")
}

// log checks whether the newest file is writable, and counts the recent errors at its end.
func (e *exam) log(context.Context) []finding {
	path := filepath.Join(e.Dirs.Log(), logfile.Name)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return oneFinding(Off, "log.none")
	}
	if err != nil || !info.Mode().IsRegular() {
		return oneFinding(Fail, "log.write")
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return oneFinding(Fail, "log.write")
	}
	defer f.Close()
	const end = 1 << 20
	b, _ := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-end), end))
	if n := e.countErrors(b); n > 0 {
		return countFinding(OK, "log.errors", n)
	}
	return oneFinding(OK, "log.ok")
}

func (e *exam) countErrors(b []byte) int {
	n := 0
	for line := range bytes.Lines(b) {
		var l struct {
			Time  time.Time
			Level string
		}
		if json.Unmarshal(line, &l) == nil && l.Level == "ERROR" && e.now.Sub(l.Time) < 24*time.Hour {
			n++
		}
	}
	return n
}

// crash reports when the last crash was. If there was none, the file exists but is empty.
func (e *exam) crash(context.Context) []finding {
	info, err := os.Lstat(filepath.Join(e.Dirs.Log(), logfile.CrashName))
	if err != nil || info.Size() == 0 {
		return oneFinding(OK, "crash.none")
	}
	days := int(e.now.Sub(info.ModTime()).Hours() / 24)
	if days < 1 {
		return oneFinding(Fail, "crash.today")
	}
	return countFinding(OK, "crash.old", days)
}

// audit reports whether lookups can be recorded, if so configured.
func (e *exam) audit(context.Context) []finding {
	switch {
	case e.Settings.Audit != "eventlog":
		return oneFinding(Off, "audit.off")
	case e.sys.audit() != nil:
		return oneFinding(Fail, "audit.none")
	}
	return oneFinding(OK, "audit.ok")
}

// history checks whether the file is intact, without reading calls.
func (e *exam) history(ctx context.Context) []finding {
	path := fromsettings.HistoryFile(e.Dirs)
	switch {
	case e.Settings.History.Keep == string(history.KeepOff):
		return oneFinding(Off, "history.off")
	case !exists(path):
		return oneFinding(Off, "history.none")
	}
	switch err := history.CheckFile(ctx, path); {
	case errors.Is(err, history.ErrNewer):
		return oneFinding(Fail, "history.newer")
	case err != nil:
		return oneFinding(Fail, "history.damaged")
	case exists(path + ".damaged"):
		return oneFinding(Warn, "history.aside")
	}
	return oneFinding(OK, "history.ok")
}

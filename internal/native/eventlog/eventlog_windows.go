package eventlog

import (
	"errors"
	"sync"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
	"golang.org/x/sys/windows/svc/eventlog"
)

type application struct {
	mu  sync.Mutex
	log *eventlog.Log
}

// Open opens the application log. It returns ErrNoLog if there is none.
func Open() (Writer, error) {
	l, err := eventlog.Open(Source)
	if err != nil {
		return nil, ErrNoLog
	}
	return &application{log: l}, nil
}

func (a *application) Write(r Record) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.log == nil {
		return ErrNoLog
	}
	message := r.Message
	if r.field != "" {
		message += "\r\n" + r.field
	}
	write := a.log.Info
	if r.Level == Warning {
		write = a.log.Warning
	}
	return write(uint32(r.ID), message)
}

func (a *application) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.log == nil {
		return nil
	}
	err := a.log.Close()
	a.log = nil
	return err
}

// Install registers the source, so that the event viewer shows messages unchanged. This
// requires an administrator; an existing registration is no error.
func Install() error {
	err := eventlog.InstallAsEventCreate(Source, eventlog.Info|eventlog.Warning)
	if err == nil || errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
		return nil
	}
	k, open := registry.OpenKey(registry.LOCAL_MACHINE, SourceKey+Source, registry.QUERY_VALUE)
	if open != nil {
		return err
	}
	return k.Close()
}

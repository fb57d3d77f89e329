package eventlog

import (
	"errors"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
	"golang.org/x/sys/windows/svc/eventlog"
)

// Write writes a record to the application log or fails; it never blocks for long.
func Write(r Record) error {
	l, err := eventlog.Open(Source)
	if err != nil {
		return ErrNoLog
	}
	message := r.Message
	if r.field != "" {
		message += "\r\n" + r.field
	}
	write := l.Info
	if r.warning {
		write = l.Warning
	}
	return errors.Join(write(uint32(r.ID), message), l.Close())
}

// Check returns ErrNoLog if there is no such log.
func Check() error {
	l, err := eventlog.Open(Source)
	if err != nil {
		return ErrNoLog
	}
	return l.Close()
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

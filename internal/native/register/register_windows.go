package register

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/windows/registry"

	"wiebelt/internal/native/win32"
)

const approvedPath = `Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run`

func root(allUsers bool) registry.Key {
	if allUsers {
		return registry.LOCAL_MACHINE
	}
	return registry.CURRENT_USER
}

// Register writes into the registry, replacing existing values.
func Register(o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	for _, v := range Values(o) {
		if o.Only == OnlyScheme && v.Path == runPath || o.Only == OnlyAutostart && v.Path != runPath {
			continue
		}
		k, _, err := registry.CreateKey(root(o.AllUsers), v.Path, registry.SET_VALUE)
		if err != nil {
			return fmt.Errorf("register: %w", err)
		}
		if err := errors.Join(k.SetStringValue(v.Name, v.Data), k.Close()); err != nil {
			return fmt.Errorf("register: %w", err)
		}
	}
	return nil
}

// remove deletes keys; missing ones are no error.
func remove(r registry.Key, paths ...string) (all error) {
	for _, p := range paths {
		if err := registry.DeleteKey(r, p); err != nil && !errors.Is(err, registry.ErrNotExist) {
			all = errors.Join(all, fmt.Errorf("register: %w", err))
		}
	}
	return all
}

// classKeys returns the keys of a class, innermost first.
func classKeys(path string) []string {
	return []string{path + open, path + `\shell\open`, path + `\shell`, path + `\DefaultIcon`, path}
}

// Unregister removes what Register wrote. Missing keys are no error, and links and files now
// assigned to another program are left to it.
func Unregister(o Options) error {
	r := root(o.AllUsers)
	all := remove(r, classKeys(setupPath)...)
	if win32.RegistryText(r, suffixPath, "") == setupClass {
		all = errors.Join(all, remove(r, suffixPath))
	}
	if have := win32.RegistryText(r, classPath+open, ""); have == "" || have == linkCommand(o) || have == linkCommand(o.older()) {
		all = errors.Join(all, remove(r, classKeys(classPath)...))
	}
	k, err := registry.OpenKey(r, runPath, registry.SET_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return all
	}
	if err != nil {
		return errors.Join(all, fmt.Errorf("register: %w", err))
	}
	if err := k.DeleteValue(runName); err != nil && !errors.Is(err, registry.ErrNotExist) {
		all = errors.Join(all, fmt.Errorf("register: %w", err))
	}
	return errors.Join(all, k.Close())
}

// State reads the user's part of the registry first, as Windows does.
func State(o Options) (Status, error) {
	var s Status
	for _, r := range []registry.Key{registry.CURRENT_USER, registry.LOCAL_MACHINE} {
		if v := win32.RegistryText(r, classPath+open, ""); v != "" && s.Scheme == "" {
			s.Scheme = v
		}
		if ours, older := o.matchesCommand(win32.RegistryText(r, runPath, runName), o.registryCommand("run", "--background")); ours {
			off := switchedOff(r)
			s.Autostart, s.SwitchedOff = s.Autostart || !off, s.SwitchedOff || off
			s.OlderAutostart = s.OlderAutostart || older && !off && r == registry.CURRENT_USER
		}
	}
	s.SwitchedOff = s.SwitchedOff && !s.Autostart
	now, was := linkCommand(o), linkCommand(o.older())
	s.Ours = strings.EqualFold(s.Scheme, now) || strings.EqualFold(s.Scheme, was)
	s.Older = was != now && strings.EqualFold(win32.RegistryText(registry.CURRENT_USER, classPath+open, ""), was)
	for _, v := range Values(o) {
		_, older := o.matchesCommand(win32.RegistryText(registry.CURRENT_USER, v.Path, v.Name), v.Data)
		s.Older = s.Older || older && s.Ours && v.Path != runPath // other programs keep their links
	}
	return s, nil
}

// switchedOff reports whether the start was disabled in Windows' own list of log-on
// programs, where an odd first byte means disabled.
func switchedOff(r registry.Key) bool {
	v := win32.RegistryBinary(r, approvedPath, runName)
	return len(v) > 0 && v[0]&1 == 1
}

// ForgetIn has nothing to remove: Register wrote to the user's part of the registry, to
// which only that user's session has access.
func ForgetIn(*os.Root) ([]string, error) { return nil, nil }

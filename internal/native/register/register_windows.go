package register

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/windows/registry"

	"wiebelt/internal/native/win32"
)

const (
	classPath = `Software\Classes\wiebelt`
	runPath   = `Software\Microsoft\Windows\CurrentVersion\Run`
	runName   = "Wiebelt"
)

func root(allUsers bool) registry.Key {
	if allUsers {
		return registry.LOCAL_MACHINE
	}
	return registry.CURRENT_USER
}

// command writes a command line of the registry. Paths hold no quotes, and %1 is
// what Windows puts the link for.
func command(argv ...string) string {
	var all []string
	for _, a := range argv {
		if strings.ContainsAny(a, " \t&()[]{}^=;!'+,`~%") || a == "" {
			if strings.HasSuffix(a, `\`) {
				a += `\` // or it would take the quote along
			}
			a = `"` + a + `"`
		}
		all = append(all, a)
	}
	return strings.Join(all, " ")
}

func linkCommand(o Options) string {
	return command(o.link("%1")...)
}

// Register writes into the registry. What is there already is replaced.
func Register(o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	for _, v := range []struct{ path, name, value string }{
		{classPath, "", "URL:Wiebelt"},
		{classPath, "URL Protocol", ""},
		{classPath + `\DefaultIcon`, "", command(o.Exe) + ",0"},
		{classPath + `\shell\open\command`, "", linkCommand(o)},
		{runPath, runName, command(append([]string{o.Exe}, o.arguments("run", "--background")...)...)},
	} {
		if o.Only == OnlyScheme && v.path == runPath || o.Only == OnlyAutostart && v.path != runPath {
			continue
		}
		k, _, err := registry.CreateKey(root(o.AllUsers), v.path, registry.SET_VALUE)
		if err != nil {
			return fmt.Errorf("register: %w", err)
		}
		if err := errors.Join(k.SetStringValue(v.name, v.value), k.Close()); err != nil {
			return fmt.Errorf("register: %w", err)
		}
	}
	return registerSetup(o)
}

// Unregister removes what Register wrote; what is not there is no error, and
// links that another program has been given since stay with it.
func Unregister(o Options) error {
	r := root(o.AllUsers)
	all := unregisterSetup(o)
	have := win32.Text(r, classPath+`\shell\open\command`, "")
	if have == "" || have == linkCommand(o) || have == linkCommand(o.older()) {
		for _, p := range []string{`\shell\open\command`, `\shell\open`, `\shell`, `\DefaultIcon`, ""} {
			if err := registry.DeleteKey(r, classPath+p); err != nil && !errors.Is(err, registry.ErrNotExist) {
				all = errors.Join(all, fmt.Errorf("register: %w", err))
			}
		}
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
		if v := win32.Text(r, classPath+`\shell\open\command`, ""); v != "" && s.Scheme == "" {
			s.Scheme = v
		}
		if win32.Text(r, runPath, runName) != "" {
			s.Autostart = true
		}
	}
	now := strings.EqualFold(s.Scheme, linkCommand(o))
	s.Older = !now && strings.EqualFold(s.Scheme, linkCommand(o.older()))
	s.Ours = now || s.Older
	return s, nil
}

// ForgetIn has nothing to remove: what Register wrote stands in the user's part of
// the registry, which that user's session has.
func ForgetIn(*os.Root) ([]string, error) { return nil, nil }

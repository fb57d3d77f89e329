package register

import (
	"errors"
	"fmt"

	"golang.org/x/sys/windows/registry"

	"wiebelt/internal/native/win32"
)

// Set-up files, which a double click shows in the settings window.
const (
	suffixPath = `Software\Classes\.wiebelt`
	setupClass = "Wiebelt.Setup"
	setupPath  = `Software\Classes\` + setupClass
)

func setupCommand(o Options) string {
	return command(append([]string{o.Exe}, o.arguments("open-file", "--", "%1")...)...)
}

// registerSetup has set-up files opened with the program.
func registerSetup(o Options) error {
	for _, v := range []struct{ path, value string }{
		{setupPath, "Wiebelt"},
		{setupPath + `\DefaultIcon`, command(o.Exe) + ",0"},
		{setupPath + `\shell\open\command`, setupCommand(o)},
		{suffixPath, setupClass},
	} {
		k, _, err := registry.CreateKey(root(o.AllUsers), v.path, registry.SET_VALUE)
		if err != nil {
			return fmt.Errorf("register: %w", err)
		}
		if err := errors.Join(k.SetStringValue("", v.value), k.Close()); err != nil {
			return fmt.Errorf("register: %w", err)
		}
	}
	return nil
}

// unregisterSetup takes that back; files that another program has been given
// since stay with it.
func unregisterSetup(o Options) error {
	r := root(o.AllUsers)
	paths := []string{setupPath + `\shell\open\command`, setupPath + `\shell\open`, setupPath + `\shell`, setupPath + `\DefaultIcon`, setupPath}
	if win32.Text(r, suffixPath, "") == setupClass {
		paths = append(paths, suffixPath)
	}
	var all error
	for _, p := range paths {
		if err := registry.DeleteKey(r, p); err != nil && !errors.Is(err, registry.ErrNotExist) {
			all = errors.Join(all, fmt.Errorf("register: %w", err))
		}
	}
	return all
}

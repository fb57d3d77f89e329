package dial

import (
	"cmp"
	"context"
	"errors"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"wiebelt/internal/native/win32"
)

// open opens an address through the shell, as Explorer would.
func open(ctx context.Context, address string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	verb, err := windows.UTF16PtrFromString("open")
	file, err2 := windows.UTF16PtrFromString(address)
	if err := cmp.Or(err, err2); err != nil {
		return err
	}
	if windows.ShellExecute(0, verb, file, nil, nil, windows.SW_SHOWNORMAL) != nil {
		return errors.New("the program to call with does not start")
	}
	return nil
}

// owner reads the user's choice first, like Windows, then the registered program.
func owner(_ context.Context, scheme string) string {
	choice := win32.RegistryText(registry.CURRENT_USER, `Software\Microsoft\Windows\Shell\Associations\UrlAssociations\`+scheme+`\UserChoice`, "ProgId")
	for _, class := range []string{choice, scheme} {
		if class == "" {
			continue
		}
		command := win32.RegistryText(registry.CLASSES_ROOT, class+`\shell\open\command`, "")
		// A program from the store has no command but an identity.
		if s := cmp.Or(command, win32.RegistryText(registry.CLASSES_ROOT, class+`\Application`, "AppUserModelID")); s != "" {
			return s
		}
	}
	return ""
}

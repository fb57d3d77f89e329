package dial

import (
	"cmp"
	"context"
	"errors"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// open has the shell open an address, as Explorer would.
func open(ctx context.Context, address string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	verb, err := windows.UTF16PtrFromString("open")
	if err != nil {
		return err
	}
	file, err := windows.UTF16PtrFromString(address)
	if err != nil {
		return err
	}
	if windows.ShellExecute(0, verb, file, nil, nil, windows.SW_SHOWNORMAL) != nil {
		return errors.New("the program to call with does not start")
	}
	return nil
}

// owner reads the user's choice first, as Windows does, then what is registered.
func owner(_ context.Context, scheme string) string {
	choice := value(registry.CURRENT_USER, `Software\Microsoft\Windows\Shell\Associations\UrlAssociations\`+scheme+`\UserChoice`, "ProgId")
	for _, class := range []string{choice, scheme} {
		if class == "" {
			continue
		}
		command := value(registry.CLASSES_ROOT, class+`\shell\open\command`, "")
		// A program of the store has no command but an identity.
		if s := cmp.Or(command, value(registry.CLASSES_ROOT, class+`\Application`, "AppUserModelID")); s != "" {
			return s
		}
	}
	return ""
}

func value(root registry.Key, path, name string) string {
	k, err := registry.OpenKey(root, path, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer k.Close()
	v, _, err := k.GetStringValue(name)
	if err != nil {
		return ""
	}
	return v
}

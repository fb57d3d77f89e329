package settings

import (
	"strings"

	"golang.org/x/sys/windows/registry"
)

// Limits on reading the registry: above all that a policy may hold.
const (
	maxDepth  = 3
	maxKeys   = maxList + 1 // the last one is reported
	maxValues = 10_000
)

func managedSettings() map[string]any {
	left := maxValues
	return readKey(registry.LOCAL_MACHINE, PolicyRegistryKey, maxDepth, &left)
}

func readKey(root registry.Key, path string, depth int, left *int) map[string]any {
	k, err := registry.OpenKey(root, path, registry.READ|registry.WOW64_64KEY)
	if err != nil {
		return nil
	}
	defer k.Close()
	found := map[string]any{}
	names, _ := k.ReadValueNames(*left) // unreadable ones are not set
	for _, name := range names {
		if *left--; *left < 0 {
			return found
		}
		_, kind, err := k.GetValue(name, nil)
		if err != nil {
			continue
		}
		switch kind {
		case registry.SZ, registry.EXPAND_SZ:
			if s, _, err := k.GetStringValue(name); err == nil {
				found[name] = s
			}
		case registry.DWORD, registry.QWORD:
			if n, _, err := k.GetIntegerValue(name); err == nil {
				found[name] = int64(n)
			}
		case registry.MULTI_SZ:
			if l, _, err := k.GetStringsValue(name); err == nil {
				list := []any{}
				for _, s := range l {
					if strings.TrimSpace(s) != "" { // an empty line in the editor
						list = append(list, s)
					}
				}
				found[name] = list
			}
		default:
			found[name] = []byte{} // an unsupported type: will be reported
		}
	}
	if depth > 1 {
		groups, _ := k.ReadSubKeyNames(maxKeys)
		for _, g := range groups {
			found[g] = readKey(k, g, depth-1, left)
		}
	}
	return found
}

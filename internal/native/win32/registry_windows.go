package win32

import "golang.org/x/sys/windows/registry"

// RegistryText returns a string from the registry, or "" if there is none. An
// empty name means the key's default value.
func RegistryText(root registry.Key, path, name string) string {
	v, _ := read(root, path, name, registry.Key.GetStringValue)
	return v
}

// RegistryNumber returns a number from the registry, or false if there is none.
func RegistryNumber(root registry.Key, path, name string) (uint64, bool) {
	return read(root, path, name, registry.Key.GetIntegerValue)
}

// RegistryBinary returns a binary value from the registry, or nil if there is none.
func RegistryBinary(root registry.Key, path, name string) []byte {
	v, _ := read(root, path, name, registry.Key.GetBinaryValue)
	return v
}

func read[T any](root registry.Key, path, name string, get func(registry.Key, string) (T, uint32, error)) (v T, ok bool) {
	k, err := registry.OpenKey(root, path, registry.QUERY_VALUE)
	if err != nil {
		return v, false
	}
	defer k.Close()
	v, _, err = get(k, name)
	return v, err == nil
}

//go:build !windows

package configure

// systemLocale has nothing to add to the environment.
func systemLocale() string { return "" }

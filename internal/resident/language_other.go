//go:build !windows

package resident

// systemLocale has nothing to add to the environment.
func systemLocale() string { return "" }

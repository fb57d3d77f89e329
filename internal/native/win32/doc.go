// Package win32 is the part of the Windows API shared by several packages: creating
// windows, handling their messages, and reading the registry.
package win32

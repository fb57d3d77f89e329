// Package win32 is what several packages ask of Windows: windows of their own
// with the messages that come to them, and what stands in the registry.
package win32

//go:build !(linux || freebsd || netbsd || openbsd || dragonfly || windows)

package doctor

import "context"

func systemName() string { return "" }

func windowManager(context.Context) string { return "" }

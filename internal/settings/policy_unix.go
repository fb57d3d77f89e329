//go:build unix && !darwin

package settings

func platformPolicy() string { return "/etc/wiebelt/" + PolicyFile }

func managed() map[string]any { return nil }

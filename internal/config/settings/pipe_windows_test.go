package settings

import "os"

// Pipes are not files here, and links need a right that users lack: a folder replaces both.
func pipe(path string) error        { return os.Mkdir(path, 0o700) }
func linkNowhere(path string) error { return os.Mkdir(path, 0o700) }

package assets

import "embed"

// Icons contains the icons of the app and the tray, as PNG in several sizes; on Windows,
// those of the tray also as ICO, which its taskbar needs. Every state has its own shape,
// with a white outline to be visible on dark and light panels.
//
//go:embed icons/*.png
var Icons embed.FS

package assets

import "embed"

// Icons holds the app's icon and the tray's, as PNG in several sizes; on Windows
// those of the tray as ICO too, which its taskbar needs. Every state has a shape of
// its own, and a white outline to be seen on dark panels and on light ones.
//
//go:embed icons/*.png
var Icons embed.FS

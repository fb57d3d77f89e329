package assets

import "embed"

// Icons contains the same icons as on Linux, and those of the tray as ICO.
//
//go:embed icons/*.png icons/tray-*.ico
var Icons embed.FS

package assets

import "embed"

// Icons are those of Linux, and the tray's as ICO.
//
//go:embed icons/*.png icons/tray-*.ico
var Icons embed.FS

package assets

import "embed"

// Icons holds the app's icon and the tray's, one shape a state, as PNG in
// several sizes and as ICO for Windows. They are drawn by internal/iconmaker.
//
//go:generate go run wiebelt/internal/iconmaker icons
//go:embed icons
var Icons embed.FS

package window

import "image"

// FullScreen reports whether a program fills the monitor that covers area: a
// film, a presentation, a game. Displays that cannot tell say false.
func FullScreen(d Display, area image.Rectangle) bool {
	f, ok := d.(interface {
		fullScreen(area image.Rectangle) bool
	})
	return ok && f.fullScreen(area)
}

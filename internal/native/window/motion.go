package window

// LessMotion reports whether the desktop asks for as little movement as can be.
// Displays that cannot tell say false.
func LessMotion(d Display) bool {
	m, ok := d.(interface{ LessMotion() bool })
	return ok && m.LessMotion()
}

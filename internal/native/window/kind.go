package window

// Kind is a kind of desktop, by how windows get onto it.
type Kind string

// The kinds. Under XWayland a compositor may say where its panels stand, or not.
const (
	Windows        Kind = "windows"
	X11            Kind = "x11"
	XWayland       Kind = "xwayland"
	XWaylandPanels Kind = "panels" // it does not say where they stand
	Layers         Kind = "layers" // Wayland without an X server, for cards only
)

// KindOf is the kind of desktop of a Display.
func KindOf(d Display) Kind {
	if k, ok := d.(interface{ Kind() Kind }); ok {
		return k.Kind()
	}
	return Windows
}

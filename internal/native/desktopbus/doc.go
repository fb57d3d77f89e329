// Package desktopbus connects to the desktop's message buses but never starts one: the
// library would run dbus-launch, which leaves behind a bus that nobody else uses.
package desktopbus

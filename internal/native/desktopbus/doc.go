// Package desktopbus connects to the desktop's message buses, and never starts one:
// the library would run dbus-launch, which leaves a bus that nobody else
// listens to.
package desktopbus

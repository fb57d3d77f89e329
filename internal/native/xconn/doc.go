// Package xconn connects to the X server. The library keeps its extensions in process-wide
// maps, which every connection's goroutine reads: writing to them while another connection is
// open crashes the program. Therefore all extensions in use are registered here with the first
// connection, and later ones find everything in place.
package xconn

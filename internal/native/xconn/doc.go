// Package xconn connects to the X server. The library keeps what it knows of
// extensions in maps of the whole process, which the goroutine of every
// connection reads: whoever writes to them while another connection is open
// ends the program. So all extensions that we use are made known here, with the
// first connection, and later ones find everything in place.
package xconn

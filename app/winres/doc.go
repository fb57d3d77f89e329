// Package winres has what Windows reads about our programs before they run: the manifest
// (sharp on every monitor, UTF-8, no administrator), icon and version. make winres turns it
// into each program's .syso file, which the Go linker includes by itself; these files are
// checked in so that a build needs no further tool. The package's test reads them.
package winres

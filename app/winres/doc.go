// Package winres holds what Windows wants to know of our programs before they
// run: the manifest (sharp on every monitor, UTF-8, no administrator), icon and
// version. make winres turns it into the .syso file of each program, which the Go
// linker takes in by itself; it is kept in the project so that a build needs no
// further tool. The package's test reads them.
package winres

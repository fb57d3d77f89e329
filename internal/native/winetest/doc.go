// Package winetest runs Windows programs in tests on Linux, under wine, on a
// screen of their own (xtest).
//
// Making a wine prefix takes a quarter of a minute, so a pristine one is kept
// below the user's cache folder, made once and locked while it is made. Every
// test gets a copy of its own: the large files are hard links, the registry is a
// real copy, so no test sees what another one did. The copy is removed, and its
// wine server ended, when the test ends.
package winetest

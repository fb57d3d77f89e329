// Package screenreader has a screen reader say that there is a call, and who it is,
// without taking the keyboard.
//
// On Linux it sends the "announcement" event of AT-SPI, over the
// accessibility bus that the desktop names (org.a11y.Bus), and only if somebody
// there has asked for such events: Orca does, from version 45 on. What it sends
// is what the card shows. What does not hold: a card cannot be explored with a
// screen reader, since its buttons are not told of one by one; the hotkey and the
// keys of the card work all the same. Tried with the registry of at-spi2-core
// 2.46, not with Orca itself.
//
// On Windows the title of the card does this (package window); elsewhere nobody.
package screenreader

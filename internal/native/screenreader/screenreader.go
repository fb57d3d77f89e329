// Package screenreader has screen readers say that there is a call, and who it is,
// and lets their users explore and press what stands on cards, without taking the
// keyboard.
//
// Whoever paints something makes a Tree of it; the Bridge is what the system's
// screen readers ask. On Linux it speaks AT-SPI on the accessibility bus that the
// desktop names (org.a11y.Bus). Orca says of itself what it takes for a
// notification, from the oldest version that is in use (Debian's 43) on, and keeps
// it in its list of them: so the text that tells what a card is about is one.
//
// On Windows the title of the card is what is said (package window); there a card
// cannot be explored.
package screenreader

// Package screenreader has screen readers say that there is a call, and who it is,
// and lets their users explore and press what stands on cards, without taking the
// keyboard. It has them read windows too: what stands there, where the keyboard is,
// what is typed, and what is wrong with it.
//
// Whoever paints something makes a Tree of it; the Bridge is what the system's
// screen readers ask. On Linux it speaks AT-SPI on the accessibility bus that the
// desktop names (org.a11y.Bus). Orca says of itself what it takes for a
// notification, from the oldest version that is in use (Debian's 43) on, and keeps
// it in its list of them: so the text that tells what a card is about is one, and
// what goes wrong in a window. It says no place in a list unless asked to, so that
// stands in the description as well. Where a window stands is asked when its tree is
// made: after it was moved, places are old until something in it changes.
//
// On Windows it is a provider of UI Automation. Each window that package window makes
// answers for one node of the tree (Attach, Answer); clients ask for the rest on threads
// of their own. NVDA passes over what programs in the background notify of, but reads out
// an alert of the system (UIA_SystemAlertEventId) of a window above all others, whatever
// it stands on: so the text that tells what a card is about is one. It is the only thing
// that says so, for NVDA would read a title that is told of, or a live region that
// changes, as well. Nothing was tried with a real reader yet.
package screenreader

// Package screenreader makes screen readers announce a call and its caller, and lets their
// users explore and press what is on cards without moving the keyboard focus. It also makes
// windows readable: their contents, the focus, what is typed, and what is wrong with it.
//
// Painting code builds a Tree, and the Bridge serves it to the system's screen readers. On
// Linux it implements AT-SPI on the accessibility bus named by the desktop (org.a11y.Bus).
// Orca announces notifications by itself, since the oldest version in use (Debian's 43), and
// keeps a list of them. Therefore the text that says what a card is about is a notification,
// and so are errors in windows. Orca does not say positions in lists unless asked to, so the
// description contains them too. Window positions are queried when the tree is built: after a
// move, coordinates are outdated until something in the window changes.
//
// On Windows it is a UI Automation provider. Each window created by package window
// answers for one node of the tree (Attach, HandleGetObject); clients query the others on their
// own threads. NVDA ignores notifications of background programs, but announces a
// system alert (UIA_SystemAlertEventId) of a topmost window, whatever object raises
// it. Therefore the text that says what a card is about is one. Nothing else announces
// it, because NVDA would also read a reported title, or a changing live region. This
// has not been tested with a real reader yet.
package screenreader

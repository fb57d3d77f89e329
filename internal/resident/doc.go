// Package resident assembles the resident part of Wiebelt: engine, cards, sources of calls,
// tray, history and the socket for other programs. It makes no decisions about calls; it
// connects the parts that do, starts them and stops them in order.
//
//	resident.go  start and end, and what watches hub, program and registrations
//	live.go      the current settings, and what happens when they change
//	sources.go   the listener and the links to phones
//	facts.go     what is known about the state of the whole
//	screen.go    how calls are shown, and who may see them now
//	menu.go      the state in tray and windows
//	windows.go   what windows and commands receive and request
//	lookups.go   lookups for a window
//	testcard.go  a card without a call
//	callersound.go  a tone for the caller
//	missed.go    calls kept by the relay that no computer of the user heard
//
// Parts with a goroutine or a file of their own are packages below this one. They know
// neither the resident nor each other: the resident passes them functions.
package resident

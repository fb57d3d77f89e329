// Package resident puts the resident part of Wiebelt together: engine, cards,
// sources of calls, tray, history and the socket for the programs around it. It
// decides nothing about calls; it connects those who do, starts them and ends them
// in order.
//
//	resident.go  start and end, and what watches hub, program and registrations
//	live.go      the settings that hold, and what happens when they change
//	sources.go   the listener and the links to phones
//	facts.go     what is known of the state of the whole
//	screen.go    what calls are shown with, and who may see them now
//	menu.go      the state in tray and windows
//	windows.go   what windows and commands are told and ask
//	lookups.go   look-ups for a window
//	testcard.go  a card without a call
//	callersound.go  a tone for who calls
//	missed.go    calls that the relay has kept, since no computer of the user heard them
//
// What has a goroutine or a file of its own is a package below this one. It knows
// neither the resident nor another of them: the resident hands it functions.
package resident

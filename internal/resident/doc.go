// Package resident puts the resident part of Wiebelt together: engine, cards,
// ways in, tray, history and the socket for the programs around it. It decides
// nothing about calls; it connects those who do, starts them and ends them in
// order.
//
// What has a goroutine or a file of its own is a room below this package. A room
// knows neither the resident nor another room: it has functions of the resident,
// which rooms.go and answers.go hand to it.
//
//	            of a call                          of the computer
//	heard           the way it came over, and   desks           the windows' process
//	                the wait for a test call    program         another version of our own
//	notices         shown in place of cards     watch           hub, secret, a usual day
//	corners         where cards were dragged
//	recorder        its entry in the history
//	audit           its record for administrators
//
//	            of a window
//	delivery        the outbox, and the files on their way into it
//	ask             what a window asks: nothing runs there by itself
//
// What stays here holds much of the whole in its hands: what holds now and how it
// changes (live.go), the ways in (listen.go), the state of all of it (status.go)
// and its words in the tray (menu.go), and what windows cannot do without it
// (lookups.go, desk_start.go): ask the hub, whose client is here, remember whom the
// user chose, and begin. internal/archtest keeps the arrows.
package resident

// Package xelion follows the calls of a Xelion exchange, as one of its users: it receives
// events about the channels of calls over a WebSocket, and requests lists of the current
// state. It uses the user's own name and password and never acts on a call. A relay, which
// reports all extensions, uses an administrator.
//
// How the exchange's data is interpreted:
//
//   - A session (POST me/login) belongs to a user space, named after this computer; if that
//     is taken (10005), a random name is used. Its token is renewed (POST me/renew) before
//     it expires, and replaced at once if the server answers 401, but not repeatedly: then
//     somebody else keeps ending ours. The connection of an expired session could stay open
//     without events, so a new one is opened. The server gives the end of a session without
//     a time zone; it is only used if it is sooner than the usual ten minutes.
//   - POST me/websocket, or GET, returns the address of the socket,
//     which contains a key and is therefore never logged. The list
//     is only requested every few seconds if there is no socket.
//   - activeChannelEvent is the current state of a channel, one device's part in a call.
//     "remove" removes it; anything else is a channel that exists. An end is held back
//     until a "test" message has come back: a change may arrive as a removal and an
//     insertion, and related events have then arrived too.
//   - version increases with each event. After a gap or a non-increasing version the list
//     is requested, ever more rarely while nothing new is found: whether the count covers
//     only our events is not documented.
//   - callId joins the channels of a call, in which CALLER called and CALLEE is called; a
//     channel moves to another call when it is passed on. phone is the extension, phoneUser
//     its user. An unknown state means that the call continues.
//   - A channel has a name and no number. The number is in the events about calls, which
//     only an administrator receives, and otherwise in the list of channels, which is
//     requested once for a call that needs it.
//   - Another party of the call that is connected when ours stops ringing has answered it;
//     one that was connected before ours rang has passed it on.
//   - An event about a call that matches no channel triggers a request of the list. It
//     is never a call by itself.
//
// Verification: based on the vendor's API pages (user guide, with the WebSocket's messages)
// and three programs that use it (flooris/laravel-xelion, Lorentz86/PSXelion and one that
// prints the events), and run against a test server that speaks the same protocol; not
// verified against a real Xelion. The words for states other than CONNECTED, and the fields
// of a transfer, were not found.
package xelion

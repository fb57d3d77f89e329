// Package xelion listens to a telephone exchange with Xelion, as one of its users: the
// events of its WebSocket about the channels of calls, and the lists that say what is
// there now. The user's own name and password are used, and nothing is ever done to a
// call. A relay, which hears of all extensions, has a user that is an administrator.
//
// What the exchange tells and how it is read:
//
//   - A session (POST me/login) belongs to a user space, which is ours on this
//     computer; where that is taken (10005), to one of a chance name. Its token is
//     renewed (POST me/renew) before it ends, and made anew at once where the server
//     says 401, but not again and again: then somebody else ends ours. The connection of
//     one that has ended could stay and tell of nothing: there is a new one. When a session
//     ends is told as a time without a zone, of which nothing is believed but that it is
//     sooner than the usual ten minutes.
//   - POST me/websocket, or GET, gives the address of the socket, which holds a key and is
//     therefore never said. Without a socket, and only then, the list is asked for
//     every few seconds.
//   - activeChannelEvent tells of a channel, one device's part in a call, as it is now.
//     "remove" takes it away; whatever else is a channel that is there. An end waits
//     until a message "test" has come back: a change may be told as a removal and an
//     insertion, and so has what belongs to it.
//   - version rises with each event. After a gap, or one that does not rise, the list
//     is asked for, more and more rarely while nothing new comes of it: whether the
//     count is of our events alone is not documented.
//   - callId joins the channels of a call, of which CALLER called and CALLEE is called;
//     a channel goes on in another call when it is passed on. phone is the extension,
//     phoneUser whose it is. A state that nobody knows is one of a call that goes on.
//   - A channel has a name and no number. That is in the events about calls, which only
//     an administrator gets, and else in the list of channels, which is asked once for a
//     call that needs it.
//   - Who else in the call is connected when ours stops ringing has answered it; who
//     was connected before ours rang has passed it on.
//   - An event about a call that fits no channel makes us look at the list. It is never
//     a call by itself.
//
// How far this was verified: read in the vendor's pages of its API (user guide, with the
// WebSocket's messages) and in three programs that use it (flooris/laravel-xelion,
// Lorentz86/PSXelion and one that prints the events), and run against a server of our
// own that speaks the same; not verified against a real Xelion. The words of states
// other than CONNECTED, and the fields of a transfer, were not found.
package xelion

// Package ari listens to a telephone exchange with Asterisk, through its REST
// interface: the events of all channels over a WebSocket, of which only those of
// one extension's phones are reported, or for a relay those of its users'. Nothing is ever done to
// a channel; a user of ARI with read_only = yes is enough and is what should be
// used, since the user name and password open the whole exchange.
//
// What the exchange tells and how it is read:
//
//   - A phone's channel is named technology/endpoint-number. The endpoint is what
//     stands before the last hyphen and must be the extension, to the letter:
//     "101-mobile" is another phone than "101".
//   - A channel that is Ringing is being called, with the caller in "connected".
//     One that is Ring is calling, the number in "dialplan" at first and in
//     "connected" later. Up is answered; first heard of when Up, its direction is
//     not known.
//   - ChannelConnectedLine with another number on a call that we know is the call
//     passed on: the same call, another caller. If it was a colleague whom we had
//     until then, the colleague is who passed it on; otherwise that is
//     caller_rdnis, where there is one.
//   - "connected" holds a withheld number too. Before a number is reported, the
//     channel is asked for CONNECTEDLINE(num-pres); "prohib…" is reported as
//     anonymous, and a caller of a ChannelCallerId with "Prohibited" likewise.
//   - An extension with several phones rings on as many channels. Two with the
//     same caller are asked for CHANNEL(linkedid): the same one is one call.
//   - Names of channels and channels themselves part ways when Asterisk moves
//     calls about (masquerade): a known channel that is not ours any more is over.
//   - A newer connection with the same application name takes ours over; we are
//     told so (ApplicationReplaced) and stand back.
//
// Asterisk 22.5 and newer can also come by itself, to a relay (Inbound). It is asked for
// channels and variables on that connection (RESTRequest), by the rights of its
// local_ari_user. What is other there:
//
//   - What happened while there was no connection is kept and comes first, hours later
//     perhaps. The channels that are there now tell what has become of it: events of more
//     than a second before that answer, by the exchange's own clock, are left out.
//   - ApplicationReplaced comes also when its settings were read again, and whoever has
//     the application then cannot be told from it. Until an event comes, the channels
//     are looked at; one that no event tells of, twice, says that another program has
//     the application, or that subscribe_all is not set. That is said, and calls are
//     known from looking until events come.
//
// The user name and password go in the Authorization header, for the upgrade too:
// Asterisk looks there first and at api_key in the address only after.
//
// How far this was verified: read in Asterisk's source (master of August 2026:
// res/res_ari.c authenticate_user, res/ari/ari_websockets.c, res/ari/
// resource_channels.c, res/stasis/app.c, main/stasis_channels.c,
// rest-api/api-docs) and run against a server of our own that speaks the same;
// not verified against a real Asterisk. The way by which it comes
// by itself was read in res/ari/ari_websockets.c and ari_websocket_requests.c (2026).
package ari

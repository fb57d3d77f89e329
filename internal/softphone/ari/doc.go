// Package ari follows the calls of an Asterisk exchange through its REST interface. It
// receives the events of all channels over a WebSocket and reports only those of one
// extension's phones or, for a relay, those of its users'. It never acts on a channel:
// an ARI user with read_only = yes suffices and should be used, since the user name and
// password open the whole exchange.
//
// How the exchange's data is interpreted:
//
//   - A phone's channel is named technology/endpoint-number. The endpoint is the part
//     before the last hyphen and must equal the extension exactly: "101-mobile" is
//     another phone than "101".
//   - A channel in state Ringing is being called, with the caller in "connected". One in
//     state Ring is calling, with the number in "dialplan" at first and in "connected"
//     later. Up is answered; if first seen when Up, its direction is unknown.
//   - ChannelConnectedLine with another number on a known call means that the call was
//     passed on: same call, other caller. If the party so far was a colleague, they passed
//     it on; otherwise caller_rdnis did, if present.
//   - "connected" holds withheld numbers too. Before reporting a number, the session
//     queries the channel's CONNECTEDLINE(num-pres); "prohib…" is reported as anonymous, as
//     is a caller of a ChannelCallerId with "Prohibited".
//   - An extension with several phones rings on as many channels. Two with the same caller
//     are queried for CHANNEL(linkedid): if it is equal, they are one call.
//   - A channel can change its name when Asterisk swaps channels (masquerade): a known
//     channel that is no longer ours has ended.
//   - A newer connection with the same application name replaces ours; ApplicationReplaced
//     reports that, and the session ends.
//
// Asterisk 22.5 and newer can also connect to a relay itself (Inbound). Requests for
// channels and variables then go over that connection (RESTRequest), with the rights of its
// local_ari_user. Differences:
//
//   - Events from the time without a connection are queued and come first, possibly hours
//     late. The current channels show their outcome: events dated more than a second before
//     that answer, by the exchange's clock, are skipped.
//   - ApplicationReplaced is also sent when the settings were reloaded, and does not
//     show who has the application then. Until an event arrives, the channels are polled;
//     one without an event in two polls means that another program has the application
//     or that subscribe_all is not set. That is reported, and calls are taken from
//     polling until events arrive.
//
// The user name and password are sent in the Authorization header, for the upgrade too:
// Asterisk checks it before api_key in the address.
//
// Verification: based on Asterisk's source (master of August 2026: res/res_ari.c
// authenticate_user, res/ari/ari_websockets.c, res/ari/resource_channels.c,
// res/stasis/app.c, main/stasis_channels.c, rest-api/api-docs; for inbound connections
// res/ari/ari_websockets.c and ari_websocket_requests.c) and run against a test server that
// speaks the same protocol; not verified against a real Asterisk.
package ari

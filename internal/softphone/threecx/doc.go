// Package threecx listens to a telephone exchange with 3CX of version 20, through
// its Call Control API: the events over a WebSocket say only that something has
// changed, and what it is now is asked for. Nothing is ever done
// to a call. It needs an Enterprise licence and an API client that is bound to the
// extension; that client's secret opens whatever the client may see, so it should
// have a client of its own, with this extension alone and call control only. A relay,
// which hears of all extensions, asks /callcontrol for what its client may see.
//
// What the exchange tells and how it is read:
//
//   - The token (POST /connect/token, client_credentials) lives as long as
//     expires_in says, is renewed after two thirds of that, and anew at once where
//     the server says 401. It goes in the Authorization header, for the upgrade
//     too.
//   - An event names an entity. Of those only /callcontrol/<extension>/
//     participants/<number> is ours; the address that is asked is put together
//     here, and never what the event says. Type 0 is a change: it is asked for,
//     404 means that it is gone already. Type 1 is the end.
//   - sequence counts the events. After a gap the whole extension is asked for
//     again, not more often than every second, and more and more rarely while
//     nothing new comes of it: whether the count is of our events alone is not
//     documented.
//   - A participant is one device's part; callid joins those of one call. A number
//     of a participant is used again: after a new connection, another callid
//     under a known number is another call.
//   - Ringing is being called, Dialing is calling, Connected is answered. Another
//     party_caller_id on a known participant is the call passed on, by
//     referred_by_dn, or on_behalf_of_dn, where the exchange tells.
//
// How far this was verified: read in the vendor's own sample (3cx/
// call-control-examples, May 2026) and its page of the API's addresses, and run
// against a server of our own that speaks the same; not verified against a real
// 3CX. How it tells of a withheld number is not documented; an empty one and
// "anonymous" are.
package threecx

// Package threecx follows the calls of a 3CX exchange, version 20, through its Call Control
// API: events over a WebSocket only say that something has changed, and the new state is
// requested. It never acts on a call. It needs an Enterprise licence and an API client
// bound to the extension; the client's secret gives access to whatever the client may see,
// so it should be a dedicated one with only this extension and only call control. A relay,
// which reports all extensions, requests /callcontrol for everything its client may see.
//
// How the exchange's data is interpreted:
//
//   - The token (POST /connect/token, client_credentials) lives for expires_in, which is in
//     minutes, is renewed after two thirds of that, and replaced at once if the server
//     answers 401. It is sent in the Authorization header, for the upgrade too.
//   - An event names an entity. Only /callcontrol/<extension>/participants/<number>
//     is used; the requested address is built here and never taken from the event.
//     Type 0 is a change: the state is requested, and 404 means that it is already
//     gone. Type 1 is the end.
//   - sequence counts the events. After a gap the whole extension is requested again, at
//     most every second, and ever more rarely while nothing new is found: whether the count
//     covers only our events is not documented.
//   - A participant is one device's part; callid joins those of one call.
//     Participant numbers are reused: after a reconnect, another callid under a known
//     number is another call.
//   - Ringing is being called, Dialing is calling, Connected is answered. Another
//     party_caller_id on a known participant means that the call was passed on, by
//     referred_by_dn or on_behalf_of_dn, if the exchange sends one.
//
// Verification: based on the vendor's own sample (3cx/call-control-examples, May 2026)
// and its page of the API's addresses, and run against a test server that speaks the
// same protocol; not verified against a real 3CX. How it reports a withheld number is not
// documented; an empty number and "anonymous" are treated as withheld.
package threecx

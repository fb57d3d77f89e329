// Package yeastar listens to a telephone exchange of Yeastar's P series, through the
// WebSocket of its API: the events of all calls, of which those of one extension are
// reported, or for a relay those of its users'. Nothing is ever done to a call. What an
// event says is read by package webhook, to which the exchange can send the same.
//
// What the exchange tells and how it is read:
//
//   - A token (POST get_token, with client id and secret) lives for as long as
//     access_token_expire_time says, half an hour as a rule, and is changed for another
//     after two thirds of that (refresh_token); where that is refused, there is a new one.
//     An application has eight at most, so one is used again after a connection has
//     ended, and given back (del_token) when the link ends.
//   - Five logins that were refused have the exchange shut this computer's address out.
//     After three, the same secret is tried every half an hour only.
//   - The token stands in the address, as the exchange wants it: no error has an address.
//   - A refusal comes with status 200 and an errcode that is not 0. What the codes mean
//     was not found: a token that was made just now and is refused is one that may not;
//     any other may be too old.
//   - The connection is subscribed to calls, their ends and transfers (topic_list), which
//     is answered, and is kept by "heartbeat", since a minute without a word ends it.
//   - call/query gives the calls that are on, as an event tells of them. It is asked for
//     once events come, so that nothing falls in between. Where it is refused, what was
//     known before stays.
//   - One call has one id at all extensions.
//
// How far this was verified: read in the vendor's developer guide (get_token,
// refresh_token, del_token, "Monitor Events via WebSocket") and, for call/query, in three
// programs of others that use it, and run against a server of our own that speaks the
// same; not verified against a real Yeastar.
package yeastar

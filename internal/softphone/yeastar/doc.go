// Package yeastar follows the calls of a Yeastar P-series exchange through its API's
// WebSocket. It receives the events of all calls and reports those of one extension or, for
// a relay, those of its users'. It never acts on a call. The events are parsed by package
// webhook, to which the exchange can send the same ones.
//
// How the exchange's data is interpreted:
//
//   - A token (POST get_token, with client ID and secret) lives for
//     access_token_expire_time, usually half an hour, and is exchanged after two thirds
//     of that (refresh_token); if that is refused, a new one is requested. An application
//     has eight at most, so one is reused after a connection has ended, and returned
//     (del_token) when the link ends.
//   - After five refused logins the exchange blocks this computer's address. After three,
//     the same secret is only tried every half hour.
//   - The exchange requires the token in the address: errors never contain an address.
//   - A refusal has status 200 and an errcode other than 0. Which one a wrong secret has is not
//     documented: any counts as that, unless it means too many tokens, a fault or another
//     version. A refused token that is fresh lacks the rights; any other may be too old.
//   - The connection is subscribed to calls, their ends and transfers (topic_list), which
//     is answered, and is kept alive by "heartbeat", since a minute of silence ends it.
//   - call/query returns the current calls, in the form of events. It is requested
//     once events arrive, so that nothing is missed in between. If it is refused,
//     the previous state stays.
//   - One call has one ID at all extensions.
//
// Verification: based on the vendor's developer guide (get_token, refresh_token, del_token,
// "Monitor Events via WebSocket") and, for call/query, three programs of others that
// use it, and run against a test server that speaks the same protocol; not verified
// against a real Yeastar.
package yeastar

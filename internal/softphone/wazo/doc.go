// Package wazo follows the calls of an exchange with the Wazo Platform, as one of its
// users: it receives wazo-websocketd's call events and requests wazo-calld's list of
// current calls. It uses the user's own name and password and never acts on a call.
//
// How the exchange's data is interpreted:
//
//   - A token (POST /api/auth/0.1/token) is requested when there is no valid one, is
//     renewed after two thirds of its life and handed over on the open connection (op
//     token). Its life is the difference of two of the server's times, independent of this
//     computer's clock. It is sent in the header X-Auth-Token, never in an address.
//   - An administrator's token receives the events of the whole tenant. Only those with
//     the user's own user_uuid are reported, and if the user may read their own lines
//     (wazo-confd), only those on lines with the extension.
//   - A call is one device's part (a channel); several devices ring with several call_id
//     and one conversation_id, and are one call here.
//   - status Ringing is being called, Ring is calling, Up is answered. direction is the
//     conversation's, may be unknown, and an older Wazo has none: it only counts for a call
//     that is first heard of when it is answered.
//   - call_created arrives before the caller is known, with status Down: nothing
//     is reported for it.
//   - The server fills an empty peer_caller_id_number with dialed_extension, so a withheld
//     caller looks like our own number: such a number is ignored, except in a conversation
//     that is outbound, where the other party's was dialled.
//   - call_ended has caller and peer reversed: only its id and reason_code are used. It may
//     overtake a call_updated of the same call, which must not bring the call back.
//   - call_updated with another peer means that the call was passed on. If the party so far
//     was a colleague, they passed it on.
//   - Close codes: 4001 to 4003 require another token, 4002 with a new one is a refusal,
//     4004 and 1011 are retried.
//
// The socket is /api/websocketd/ behind the exchange's web server; an older Wazo
// without that has it at port 9502 itself, which is tried if the first answers 404.
// Liveness is checked by WebSocket pings; the protocol's own ping closes the connection
// of a Wazo before 20.08.
//
// Verification: based on the source of wazo-websocketd (August 2026), wazo-calld (August
// 2026), wazo-auth (May 2026) and wazo-confd, and run against a test server that speaks
// the same protocol; not verified against a real Wazo. Whether Wazo hides a withheld number
// from its users was not found in the sources; what it sends is reported.
package wazo

// Package wazo listens to a telephone exchange with the Wazo Platform, as one of
// its users: the events of wazo-websocketd about calls, and the list of
// wazo-calld of the calls that are on. The user's own name and
// password are used; nothing is ever done to a call.
//
// What the exchange tells and how it is read:
//
//   - A token (POST /api/auth/0.1/token) is asked for when there is none that
//     lives, is renewed after two thirds of its life and handed over on the open
//     connection (op token). Its life is the difference of two times of the
//     server; this computer's clock is not asked. It goes in the header
//     X-Auth-Token, never in an address.
//   - An administrator's token gets the events of the whole tenant. What is
//     reported is by user_uuid the user's own, whatever comes; and where the user
//     may read its own lines (wazo-confd), only what is on those with the
//     extension.
//   - A call is one of our devices' part (a channel); several devices ring with
//     several call_id and one conversation_id, and are one call here.
//   - status Ringing is being called, Ring is calling, Up is answered. direction
//     is the conversation's and may become known later; a call that rings while it
//     is unknown is reported when it is known.
//   - call_created comes before the caller is known, with status Down: nothing is
//     reported for it.
//   - An empty peer_caller_id_number is filled with dialed_extension by the
//     server, so that a withheld caller looks like our own number: such a number
//     is none.
//   - call_ended has caller and peer the other way round: nothing but its id and
//     reason_code is used. It may overtake a call_updated of the same call, which
//     must not bring the call back.
//   - call_updated with another peer is the call passed on. If it was a colleague
//     whom we had until then, the colleague is who passed it on.
//   - Close codes: 4001 to 4003 want another token, 4002 with a new one is a
//     refusal, 4004 and 1011 are tried again.
//
// The socket is /api/websocketd/ behind the exchange's web server; an older Wazo
// without that has it at port 9502 itself, which is tried when the first answers
// 404. That the other end lives is asked by pings of the WebSocket; the protocol's
// own ping closes the connection of a Wazo before 20.08.
//
// How far this was verified: read in the source of wazo-websocketd (August 2026),
// wazo-calld (August 2026), wazo-auth (May 2026) and wazo-confd, and run against a
// server of our own that speaks the same; not verified against a real Wazo.
// Whether Wazo keeps a withheld number from its users was not found in the
// sources; what it sends is reported.
package wazo

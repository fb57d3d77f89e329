// Package broadworks listens to a BroadWorks of a provider by its Xtended Services
// Interface: the events of the package Advanced Call on a channel, and the calls that
// are on. With a user's name and password it follows that user, or all of his group if
// he may; nothing is ever done to a call.
//
// What the exchange tells and how it is read:
//
//   - A channel is the answer to one request, which goes on: XML documents one after
//     another, each with its declaration. Every event on it is acknowledged, and every
//     15 s a heartbeat is asked for, or the exchange ends it. These requests have to
//     reach the very server that the channel is at: they go to its address, with its
//     cookies.
//   - A channel belongs to a set, of which each session has its own. The exchange ends
//     the channels of another set of the same application: somebody took our place,
//     or, of our own that broke, nobody is left there.
//   - Subscriptions and the channel are renewed after half of what they live. Whatever
//     ends before that, is made anew with everything else.
//   - A subscription is for a user, or for a group or enterprise, which is its
//     administrator's to follow. Where a user may not follow his group, each user of
//     its directory is asked for.
//   - An event names the user; his extension is in the directory or his profile.
//   - Each user has a half of a call, callId, whichever of his telephones ring. Halves
//     of one call share extTrackingId, which a transfer changes: it says that somebody
//     else of ours has answered.
//   - personality is who called, state how far it is. remoteParty is who is on the line,
//     by a tel or sip URI; privacy in it means that the number is withheld. A new one on
//     a known half is the call passed on. redirections, the latest first, and
//     recallFromParty tell by whom, and the groups and queues that it came through, as
//     acdCallInfo and huntGroupUserId do.
//   - redirect is the user's own doing: he has passed the call on, and it is over for
//     him, unless it rings on another telephone of his.
//   - sequenceNumber counts a subscription's events. Those of one user come in order, of
//     different users not; of what does not come at all in half a second the calls are
//     asked for. Events with all calls of a user (CallSubscription) are believed.
//
// Events come as XML only; what can be had as JSON too is asked for as XML.
//
// How far this was verified: read in the interface's specification (release 23, 2020)
// and its schema, and run against a server of our own that speaks the same; not verified
// against a provider's BroadWorks. Which cause a half ends with that nobody answered is
// not in the specification.
package broadworks

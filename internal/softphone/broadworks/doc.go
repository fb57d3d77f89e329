// Package broadworks follows the calls of a provider's BroadWorks through its Xtended
// Services Interface: the events of the package Advanced Call on a channel, and the current
// calls. With a user's name and password it follows that user, or their whole group if
// allowed; it never acts on a call.
//
// How the exchange's data is interpreted:
//
//   - A channel is the unending answer to one request: XML documents one after another,
//     each with its declaration. The exchange ends it unless every event is acknowledged
//     and a heartbeat is sent every 15 s. These requests must reach the very server that
//     holds the channel: they go to its address, with its cookies.
//   - A channel belongs to a set, and each session has its own set. The exchange ends
//     the channels of other sets of the same application: if that ends ours, somebody
//     has replaced us; an earlier channel of ours that broke has no reader left.
//   - Subscriptions and the channel are renewed after half of their lifetime. If one ends
//     earlier, everything is set up again.
//   - A subscription is for a user, or for a group or enterprise, which only its
//     administrator may follow. If a user may not follow their group, each user in its
//     directory is requested.
//   - An event names the user; their extension is in the directory or their profile.
//   - Each user has one half of a call, callId, whichever of their phones ring. Halves
//     of one call share extTrackingId, which a transfer changes: it shows that another
//     of our users has answered.
//   - personality says who called, state how far the call is. remoteParty is the other
//     party, as a tel or sip URI; privacy in it means that the number is withheld. A new
//     one on a known half means that the call was passed on. redirections, the latest
//     first, and recallFromParty say by whom, and which groups and queues it came through,
//     as do acdCallInfo and huntGroupUserId.
//   - redirect is an action of the user: they have passed the call on, and it is over for
//     them unless it rings on another of their phones.
//   - sequenceNumber counts a subscription's events. Those of one user arrive in order,
//     those of different users may not; if one is missing for half a second, the calls are
//     requested. Events with all calls of a user (CallSubscription) are authoritative.
//
// Events come as XML only; what is available as JSON too is requested as XML.
//
// Verification: based on the interface's specification (release 23, 2020) and its
// schema, and run against a test server that speaks the same protocol; not verified
// against a provider's BroadWorks. The specification does not say with which cause
// an unanswered half ends.
package broadworks

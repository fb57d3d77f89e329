package node

import (
	"time"
	_ "unsafe" // for go:linkname
)

// How fast the servers of a cluster notice that their leader is gone, and elect another.
// The NATS server has no options for this, and its defaults, up to nine seconds,
// are too long for a ringing phone. Our servers are close to each other and exchange
// heartbeats five times a second.

//go:linkname minElectionTimeout github.com/nats-io/nats-server/v2/server.minElectionTimeout
var minElectionTimeout time.Duration

//go:linkname maxElectionTimeout github.com/nats-io/nats-server/v2/server.maxElectionTimeout
var maxElectionTimeout time.Duration

//go:linkname hbInterval github.com/nats-io/nats-server/v2/server.hbInterval
var hbInterval time.Duration

//go:linkname lostQuorumInterval github.com/nats-io/nats-server/v2/server.lostQuorumInterval
var lostQuorumInterval time.Duration

//go:linkname lostQuorumCheck github.com/nats-io/nats-server/v2/server.lostQuorumCheck
var lostQuorumCheck time.Duration

func init() {
	hbInterval = 200 * time.Millisecond
	minElectionTimeout, maxElectionTimeout = 600*time.Millisecond, 1500*time.Millisecond
	lostQuorumInterval, lostQuorumCheck = 10*hbInterval, 10*hbInterval
}

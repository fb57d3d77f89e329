package node

import (
	"time"
	_ "unsafe" // for go:linkname
)

// How soon servers of a cluster find out that the one that led them is gone, and
// choose another. The NATS server has no options for it, and its own values, up to
// nine seconds, are too long for a telephone that rings. Its servers here are
// neighbours; they hear of each other five times a second.

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

package winetest

// Stuck is what winclient prints when wine hangs (Explore), and Attempts how often a test
// may be retried for that.
const (
	Stuck    = "stuck"
	Attempts = 5
)

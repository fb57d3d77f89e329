package winetest

// Stuck is what winclient prints when wine hangs (Explore). Attempts is how
// often a test may be retried for that reason.
const (
	Stuck    = "stuck"
	Attempts = 5
)

package winetest

// Stuck is what winclient says when wine waits for ever (Explore), and Attempts how often
// a test may begin again for that.
const (
	Stuck    = "stuck"
	Attempts = 5
)

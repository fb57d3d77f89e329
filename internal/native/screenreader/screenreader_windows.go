package screenreader

import "context"

// Announcer says nothing on this system.
type Announcer struct{}

// New makes one.
func New() *Announcer { return &Announcer{} }

// Say does nothing.
func (*Announcer) Say(string) {}

// Run waits for the end of ctx.
func (*Announcer) Run(ctx context.Context) { <-ctx.Done() }

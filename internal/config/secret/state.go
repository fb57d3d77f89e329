package secret

import (
	"context"
	"errors"
)

// State is how a secret is kept. The values are stable; the texts are
// text.SecretState.
type State string

// The states. Failed is whatever is none of the others.
const (
	IsSet      State = "set"
	IsWaiting  State = "waiting" // set, and a new one waits until it has worked
	NotSet     State = "not_set"
	Absent     State = "no_store"
	Locked     State = "locked"
	Unanswered State = "unanswered" // locked, and its question for a password too
	Full       State = "full"
	NoSession  State = "no_session"
	NotAdmin   State = "not_admin"
	NoGroup    State = "no_group"
	NoRight    State = "no_right"
	Exposed    State = "exposed"
	Damaged    State = "damaged"
	Empty      State = "empty" // what was given is no secret, for these three reasons
	Encoding   State = "encoding"
	Lines      State = "lines"
	Failed     State = "failed"
)

// StateOf tells what an error of a Store or of ReadSecret says; nil is IsSet.
func StateOf(err error) State {
	if err == nil {
		return IsSet
	}
	for _, s := range []struct {
		err   error
		state State
	}{{ErrNotSet, NotSet}, {ErrNoStore, Absent}, {ErrUnanswered, Unanswered}, {ErrLocked, Locked}, {ErrFull, Full}, {ErrNoSession, NoSession}, {ErrNotAdmin, NotAdmin},
		{ErrNoGroup, NoGroup}, {ErrNoRight, NoRight}, {ErrExposed, Exposed}, {ErrDamaged, Damaged}, {ErrEmpty, Empty}, {ErrEncoding, Encoding}, {ErrLines, Lines}} {
		if errors.Is(err, s.err) {
			return s.state
		}
	}
	return Failed
}

// Inspect tells how the secret of ref is kept, without giving it out.
func Inspect(ctx context.Context, s Store, ref Ref) State {
	_, err := s.Get(ctx, ref)
	if r, ok := s.(*rotating); ok && err == nil && ref.rotates() {
		if _, err := r.Store.Get(ctx, ref.next()); err == nil {
			return IsWaiting
		}
	}
	return StateOf(err)
}

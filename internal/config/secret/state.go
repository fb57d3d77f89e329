package secret

import (
	"context"
	"errors"
)

// State is the state of a secret. The values are stable; the texts are text.SecretState.
type State string

// The states. Failed is anything not covered by the others.
const (
	IsSet       State = "set"
	IsWaiting   State = "waiting" // set, and a new one is kept until it has worked
	NotSet      State = "not_set"
	NoStore     State = "no_store"
	Locked      State = "locked"
	Unanswered  State = "unanswered" // locked, and its password prompt is unanswered
	TooLong     State = "full"
	NoSession   State = "no_session"
	NotAdmin    State = "not_admin"
	NoGroup     State = "no_group"
	NoRight     State = "no_right"
	Exposed     State = "exposed"
	Damaged     State = "damaged"
	Empty       State = "empty" // this and the next two: the input is not a valid secret
	BadEncoding State = "encoding"
	Multiline   State = "lines"
	Failed      State = "failed"
)

// StateOf returns the State for an error of a Store or of ReadSecret; nil is IsSet.
func StateOf(err error) State {
	if err == nil {
		return IsSet
	}
	for _, s := range []struct {
		err   error
		state State
	}{{ErrNotSet, NotSet}, {ErrNoStore, NoStore}, {ErrUnanswered, Unanswered}, {ErrLocked, Locked}, {ErrTooLong, TooLong}, {ErrNoSession, NoSession}, {ErrNotAdmin, NotAdmin},
		{ErrNoGroup, NoGroup}, {ErrNoRight, NoRight}, {ErrExposed, Exposed}, {ErrDamaged, Damaged}, {ErrEmpty, Empty}, {ErrEncoding, BadEncoding}, {ErrMultiline, Multiline}} {
		if errors.Is(err, s.err) {
			return s.state
		}
	}
	return Failed
}

// Inspect returns the state of ref's secret, without the secret itself.
func Inspect(ctx context.Context, s Store, ref Ref) State {
	_, err := s.Get(ctx, ref)
	if r, ok := s.(*rotatingStore); ok && err == nil && ref.rotates() {
		if _, err := r.Store.Get(ctx, ref.next()); err == nil {
			return IsWaiting
		}
	}
	return StateOf(err)
}

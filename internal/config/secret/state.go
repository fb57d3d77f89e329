package secret

import (
	"context"
	"errors"
	"strings"

	"wiebelt/internal/text"
)

// State is the state of a secret. The values are stable.
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

// In describes the state in a language; of the computer's secret it also says who may read it.
func (s State) In(l text.Language) string {
	if group := MachineReaders(); s == NoRight && group != "" {
		return l.T(text.SecretNoRightGroup, group)
	}
	return l.T(text.SecretState(string(s)))
}

// Explain gives an error of a Store or of ReadSecret its text for users.
func Explain(err error) error { return explained{err} }

type explained struct{ error }

func (e explained) Unwrap() error { return e.error }

// In returns the text in a language, with the cause if the state tells too little.
func (e explained) In(l text.Language) string {
	state := StateOf(e.error)
	if state == Failed || errors.Is(e.error, context.DeadlineExceeded) {
		return strings.TrimSuffix(state.In(l), ".") + ": " + l.Error(e.error)
	}
	return state.In(l)
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

// Package relaylink stands in for the link to a relay in a program that has none.
package relaylink

import (
	"context"
	"errors"

	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
)

var errNone = errors.New("this program has no link to a relay")

// MissedSaver would save calls that rang while Wiebelt was not there.
type MissedSaver func(context.Context, []wire.MissedCall) error

// New makes nothing.
func New(exchangelink.Account) (link.Phone, error) { return nil, errNone }

// Join joins nothing.
func Join(context.Context, string, string, string) (string, error) { return "", errNone }

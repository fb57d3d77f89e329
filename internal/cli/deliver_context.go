package cli

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/text"
)

// deliverContext is where a deliver command finds its outbox.
type deliverContext struct {
	dirs profile.Dirs
	s    *settings.Settings
	lang text.Language
}

func (e *env) prepareDeliver() (deliverContext, error) {
	d, err := e.dirs()
	if err != nil {
		return deliverContext{}, err
	}
	if err := d.Make(); err != nil {
		return deliverContext{}, err
	}
	s := e.load(d)
	return deliverContext{d, s, e.lang()}, nil
}

func (p deliverContext) dir() string { return fromsettings.OutboxFolder(p.dirs) }

func (p deliverContext) options() outbox.Options {
	return outbox.Options{Dir: p.dir(), Policy: fromsettings.DeliveryPolicy(p.s), Tick: 250 * time.Millisecond}
}

// open opens the outbox, and reports what happened to a damaged one.
func (p deliverContext) open(e *env, o outbox.Options) (*outbox.Outbox, error) {
	b, err := outbox.Open(e.ctx, o)
	if err != nil {
		return nil, p.troubleError(err)
	}
	if b.AsidePath() != "" {
		fmt.Fprintln(e.err, "wiebelt:", p.lang.T(text.DeliveryAside))
	}
	return b, nil
}

// troubleError translates an outbox.Trouble for users.
func (p deliverContext) troubleError(err error) error {
	if t, ok := errors.AsType[*outbox.Trouble](err); ok {
		return &failure{exitFailed, errors.New(p.lang.DeliveryTrouble(t.Kind))}
	}
	return err
}

func (p deliverContext) holdText(why outbox.Reason) string {
	return p.lang.T(text.DeliveryHold, p.lang.T(text.DeliveryReason(string(why))), p.lang.Support(p.s.Support.Contact))
}

// reasonText explains an item's state in a few words.
func (p deliverContext) reasonText(reason string, status int) string {
	s := ""
	if reason != "" {
		s = p.lang.T(text.DeliveryReason(reason))
	}
	if status != 0 {
		if s != "" {
			s += ", "
		}
		s += p.lang.T(text.DeliveryStatusCode, status)
		if status == http.StatusNotFound {
			s += p.lang.T(text.DeliveryNotFound)
		}
	}
	return s
}
